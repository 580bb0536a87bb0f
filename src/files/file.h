/* SPDX-License-Identifier: MIT */
/*
 * An open file: owned by counted references, borrowed under RCU.
 *
 * *Lifetime*
 *
 *	private		berth_file_init(); one reference, its creator's.  A file
 *			that never was installed ends by file_free_unseen().
 *	open		a number was given a reference; lookups find it.
 *	orphaned	no number, but owned references; nobody finds it any
 *			more, borrows may go on.
 *	released	the last owned reference was dropped; ->release() has
 *			run (or waits, with BERTH_FILE_RELEASE_WAITS).  Borrows
 *			that began before may go on.
 *	freed		after a grace period, ->free() has run.
 *
 * Only kref_get_unless_zero() brings a borrowed file to "owned"; it fails from
 * "released" on.
 */
#ifndef FILES_FILE_H
#define FILES_FILE_H

#include <fcntl.h>
#include <limits.h>

#include <berth/files.h>

#include "base/kref.h"
#include "base/rcu.h"

static_assert(sizeof(struct berth_file) == 64, "the public size is fixed");
static_assert(offsetof(struct berth_file, retired) == 24,
	      "ops, count and flags stand in front");

/* No number; above all others. */
#define FD_NONE UINT_MAX

void file_put_last(struct berth_file *file);

static inline void get_file(struct berth_file *file)
{
	kref_get(&file->refs);
}

/* May free other files; not inside a borrow, no locks held. */
static inline void fput(struct berth_file *file)
{
	if (kref_put_last(&file->refs))
		file_put_last(file);
}

/* Nobody but the caller has ever seen the file: no need to wait. */
void file_free_unseen(struct berth_file *file);

/* What F_SETFL may change of @file. */
static inline unsigned int file_setfl_mask(const struct berth_file *file)
{
	unsigned int mask = O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME;

	return file->mode & BERTH_FILE_ASYNC ? mask | O_ASYNC : mask;
}

/* One number's use comes to an end: 0, or what the file has to say. */
int filp_flush(struct berth_file *file, struct berth_files *files);
/* Close one number's use: flush, then drop its reference. */
static inline int filp_close(struct berth_file *file, struct berth_files *files)
{
	int ret = filp_flush(file, files);

	fput(file);
	return ret;
}

#endif
