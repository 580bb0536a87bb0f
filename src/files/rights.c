/* SPDX-License-Identifier: MIT */
/*
 * Rights: what may be done by a number, whatever may be done with its file.
 *
 * A number with all rights holds its file plainly; one with fewer, a detour to
 * file and rights (struct fd_limited), which never changes, so that a lookup
 * sees both as of the same instant.  Duplicates and copies share it.  Rights can
 * only be taken away.
 */
#include <errno.h>

#include "base/sys.h"
#include "files/files.h"

static const struct berth_rights all_rights = { BERTH_RIGHTS_ALL,
						BERTH_RIGHTS_ALL };

static const struct berth_rights *rights_of(const struct berth_file *content)
{
	const struct fd_limited *limited = fd_limited_of(content);

	return limited ? &limited->rights : &all_rights;
}

static bool has_rights(const struct berth_rights *has,
		       const struct berth_rights *wanted)
{
	return !(wanted->base & ~has->base) &&
	       !(wanted->inheriting & ~has->inheriting);
}

static struct berth_file *content_of(struct fd_limited *limited)
{
	return (struct berth_file *)((uintptr_t)limited | FD_DETOUR);
}

static struct fd_limited *limited_create(struct berth_file *file,
					 const struct berth_rights *rights)
{
	struct fd_limited *limited = sys_alloc(bytes_of(sizeof(*limited)));

	if (!limited)
		return NULL;
	*limited = (struct fd_limited){ .file = file, .rights = *rights };
	kref_init(&limited->refs);
	return limited;
}

/* ---- Exported ---- */

int berth_files_rights(struct berth_files *files, int fd,
		       struct berth_rights *rights)
{
	struct berth_file *content;

	rcu_read_lock();
	content = fd_content(table_of(files), (unsigned int)fd);
	if (content)
		*rights = *rights_of(content);
	rcu_read_unlock();
	return content ? 0 : -EBADF;
}

/* Under the hold of @fd.  *@former: what the slot does not need any more. */
static int limit_rights(struct files_struct *files, unsigned int fd,
			struct fd_limited *limited, struct berth_file **former)
{
	struct berth_file **slot = fd_slot(files, fd), *content;

	content = load_acquire(slot); /* As ACQ(dup_onto:A). */
	if (!fd_is_open_slot(content))
		return -EBADF;
	if (!has_rights(rights_of(content), &limited->rights))
		return -EPERM;
	limited->file = fd_file_of(content);
	*former = content;
	fd_publish(files, fd, content_of(limited));
	return 0;
}

int berth_files_limit_rights(struct berth_files *handle, int fd,
			     const struct berth_rights *rights)
{
	struct files_struct *files = table_of(handle);
	struct berth_file *former = NULL;
	struct fd_limited *limited;
	struct fd_hold hold;
	int ret;

	if (!fd_slot(files, (unsigned int)fd))
		return -EBADF;
	limited = limited_create(NULL, rights);
	if (!limited)
		return -ENOMEM;
	hold = fd_hold(files, (unsigned int)fd);
	ret = limit_rights(files, (unsigned int)fd, limited, &former);
	fd_drop(&hold);
	if (ret)
		sys_free(limited, bytes_of(sizeof(*limited)));
	else
		fd_limited_put(former);
	rcu_poll();
	return ret;
}

int berth_files_install_limited(struct berth_files *files, int fd,
				struct berth_file *file,
				const struct berth_rights *rights)
{
	struct berth_file **slot = fd_slot(table_of(files), (unsigned int)fd);
	struct fd_limited *limited;

	/* Relaxed: a reserved slot is its owner's alone. */
	if (!slot || load_relaxed(slot) != FD_RESERVED) {
		fd_install_refused();
		return -EBADF;
	}
	limited = limited_create(file, rights);
	if (!limited)
		return -ENOMEM;
	fd_install(table_of(files), (unsigned int)fd, content_of(limited));
	return 0;
}

int berth_files_borrow_for(struct berth_files *files, int fd, uint64_t needed,
			   struct berth_file **file)
{
	struct berth_file *content;
	int ret = -EBADF;

	rcu_read_lock();
	content = fd_content(table_of(files), (unsigned int)fd);
	if (content)
		ret = needed & ~rights_of(content)->base ? -EPERM : 0;
	if (ret)
		rcu_read_unlock();
	else
		*file = fd_file_of(content);
	return ret;
}

int berth_files_get_for(struct berth_files *files, int fd, uint64_t needed,
			struct berth_file **file)
{
	struct berth_file *content;

	content = fget_content(table_of(files), (unsigned int)fd);
	if (!content)
		return -EBADF;
	if (needed & ~rights_of(content)->base) {
		fd_content_put(content);
		rcu_poll();
		return -EPERM;
	}
	*file = fd_file_of(content);
	fd_limited_put(content);
	return 0;
}
