/* SPDX-License-Identifier: MIT */
/*
 * Requests for open directories.
 *
 * The kernel names the place to go on from, which is a cookie of ours, so the
 * descriptor's own offset is never used and requests need no order.
 */
#include "front/fuse/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/**
 * struct listing - one answer in the making.
 * @req: the request.
 * @dir: the directory.
 * @out: where it goes, @size bytes, @used of them filled.
 * @plus: each entry comes with its inode.
 */
struct listing {
	fuse_req_t req;
	struct berth_inode *dir;
	char *out;
	size_t size;
	size_t used;
	bool plus;
};

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *server = server_of(req);
	int fd;

	fd = berth_inode_open(server->host, inode_of(req, ino),
			      O_RDONLY | O_DIRECTORY |
				      (unsigned int)server->open_flags);
	if (fd < 0) {
		reply_error(req, fd);
		return;
	}
	fi->fh = (uint64_t)fd;
	if (fuse_reply_open(req, fi) != 0)
		berth_close(server->host, fd);
}

static bool is_dot_or_dotdot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* An entry as plain readdir has it: the number and the type. */
static void name_only(struct fuse_entry_param *param,
		      const struct berth_dirent *entry)
{
	memset(param, 0, sizeof(*param));
	param->attr.st_ino = entry->ino;
	param->attr.st_mode = DTTOIF(entry->type);
}

/* Add an entry, unless the answer is full.  @inode is what it holds. */
static bool add_entry(struct listing *listing, struct berth_dirent *entry,
		      struct berth_inode **inode)
{
	struct fuse_entry_param param;
	char *to = listing->out + listing->used;
	size_t room = listing->size - listing->used, need;
	struct berth_stat st;

	*inode = NULL;
	name_only(&param, entry);
	if (listing->plus && !is_dot_or_dotdot(entry->name)) {
		/* Removed meanwhile: as if it had been seen a little earlier */
		if (berth_inode_lookup(server_of(listing->req)->host,
				       listing->dir, entry->name, inode, &st))
			*inode = NULL;
		else
			fill_entry(listing->req, &param, *inode, &st);
	}
	if (listing->plus)
		need = fuse_add_direntry_plus(listing->req, to, room,
					      entry->name, &param,
					      entry->cookie);
	else
		need = fuse_add_direntry(listing->req, to, room, entry->name,
					 &param.attr, entry->cookie);
	if (need <= room) {
		listing->used += need;
		return true;
	}
	if (*inode)
		berth_inode_forget(*inode, 1);
	*inode = NULL;
	return false;
}

static struct berth_dirent *entry_at(char *entries, size_t offset)
{
	return (struct berth_dirent *)(void *)(entries + offset);
}

/*
 * What an entry holds is noted in place of its number, which has served, for
 * the case that the answer does not arrive.
 */
static size_t add_entries(struct listing *listing, char *entries, size_t bytes)
{
	struct berth_inode *inode;
	size_t offset = 0;

	while (offset < bytes) {
		struct berth_dirent *entry = entry_at(entries, offset);

		if (!add_entry(listing, entry, &inode))
			break;
		entry->ino = (uintptr_t)inode;
		offset += entry->reclen;
	}
	return offset;
}

static void forget_entries(char *entries, size_t bytes)
{
	size_t offset = 0;

	while (offset < bytes) {
		struct berth_dirent *entry = entry_at(entries, offset);

		if (entry->ino)
			berth_inode_forget(
				(struct berth_inode *)(uintptr_t)entry->ino, 1);
		offset += entry->reclen;
	}
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t cookie,
		 int fd, bool plus)
{
	/* Our entries take no more room than the kernel's; those with an inode
	 * take several times as much, and none needs to be read in vain. */
	size_t wanted = plus ? size / 4 : size;
	size_t out = (size + 7) & ~(size_t)7;
	struct listing listing = {
		.req = req,
		.dir = inode_of(req, ino),
		.size = size,
		.plus = plus,
	};
	char *entries = worker_buffer(req, out + size);
	bool moves_atime = atime_is_due(req, ino);
	ssize_t bytes;
	size_t added;

	if (!entries) {
		reply_error(req, -ENOMEM);
		return;
	}
	bytes = berth_getdents_from(server_of(req)->host, fd, cookie, entries,
				    wanted);
	if (bytes < 0) {
		reply_error(req, (int)bytes);
		return;
	}
	if (moves_atime)
		reply_changed(req, ino);
	listing.out = entries + out;
	added = add_entries(&listing, entries, (size_t)bytes);
	if (fuse_reply_buf(req, listing.out, listing.used) != 0 && plus)
		forget_entries(entries, added);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t cookie,
		struct fuse_file_info *fi)
{
	list(req, ino, size, cookie, (int)fi->fh, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t cookie,
		    struct fuse_file_info *fi)
{
	list(req, ino, size, cookie, (int)fi->fh, true);
}
