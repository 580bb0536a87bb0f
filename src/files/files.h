/* SPDX-License-Identifier: MIT */
/*
 * The seam between a descriptor table and those who use it.
 *
 * Whatever stands above the tables (the VFS, the front) includes this header
 * and uses these names; whatever design of a table is compiled in provides
 * them. The choice is made by the compiler, not by function pointers:
 *
 *	-DBERTH_TABLE_H='"some/table.h"'
 *
 * names a header with the same functions, some of them inline.  The files that
 * a table holds (struct berth_file) and their references are common to all
 * designs; see file.h.
 */
#ifndef FILES_FILES_H
#define FILES_FILES_H

#include "files/file.h"

struct files_struct;

/* ---- Tables ---- */
struct files_struct *files_create(void);
void files_get(struct files_struct *files);
void files_put(struct files_struct *files);
/* NULL: no memory. */
struct files_struct *dup_fd(struct files_struct *files);
/* Has it users besides the caller? */
bool files_is_shared(const struct files_struct *files);
/* The table after @files in the list of all, owned, in exchange for the caller's
 * reference to @files; the first one after NULL, and NULL after the last. */
struct files_struct *files_next(struct files_struct *files);
/* Whose it is, as the user has it. */
void files_set_owner(struct files_struct *files, void *owner);
void *files_owner(const struct files_struct *files);
/* Numbers from here on have never been open: the size it has grown to. */
unsigned int files_size(struct files_struct *files);

/* ---- Numbers ---- */

/* @flags: O_CLOEXEC; BERTH_ANYFD, which a design may ignore. */
int alloc_fd(struct files_struct *files, unsigned int min, unsigned int flags);
/* Reserve and install in one step; on failure the reference is the caller's. */
int receive_fd(struct files_struct *files, struct berth_file *file,
	       unsigned int flags);
/* Would alloc_fd() find a number? */
bool files_has_room(struct files_struct *files);
void put_unused_fd(struct files_struct *files, unsigned int fd);
int close_fd(struct files_struct *files, unsigned int fd);
int f_dupfd(struct files_struct *files, unsigned int fd, unsigned int min,
	    unsigned int flags);
int ksys_dup2(struct files_struct *files, unsigned int oldfd,
	      unsigned int newfd);
int ksys_dup3(struct files_struct *files, unsigned int oldfd,
	      unsigned int newfd, unsigned int flags);
int get_close_on_exec(struct files_struct *files, unsigned int fd);
int set_close_on_exec(struct files_struct *files, unsigned int fd, bool set);
unsigned int files_count(struct files_struct *files);
int files_set_limit(struct files_struct *files, unsigned int limit);
unsigned int files_limit(const struct files_struct *files);
/* The limit of the limit; it can only be lowered. */
int files_set_maximum(struct files_struct *files, unsigned int maximum);
unsigned int files_maximum(const struct files_struct *files);
/* The lowest number from @from on that finds a file, or FD_NONE. */
unsigned int fd_next_open(struct files_struct *files, unsigned int from);
/* A number found @file, and does not any more: flush it, and drop the number's
 * reference when that may be. */
int close_left(struct files_struct *files, unsigned int fd,
	       struct berth_file *file);
/* If @fd finds @old: let it find @file, or be free when that is NULL.  Then the
 * number's reference to @old is the caller's and the caller's to @file is the
 * number's. */
bool fd_exchange(struct files_struct *files, unsigned int fd,
		 struct berth_file *old, struct berth_file *file);
/* Move a number and its close-on-exec bit; what @to found is closed. */
int renumber_fd(struct files_struct *files, unsigned int from, unsigned int to);

/*
 * ---- The hot paths, inline where the design allows ----
 *
 * void fd_install(files, fd, file)		the reference goes to the table
 * struct berth_file *fdget_rcu(files, fd)	a borrow, or NULL
 * void fdput_rcu(file)				ends it
 * struct berth_file *fget(files, fd)		an owned reference, or NULL
 */
#ifdef BERTH_TABLE_H
#include BERTH_TABLE_H
#else
#include "files/fdtable.h"
#endif

/* Is a borrow a read section, too?  Where it is not, who needs one makes it. */
#ifndef FDGET_IS_A_SECTION
#define FDGET_IS_A_SECTION 1
#endif

/* Does nobody see a file that has no owner?  Then its end waits for nobody. */
#ifndef FILES_FREED_AT_ONCE
#define FILES_FREED_AT_ONCE 0
#endif

/* What others open or close beside the loop may be met or missed. */
#define for_each_open_fd_from(files, fd, from)                      \
	for ((fd) = fd_next_open((files), (from)); (fd) != FD_NONE; \
	     (fd) = fd_next_open((files), (fd) + 1))
#define for_each_open_fd(files, fd) for_each_open_fd_from((files), fd, 0)

/* ---- Built on these, the same for every design: exec.c, sweep.c ---- */
void do_close_on_exec(struct files_struct *files);
/* Let *@files be a table of the caller alone: 0 or -ENOMEM. */
int unshare_files(struct files_struct **files);
int close_range_fd(struct files_struct **files, unsigned int first,
		   unsigned int last, unsigned int flags);

/* The public handle of a table is never looked into. */
static inline struct files_struct *table_of(const struct berth_files *handle)
{
	return (struct files_struct *)handle;
}

static inline struct berth_files *handle_of(struct files_struct *files)
{
	return (struct berth_files *)files;
}

#endif
