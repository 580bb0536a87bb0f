/* SPDX-License-Identifier: MIT */
/*
 * berth's descriptor tables, by their public interface.  Linked with one of the
 * designs in lineage/ instead of the library, it is the adapter of that design.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>

#include <berth/files.h>

#include "adapter.h"

#ifndef ADAPTER_NAME
#define ADAPTER_NAME "berth"
#endif
#ifndef ADAPTER_RESERVES
#define ADAPTER_RESERVES false
#endif

/* ---- What a table of berth holds ---- */

/* On lines of its own: neighbours have nothing to do with each other. */
struct wrapping {
	alignas(64) struct berth_file file;
	struct object *object;
};

static struct wrapping *wrapping_of(struct berth_file *file)
{
	return (struct wrapping *)(void *)file;
}

static void wrapping_release(struct berth_file *file)
{
	object_released(wrapping_of(file)->object);
}

static void wrapping_free(struct berth_file *file)
{
	free(wrapping_of(file));
}

static const struct berth_file_operations wrapping_ops = {
	.release = wrapping_release,
	.free = wrapping_free,
};

static struct object *object_of(struct berth_file *file)
{
	return file ? wrapping_of(file)->object : NULL;
}

/* ---- Tables ---- */

static void *table_create(unsigned int limit)
{
	struct berth_files *files;

	if (berth_files_create(&files))
		return NULL;
	if (berth_files_set_limit(files, limit)) {
		berth_files_put_table(files);
		return NULL;
	}
	return files;
}

static void table_destroy(void *table)
{
	berth_files_put_table(table);
}

static void *table_copy(void *table)
{
	struct berth_files *copy;

	return berth_files_fork(table, &copy) ? NULL : copy;
}

static int table_set_limit(void *table, unsigned int limit)
{
	return berth_files_set_limit(table, limit);
}

/* ---- Numbers ---- */

static struct berth_file *wrap(struct object *object)
{
	struct wrapping *wrapping;

	wrapping = aligned_alloc(alignof(struct wrapping), sizeof(*wrapping));
	if (!wrapping)
		return NULL;
	berth_file_init(&wrapping->file, &wrapping_ops, O_RDWR, 0);
	wrapping->object = object;
	object->handle = wrapping;
	return &wrapping->file;
}

static int open_with(void *table, struct object *object, unsigned int flags)
{
	struct berth_file *file = wrap(object);
	int fd;

	if (!file)
		return -ENOMEM;
	fd = berth_files_open(table, file, flags);
	if (fd < 0) {
		object->handle = NULL;
		free(wrapping_of(file));
	}
	return fd;
}

static int table_open(void *table, struct object *object, bool cloexec)
{
	return open_with(table, object, cloexec ? O_CLOEXEC : 0);
}

static int table_open_any(void *table, struct object *object, bool cloexec)
{
	return open_with(table, object,
			 BERTH_ANYFD | (cloexec ? O_CLOEXEC : 0));
}

static int table_close(void *table, int fd)
{
	return berth_files_close(table, fd);
}

static int table_dup(void *table, int fd)
{
	return berth_files_dup(table, fd);
}

static int table_dupfd(void *table, int fd, int min, bool cloexec)
{
	return berth_files_dupfd(table, fd, min, cloexec ? O_CLOEXEC : 0);
}

static int table_dup2(void *table, int oldfd, int newfd)
{
	return berth_files_dup2(table, oldfd, newfd);
}

static int table_dup3(void *table, int oldfd, int newfd, unsigned int flags)
{
	return berth_files_dup3(table, oldfd, newfd, flags);
}

static int table_getfd(void *table, int fd)
{
	return berth_files_getfd(table, fd);
}

static int table_setfd(void *table, int fd, int fdflags)
{
	return berth_files_setfd(table, fd, fdflags);
}

static int table_renumber(void *table, int from, int to)
{
	return berth_files_renumber(table, from, to);
}

static void table_exec(void *table)
{
	berth_files_exec(table);
}

static unsigned int table_count(void *table)
{
	return berth_files_count(table);
}

static int table_reserve(void *table, int min, bool any)
{
	return berth_files_reserve(table, min, any ? BERTH_ANYFD : 0);
}

static void table_install(void *table, int fd, struct object *object)
{
	struct berth_file *file = wrap(object);

	if (file)
		berth_files_install(table, fd, file);
}

static void table_unreserve(void *table, int fd)
{
	berth_files_unreserve(table, fd);
}

static int table_close_range(void **table, unsigned int first,
			     unsigned int last, unsigned int flags)
{
	struct berth_files *files = *table;
	int ret = berth_files_close_range(&files, first, last, flags);

	*table = files;
	return ret;
}

/* ---- Lookups ---- */

static struct object *table_get(void *table, int fd)
{
	return object_of(berth_files_get(table, fd));
}

static void table_put(void *table, struct object *object)
{
	struct wrapping *wrapping = object->handle;

	(void)table;
	berth_file_put(&wrapping->file);
}

static struct object *table_borrow(void *table, int fd)
{
	return object_of(berth_files_borrow(table, fd));
}

static void table_give_back(void *table, struct object *object)
{
	struct wrapping *wrapping = object->handle;

	(void)table;
	berth_files_return(&wrapping->file);
}

const struct table_adapter table_adapter = {
	.name = ADAPTER_NAME,
	.reserves = ADAPTER_RESERVES,
	.create = table_create,
	.destroy = table_destroy,
	.copy = table_copy,
	.set_limit = table_set_limit,
	.open = table_open,
	.open_any = table_open_any,
	.close = table_close,
	.dup = table_dup,
	.dupfd = table_dupfd,
	.dup2 = table_dup2,
	.dup3 = table_dup3,
	.renumber = table_renumber,
	.close_range = table_close_range,
	.getfd = table_getfd,
	.setfd = table_setfd,
	.exec = table_exec,
	.count = table_count,
	.reserve = table_reserve,
	.install = table_install,
	.unreserve = table_unreserve,
	.get = table_get,
	.put = table_put,
	.borrow = table_borrow,
	.give_back = table_give_back,
	.settle = berth_drain,
};
