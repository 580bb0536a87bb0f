/* SPDX-License-Identifier: MIT */
/*
 * Data: read, write, seek; and of several buffers at once.
 *
 * *Reads* borrow the file, claim bytes by moving the offset with one
 * compare-and-swap, and copy them from pages found without a lock.  A read is
 * as of the size that it saw when it claimed: a truncation that overtakes the
 * copy makes it see zeros.  A long read owns the file and borrows piece by
 * piece, so that no grace period waits for it.
 *
 * *Writes* own the file and hold the inode's lock from taking the end of the
 * file (O_APPEND) or the offset to the last byte, so that appends are whole and
 * none is lost (V1).  All that can fail comes first (write_begin); then the
 * offset is claimed; then the bytes are copied and the size is published.
 *
 * The offset itself is never locked: a seek that races with a write comes
 * before its claim or after it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "vfs/attr.h"
#include "vfs/namei.h"
#include "vfs/open.h"

#define RW_COUNT_MAX ((size_t)0x7ffff000)

/* A read longer than this does not stay in one borrow. */
#define BORROW_MAX ((size_t)256 * 1024)

static size_t rw_count(size_t count)
{
	return count < RW_COUNT_MAX ? count : RW_COUNT_MAX;
}

/* As Linux: a count that is no size, or that runs past the last offset. */
static int rw_check(uint64_t pos, size_t count)
{
	if (count > SSIZE_MAX || pos > FILE_SIZE_MAX - count)
		return -EINVAL;
	return 0;
}

/* ---- Read ---- */

/* How many of @count bytes lie below the size at this instant? */
hot_inline size_t below_size(const struct inode *inode, uint64_t pos,
			     size_t count)
{
	uint64_t size = inode_size(inode);

	if (pos >= size)
		return 0;
	return count < size - pos ? count : size - pos;
}

/*
 * Claim up to @count bytes at the file's offset: *@pos is where they are.
 * Relaxed: the offset orders nothing but itself.
 */
hot_inline size_t claim_read(struct file *file, size_t count, uint64_t *pos)
{
	size_t n;

	*pos = load_relaxed(&file->pos);
	do {
		if (unlikely(count > FILE_SIZE_MAX - *pos))
			return 0; /* for rw_check() */
		n = below_size(file->inode, *pos, rw_count(count));
		if (!n)
			return 0;
	} while (unlikely(!cas_relaxed(&file->pos, pos, *pos + n)));
	return n;
}

/* Piece by piece, the borrow given up in between; the file is owned. */
static noinline void read_long(struct inode *inode, char *buf, size_t count,
			       uint64_t pos)
{
	size_t n;

	for (; count; count -= n, pos += n, buf += n) {
		n = count < BORROW_MAX ? count : BORROW_MAX;
		rcu_read_lock();
		inode->ops->read(inode, buf, n, pos);
		rcu_read_unlock();
	}
}

/* Somebody reads through the file. */
hot_inline void file_accessed(struct file *file)
{
	if (!(load_relaxed(&file->base.flags) & O_NOATIME))
		touch_atime(file->inode);
}

/* Copy what was claimed, and end the borrow. */
hot_inline void read_claimed(struct file *file, void *buf, size_t count,
			     uint64_t pos)
{
	struct inode *inode = file->inode;

	file_accessed(file);
	if (unlikely(count > BORROW_MAX) &&
	    kref_get_unless_zero(&file->base.refs)) {
		vfs_return(file);
		read_long(inode, buf, count, pos);
		fput(&file->base);
		rcu_poll();
		return;
	}
	if (count)
		inode->ops->read(inode, buf, count, pos);
	vfs_return(file);
}

static int not_readable(struct file *file)
{
	vfs_return(file);
	return -EISDIR;
}

ssize_t berth_read(struct berth_task *task, int fd, void *buf, size_t count)
{
	struct file *file = vfs_borrow(task, fd, FMODE_READ);
	uint64_t pos;
	size_t n;

	if (unlikely(!file))
		return -EBADF;
	if (unlikely(!S_ISREG(inode_mode(file->inode))))
		return not_readable(file);
	n = claim_read(file, count, &pos);
	/* A wrong count and a place past all files end up here, too. */
	if (unlikely(!n) && rw_check(pos, count)) {
		vfs_return(file);
		return -EINVAL;
	}
	read_claimed(file, buf, n, pos);
	return (ssize_t)n;
}

ssize_t berth_pread(struct berth_task *task, int fd, void *buf, size_t count,
		    int64_t pos)
{
	struct file *file;

	if (unlikely(pos < 0))
		return -EINVAL;
	file = vfs_borrow(task, fd, FMODE_READ);
	if (unlikely(!file))
		return -EBADF;
	if (unlikely(rw_check((uint64_t)pos, count))) {
		vfs_return(file);
		return -EINVAL;
	}
	if (unlikely(!S_ISREG(inode_mode(file->inode))))
		return not_readable(file);
	count = below_size(file->inode, (uint64_t)pos, rw_count(count));
	read_claimed(file, buf, count, (uint64_t)pos);
	return (ssize_t)count;
}

/* ---- Write ---- */

/* Where a write goes, and how. */
struct place {
	struct file *file;
	uint64_t pos;
	bool at_offset; /* and moves it */
	bool append;
	bool partly;	    /* fewer bytes than wanted are better than none */
	unsigned int flags; /* BERTH_RWF_* */
};

/* Under the lock: -EFBIG, -EINVAL or how much of @count is allowed. */
static ssize_t place_take(struct place *place, const struct inode *inode,
			  size_t count)
{
	if (place->append)
		place->pos = inode->size;
	else if (place->at_offset)
		place->pos = load_relaxed(&place->file->pos);
	if (rw_check(place->pos, 0))
		return -EINVAL;
	if (place->pos >= FILE_SIZE_MAX)
		return -EFBIG;
	if (count > FILE_SIZE_MAX - place->pos)
		count = FILE_SIZE_MAX - place->pos;
	return (ssize_t)count;
}

/* Under the lock: move the offset over what will be written; false: it has
 * moved meanwhile. */
static bool place_claim(const struct place *place, size_t count)
{
	uint64_t pos = place->pos;

	if (!place->at_offset)
		return true;
	if (!place->append)
		return cas_relaxed(&place->file->pos, &pos, pos + count);
	store_relaxed(&place->file->pos, pos + count);
	return true;
}

/* Get all that the write needs: how many bytes can be written, or an error. */
static ssize_t write_gather(const struct place *place, struct inode *inode,
			    ssize_t want, struct page_list *pages)
{
	ssize_t n;

	n = inode->ops->make_room(inode, place->pos, (uint64_t)want, pages);
	if (n < want && !place->partly)
		n = pages->error;
	if (n < 0)
		inode->ops->give_room(inode, place->pos, (uint64_t)want, pages);
	return n;
}

/*
 * The offset moved while the write was gathering: somebody goes on reading
 * through it.  Claim first this time, so that he can not keep the writer out
 * for ever.  If room ends then, the rest is handed back, unless he has moved on
 * from there.
 */
static noinline ssize_t write_claim_first(struct place *place,
					  struct inode *inode, size_t count,
					  struct page_list *pages)
{
	uint64_t end;
	ssize_t want, n;

	do {
		want = place_take(place, inode, count);
		if (want <= 0)
			return want;
	} while (!place_claim(place, (size_t)want));
	n = write_gather(place, inode, want, pages);
	end = place->pos + (size_t)want;
	if (n < want)
		cas_relaxed(&place->file->pos, &end,
			    place->pos + (n > 0 ? (size_t)n : 0));
	return n;
}

/* Gather, then claim: a write that fails has moved nothing. */
static ssize_t write_ready(struct place *place, struct inode *inode,
			   size_t count, struct page_list *pages)
{
	ssize_t want = place_take(place, inode, count), n;

	if (want <= 0)
		return want;
	n = write_gather(place, inode, want, pages);
	if (n < 0 || likely(place_claim(place, (size_t)n)))
		return n;
	inode->ops->give_room(inode, place->pos, (uint64_t)want, pages);
	return write_claim_first(place, inode, count, pages);
}

/* Under the lock, inside the gate. */
static ssize_t write_locked(struct place *place, struct inode *inode,
			    const struct cred *cred, const struct iovec *iov,
			    size_t count)
{
	struct iov_iter from = { .iov = iov };
	struct page_list pages;
	ssize_t n;

	n = write_ready(place, inode, count, &pages);
	if (n <= 0)
		return n;
	inode_kill_setid(inode, cred);
	inode->ops->write(inode, place->pos, &from, (size_t)n, &pages);
	inode_extend(inode, place->pos + (size_t)n);
	inode_touch(inode, inode_now(inode), true);
	return n;
}

static ssize_t write_once(struct place *place, const struct cred *cred,
			  const struct iovec *iov, size_t count)
{
	struct inode *inode = place->file->inode;
	ssize_t ret;

	mnt_want_write_file(&inode->vfs->mnt);
	mutex_lock(&inode->lock);
	ret = write_locked(place, inode, cred, iov, count);
	mutex_unlock(&inode->lock);
	mnt_drop_write(&inode->vfs->mnt);
	return ret;
}

static bool write_appends(const struct file *file, unsigned int flags)
{
	if (flags & BERTH_RWF_NOAPPEND)
		return false;
	/* Relaxed: one word, which orders nothing. */
	return (flags & BERTH_RWF_APPEND) ||
	       (load_relaxed(&file->base.flags) & O_APPEND);
}

/* The file is owned, and given back. */
static ssize_t write_file(struct berth_task *task, struct place *place,
			  const struct iovec *iov, size_t count)
{
	struct file *file = place->file;
	struct cred *cred;
	ssize_t ret;

	ret = rw_check(place->pos, count);
	if (ret || !count)
		goto out_put_file;
	place->append = write_appends(file, place->flags);
	cred = cred_get(task);
	count = rw_count(count);
	ret = retry_after_drain(write_once(place, cred, iov, count));
	if (unlikely(is_want_of_room(ret))) {
		place->partly = true;
		ret = write_once(place, cred, iov, count);
	}
	cred_put(cred);
out_put_file:
	fput(&file->base);
	rcu_poll();
	return ret;
}

/* One buffer as several.  It is only read. */
static struct iovec iov_of(const void *buf, size_t count)
{
	return (struct iovec){ .iov_base = (void *)(uintptr_t)buf,
			       .iov_len = count };
}

ssize_t berth_write(struct berth_task *task, int fd, const void *buf,
		    size_t count)
{
	struct iovec iov = iov_of(buf, count);
	struct place place = { .file = vfs_get(task, fd, FMODE_WRITE),
			       .at_offset = true };

	if (unlikely(!place.file))
		return -EBADF;
	place.pos = load_relaxed(&place.file->pos);
	return write_file(task, &place, &iov, count);
}

ssize_t berth_pwrite(struct berth_task *task, int fd, const void *buf,
		     size_t count, int64_t pos)
{
	struct iovec iov = iov_of(buf, count);
	struct place place = { .pos = (uint64_t)pos };

	if (unlikely(pos < 0))
		return -EINVAL;
	place.file = vfs_get(task, fd, FMODE_WRITE);
	if (unlikely(!place.file))
		return -EBADF;
	return write_file(task, &place, &iov, count);
}

/* ---- Several buffers at once ---- */

#define RWF_KNOWN                                             \
	(BERTH_RWF_HIPRI | BERTH_RWF_DSYNC | BERTH_RWF_SYNC | \
	 BERTH_RWF_APPEND | BERTH_RWF_NOAPPEND)

/* How many bytes they hold, cut to what one call moves; or an error. */
static ssize_t iov_count(const struct iovec *iov, int iovcnt)
{
	size_t count = 0;
	int i;

	if (iovcnt < 0 || iovcnt > UIO_MAXIOV)
		return -EINVAL;
	if (iovcnt && !iov)
		return -EFAULT;
	for (i = 0; i < iovcnt; i++) {
		if (iov[i].iov_len > SSIZE_MAX)
			return -EINVAL;
		/* Each is less than 2^63, and so is the sum so far. */
		count = rw_count(count + iov[i].iov_len);
	}
	return (ssize_t)count;
}

static int rwf_check(unsigned int flags, bool regular)
{
	if (!regular)
		return flags & ~BERTH_RWF_HIPRI ? -EOPNOTSUPP : -EISDIR;
	if (flags & ~RWF_KNOWN)
		return -EOPNOTSUPP;
	if ((flags & BERTH_RWF_APPEND) && (flags & BERTH_RWF_NOAPPEND))
		return -EINVAL;
	return 0;
}

/* The file is owned: read @count bytes at its offset, or at *@pos. */
static ssize_t read_vector(struct file *file, const struct iovec *iov,
			   size_t count, const uint64_t *pos)
{
	struct iov_iter to = { .iov = iov };
	struct inode *inode = file->inode;
	size_t n, left, part;
	uint64_t from;
	char *piece;

	if (pos) {
		from = *pos;
		n = below_size(inode, from, count);
	} else {
		n = claim_read(file, count, &from);
	}
	file_accessed(file);
	for (left = n; left; left -= part, from += part) {
		part = left;
		piece = iov_take(&to, &part);
		read_long(inode, piece, part, from);
	}
	return (ssize_t)n;
}

/* May so much be moved there?  In Linux's order, which looks at the flags
 * when there is something to do. */
static ssize_t vector_check(const struct file *file, const struct iovec *iov,
			    int iovcnt, const uint64_t *pos, unsigned int flags)
{
	ssize_t count = iov_count(iov, iovcnt);
	int ret;

	if (count <= 0)
		return count;
	/* Relaxed: the offset orders nothing but itself. */
	ret = rw_check(pos ? *pos : load_relaxed(&file->pos), (size_t)count);
	if (!ret)
		ret = rwf_check(flags, S_ISREG(inode_mode(file->inode)));
	return ret ? ret : count;
}

static ssize_t do_readv(struct berth_task *task, int fd,
			const struct iovec *iov, int iovcnt,
			const uint64_t *pos, unsigned int flags)
{
	struct file *file = vfs_get(task, fd, FMODE_READ);
	ssize_t ret;

	if (!file)
		return -EBADF;
	ret = vector_check(file, iov, iovcnt, pos, flags);
	if (ret > 0)
		ret = read_vector(file, iov, (size_t)ret, pos);
	fput(&file->base);
	rcu_poll();
	return ret;
}

static ssize_t do_writev(struct berth_task *task, int fd,
			 const struct iovec *iov, int iovcnt,
			 const uint64_t *pos, unsigned int flags)
{
	struct place place = { .file = vfs_get(task, fd, FMODE_WRITE),
			       .at_offset = !pos,
			       .flags = flags };
	ssize_t ret;

	if (!place.file)
		return -EBADF;
	ret = vector_check(place.file, iov, iovcnt, pos, flags);
	if (ret <= 0) {
		fput(&place.file->base);
		return ret;
	}
	place.pos = pos ? *pos : load_relaxed(&place.file->pos);
	return write_file(task, &place, iov, (size_t)ret);
}

ssize_t berth_readv(struct berth_task *task, int fd, const struct iovec *iov,
		    int iovcnt)
{
	return do_readv(task, fd, iov, iovcnt, NULL, 0);
}

ssize_t berth_writev(struct berth_task *task, int fd, const struct iovec *iov,
		     int iovcnt)
{
	return do_writev(task, fd, iov, iovcnt, NULL, 0);
}

ssize_t berth_preadv2(struct berth_task *task, int fd, const struct iovec *iov,
		      int iovcnt, int64_t pos, unsigned int flags)
{
	uint64_t at = (uint64_t)pos;

	if (pos < -1)
		return -EINVAL;
	return do_readv(task, fd, iov, iovcnt, pos == -1 ? NULL : &at, flags);
}

ssize_t berth_pwritev2(struct berth_task *task, int fd, const struct iovec *iov,
		       int iovcnt, int64_t pos, unsigned int flags)
{
	uint64_t at = (uint64_t)pos;

	if (pos < -1)
		return -EINVAL;
	return do_writev(task, fd, iov, iovcnt, pos == -1 ? NULL : &at, flags);
}

ssize_t berth_preadv(struct berth_task *task, int fd, const struct iovec *iov,
		     int iovcnt, int64_t pos)
{
	return pos < 0 ? -EINVAL : berth_preadv2(task, fd, iov, iovcnt, pos, 0);
}

ssize_t berth_pwritev(struct berth_task *task, int fd, const struct iovec *iov,
		      int iovcnt, int64_t pos)
{
	return pos < 0 ? -EINVAL
		       : berth_pwritev2(task, fd, iov, iovcnt, pos, 0);
}

/* ---- Seek ---- */

static int64_t seek_current(struct file *file, int64_t offset)
{
	uint64_t pos = load_relaxed(&file->pos);
	int64_t to;

	do {
		if (__builtin_add_overflow((int64_t)pos, offset, &to) || to < 0)
			return -EINVAL;
	} while (offset && !cas_relaxed(&file->pos, &pos, (uint64_t)to));
	return to;
}

/* Relaxed: the offset orders nothing but itself.  Where it is already it is not
 * written, so that those who go back to one place over and over share its line. */
hot_inline void seek_to(struct file *file, uint64_t pos)
{
	if (load_relaxed(&file->pos) != pos)
		store_relaxed(&file->pos, pos);
}

static int64_t seek_end(struct file *file, int64_t offset)
{
	int64_t to;

	if (__builtin_add_overflow((int64_t)inode_size(file->inode), offset,
				   &to) ||
	    to < 0)
		return -EINVAL;
	seek_to(file, (uint64_t)to);
	return to;
}

static noinline int64_t seek_other(struct file *file, int64_t offset,
				   int whence)
{
	if (whence == SEEK_CUR)
		return seek_current(file, offset);
	if (whence != SEEK_END || !S_ISREG(inode_mode(file->inode)))
		return -EINVAL;
	return seek_end(file, offset);
}

/* Where data or a hole is: what changes that is kept out meanwhile. */
static noinline int64_t seek_data(struct berth_task *task, int fd,
				  int64_t offset, bool data)
{
	struct file *file = vfs_get(task, fd, FMODE_OPEN);
	struct inode *inode;
	int64_t to = -EINVAL;

	if (!file)
		return -EBADF;
	inode = file->inode;
	if (!S_ISREG(inode_mode(inode)))
		goto out_put_file;
	mutex_lock(&inode->lock);
	to = -ENXIO;
	if (offset >= 0 && (uint64_t)offset < inode->size)
		to = inode->ops->seek(inode, (uint64_t)offset, data);
	mutex_unlock(&inode->lock);
	if (to >= 0)
		seek_to(file, (uint64_t)to);
out_put_file:
	fput(&file->base);
	rcu_poll();
	return to;
}

int64_t berth_lseek(struct berth_task *task, int fd, int64_t offset, int whence)
{
	struct file *file;
	int64_t ret = offset;

	if (unlikely(whence == SEEK_DATA || whence == SEEK_HOLE))
		return seek_data(task, fd, offset, whence == SEEK_DATA);
	file = vfs_borrow(task, fd, FMODE_OPEN);
	if (unlikely(!file))
		return -EBADF;
	if (likely(whence == SEEK_SET && offset >= 0))
		seek_to(file, (uint64_t)offset);
	else if (whence == SEEK_SET)
		ret = -EINVAL;
	else
		ret = seek_other(file, offset, whence);
	vfs_return(file);
	return ret;
}
