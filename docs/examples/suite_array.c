/* SPDX-License-Identifier: MIT */
/* The smallest table that the suite has nothing to say against: an array, and
 * one mutex around it.  See docs/SUITE.md. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "adapter.h"

/* ---- A table of one's own ---- */

struct file {
	unsigned int
		refs; /* numbers and gets; atomic, for tables share files */
	struct object *object;
};

struct slot {
	struct file *file;
	bool cloexec;
};

struct table {
	pthread_mutex_t lock;
	int limit;	   /* numbers that are given are below */
	int size;	   /* of the array, which never shrinks */
	struct slot *slot; /* [size] */
};

static void file_get(struct file *file)
{
	__atomic_add_fetch(&file->refs, 1, __ATOMIC_RELAXED);
}

static void file_put(struct file *file)
{
	if (!file || __atomic_sub_fetch(&file->refs, 1, __ATOMIC_ACQ_REL))
		return;
	object_released(file->object);
	free(file);
}

/* All below are called under the lock. */

static struct file *file_at(struct table *table, int fd)
{
	return fd >= 0 && fd < table->size ? table->slot[fd].file : NULL;
}

static int grow(struct table *table, int size)
{
	struct slot *slot;

	if (size <= table->size)
		return 0;
	slot = realloc(table->slot, (size_t)size * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (table->slot = slot; table->size < size; table->size++)
		slot[table->size] = (struct slot){ NULL, false };
	return 0;
}

static int lowest_free(struct table *table, int min)
{
	while (file_at(table, min))
		min++;
	return min < table->limit ? min : -EMFILE;
}

/* Let @fd find @file.  What it found before is for file_put(). */
static struct file *exchange(struct table *table, int fd, struct file *file,
			     bool cloexec)
{
	struct file *old = table->slot[fd].file;

	table->slot[fd] = (struct slot){ file, cloexec };
	return old;
}

/* ---- The adapter's functions ---- */

static void *array_create(unsigned int limit)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	pthread_mutex_init(&table->lock, NULL);
	table->limit = (int)limit;
	return table;
}

static void array_destroy(void *of)
{
	struct table *table = of;
	int fd;

	for (fd = 0; fd < table->size; fd++)
		file_put(table->slot[fd].file);
	pthread_mutex_destroy(&table->lock);
	free(table->slot);
	free(table);
}

static void *array_copy(void *of)
{
	struct table *table = of, *copy = array_create(0);
	int fd, ret;

	if (!copy)
		return NULL;
	pthread_mutex_lock(&table->lock);
	copy->limit = table->limit;
	ret = grow(copy, table->size);
	for (fd = 0; fd < copy->size; fd++) {
		if (table->slot[fd].file)
			file_get(table->slot[fd].file);
		copy->slot[fd] = table->slot[fd];
	}
	pthread_mutex_unlock(&table->lock);
	if (!ret)
		return copy;
	array_destroy(copy);
	return NULL;
}

static int array_set_limit(void *of, unsigned int limit)
{
	struct table *table = of;

	pthread_mutex_lock(&table->lock);
	table->limit = (int)limit;
	pthread_mutex_unlock(&table->lock);
	return 0;
}

/* Under the lock: @file, which the caller owns, at the lowest free number. */
static int add(struct table *table, struct file *file, int min, bool cloexec)
{
	int fd = lowest_free(table, min);
	int ret = fd < 0 ? fd : grow(table, fd + 1);

	if (ret < 0)
		return ret;
	exchange(table, fd, file, cloexec);
	return fd;
}

static int array_open(void *of, struct object *object, bool cloexec)
{
	struct table *table = of;
	struct file *file = malloc(sizeof(*file));
	int fd;

	if (!file)
		return -ENOMEM;
	*file = (struct file){ .refs = 1, .object = object };
	pthread_mutex_lock(&table->lock);
	fd = add(table, file, 0, cloexec);
	if (fd >= 0)
		object->handle = file; /* the table has it now */
	pthread_mutex_unlock(&table->lock);
	if (fd < 0)
		free(file);
	return fd;
}

static int array_close(void *of, int fd)
{
	struct table *table = of;
	struct file *file;

	pthread_mutex_lock(&table->lock);
	file = file_at(table, fd);
	if (file)
		exchange(table, fd, NULL, false);
	pthread_mutex_unlock(&table->lock);
	file_put(file);
	return file ? 0 : -EBADF;
}

static int array_dupfd(void *of, int fd, int min, bool cloexec)
{
	struct table *table = of;
	struct file *file;
	int ret = -EBADF;

	pthread_mutex_lock(&table->lock);
	file = file_at(table, fd);
	if (file)
		ret = min < 0 || min >= table->limit
			      ? -EINVAL
			      : add(table, file, min, cloexec);
	if (ret >= 0)
		file_get(file);
	pthread_mutex_unlock(&table->lock);
	return ret;
}

static int array_dup(void *of, int fd)
{
	int ret = array_dupfd(of, fd, 0, false);

	return ret == -EINVAL ? -EMFILE : ret; /* the limit is 0 */
}

static int array_dup3(void *of, int oldfd, int newfd, unsigned int flags)
{
	struct table *table = of;
	struct file *file, *old = NULL;
	int ret = -EBADF;

	if ((flags & ~(unsigned int)O_CLOEXEC) || oldfd == newfd)
		return -EINVAL;
	pthread_mutex_lock(&table->lock);
	file = file_at(table, oldfd);
	if (file && newfd >= 0 && newfd < table->limit)
		ret = grow(table, newfd + 1);
	if (!ret) {
		file_get(file);
		old = exchange(table, newfd, file, flags & O_CLOEXEC);
		ret = newfd;
	}
	pthread_mutex_unlock(&table->lock);
	file_put(old);
	return ret;
}

static int array_getfd(void *of, int fd)
{
	struct table *table = of;
	int ret = -EBADF;

	pthread_mutex_lock(&table->lock);
	if (file_at(table, fd))
		ret = table->slot[fd].cloexec ? FD_CLOEXEC : 0;
	pthread_mutex_unlock(&table->lock);
	return ret;
}

static int array_dup2(void *of, int oldfd, int newfd)
{
	if (oldfd != newfd)
		return array_dup3(of, oldfd, newfd, 0);
	return array_getfd(of, oldfd) < 0 ? -EBADF : newfd;
}

static int array_setfd(void *of, int fd, int fdflags)
{
	struct table *table = of;
	int ret = -EBADF;

	pthread_mutex_lock(&table->lock);
	if (file_at(table, fd)) {
		table->slot[fd].cloexec = fdflags & FD_CLOEXEC;
		ret = 0;
	}
	pthread_mutex_unlock(&table->lock);
	return ret;
}

/* These tables have one user each, so there is nothing to unshare. */
static int array_close_range(void **of, unsigned int first, unsigned int last,
			     unsigned int flags)
{
	struct table *table = *of;
	unsigned int fd, size;

	if (first > last || (flags & ~(unsigned int)(CLOSE_RANGE_UNSHARE |
						     CLOSE_RANGE_CLOEXEC)))
		return -EINVAL;
	pthread_mutex_lock(&table->lock);
	size = (unsigned int)table->size;
	pthread_mutex_unlock(&table->lock);
	for (fd = first; fd < size && fd <= last; fd++)
		if (flags & CLOSE_RANGE_CLOEXEC)
			array_setfd(table, (int)fd, FD_CLOEXEC);
		else
			array_close(table, (int)fd);
	return 0;
}

static struct object *array_get(void *of, int fd)
{
	struct table *table = of;
	struct file *file;

	pthread_mutex_lock(&table->lock);
	file = file_at(table, fd);
	if (file)
		file_get(file);
	pthread_mutex_unlock(&table->lock);
	return file ? file->object : NULL;
}

static void array_put(void *of, struct object *object)
{
	(void)of;
	file_put(object->handle);
}

const struct table_adapter table_adapter = {
	.name = "array",
	.create = array_create,
	.destroy = array_destroy,
	.copy = array_copy,
	.set_limit = array_set_limit,
	.open = array_open,
	.close = array_close,
	.dup = array_dup,
	.dupfd = array_dupfd,
	.dup2 = array_dup2,
	.dup3 = array_dup3,
	.getfd = array_getfd,
	.setfd = array_setfd,
	.close_range = array_close_range,
	.get = array_get,
	.put = array_put,
};
