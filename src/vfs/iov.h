/* SPDX-License-Identifier: MIT */
/* Buffers in several pieces, taken from the front. */
#ifndef VFS_IOV_H
#define VFS_IOV_H

#include <sys/uio.h>

#include "base/atomic.h"

/* The bytes that are left: those of @iov from @skip on, then the next ones. */
struct iov_iter {
	const struct iovec *iov;
	size_t skip;
};

/* The next piece, at most *@n bytes, which becomes what it is. */
static inline char *iov_take(struct iov_iter *iter, size_t *n)
{
	size_t left;
	char *piece;

	while (iter->skip == iter->iov->iov_len) {
		iter->iov++;
		iter->skip = 0;
	}
	left = iter->iov->iov_len - iter->skip;
	if (*n > left)
		*n = left;
	piece = (char *)iter->iov->iov_base + iter->skip;
	iter->skip += *n;
	return piece;
}

/* Copy the next @n bytes, which are there, to where readers may be. */
static inline void iov_copy_to_shared(struct iov_iter *iter, char *to, size_t n)
{
	const char *piece;
	size_t part;

	for (; n; n -= part, to += part) {
		part = n;
		piece = iov_take(iter, &part);
		copy_to_shared(to, piece, part);
	}
}

#endif
