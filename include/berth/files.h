/* SPDX-License-Identifier: MIT */
/*
 * Descriptor tables: small numbers for your own objects.
 *
 * Embed a struct berth_file in an object, give it operations, put it in a
 * table and look it up by number.  A borrow writes no shared memory; a close
 * that races with it is always safe.
 *
 *	struct berth_files *files;
 *	int fd;
 *
 *	berth_files_create(&files);
 *	berth_file_init(&obj->file, &obj_ops, O_RDWR, 0);
 *	fd = berth_files_reserve(files, 0, 0);
 *	berth_files_install(files, fd, &obj->file);
 *	...
 *	file = berth_files_borrow(files, fd);
 *	if (file) {
 *		...			nothing in here sleeps
 *		berth_files_return(file);
 *	}
 *	berth_files_close(files, fd);
 *
 * Signal handlers, on a thread that has called berth before, may borrow and
 * return, get, put (not as the last one), and ask for close-on-exec by
 * berth_files_getfd().  No other call here is for them.
 *
 * Every call takes any int as a descriptor: a number that is negative, out of
 * range or empty gives -EBADF or NULL, never a crash.
 */
#ifndef BERTH_FILES_H
#define BERTH_FILES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>

#include <berth/kref.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A descriptor table.  Threads that share it are counted by get and put. */
struct berth_files;
struct berth_file;
/* How many files may be open at once. */
struct berth_file_budget;

/* Where a number is asked for: any free one will do, so that threads which
 * open at the same time need not agree on the lowest. */
#define BERTH_ANYFD 0x40000000u

/* ---- Files ---- */

/**
 * struct berth_file_operations - what an object does at the ends of its life.
 * @flush: called at every close of a number (close, dup2 onto it, exec,
 *	the table's end), on the closing thread, before the number's reference
 *	is dropped; returns 0 or a negative errno, which close hands on.  dup2
 *	ignores it.  Optional.
 * @release: called exactly once, on the thread that drops the last owned
 *	reference (with BERTH_FILE_RELEASE_WAITS: after the last borrow has
 *	ended, on the thread that ends the batch).  Optional.
 * @free: called exactly once, after @release and after every borrow that
 *	could see the object has ended; gives the memory back.  It runs on a
 *	thread that is leaving some call of berth, or in berth_drain(), holds
 *	no lock of berth's that it could want, and must not wait.  Required.
 * @check_flags: may the status flags become @flags (all of them, with the access
 *	mode)?  0, or the negative errno of berth_files_setfl(), which may ask
 *	again when others change them meanwhile.  Inside a borrow: it must not
 *	wait.  Optional.
 */
struct berth_file_operations {
	int (*flush)(struct berth_file *file, struct berth_files *files);
	void (*release)(struct berth_file *file);
	void (*free)(struct berth_file *file);
	int (*check_flags)(struct berth_file *file, unsigned int flags);
};

/* Release waits until every borrow has ended, see @release. */
#define BERTH_FILE_RELEASE_WAITS 0x1u
/* Only a place (O_PATH): berth_files_get() does not find it.  A borrow does, for
 * it looks at nothing of the file; who borrows has @mode before him. */
#define BERTH_FILE_PATH 0x2u
/* It keeps O_ASYNC when berth_files_setfl() sets it. */
#define BERTH_FILE_ASYNC 0x4u

/**
 * struct berth_rights - what may be done by a number, in bits of the caller's.
 * @base: with what the number finds.
 * @inheriting: by numbers that are made from it, as a runtime has it (a file
 *	that is opened below a directory).
 */
struct berth_rights {
	uint64_t base;
	uint64_t inheriting;
};

#define BERTH_RIGHTS_ALL UINT64_MAX

/* An object whose end is deferred until readers have left.  Private. */
struct berth_retired {
	struct berth_retired *next;
	void (*func)(struct berth_retired *retired);
};

/**
 * struct berth_file - the part of your object that berth manages.
 *
 * Its size is fixed.  @ops, @flags and @mode may be read by anyone who holds or
 * borrows the file; @flags are the O_* access mode and status flags, shared by
 * all duplicates.  The rest is private.
 */
struct berth_file {
	const struct berth_file_operations *ops;
	struct berth_kref refs;
	unsigned int flags;
	unsigned int mode;
	unsigned int type;
	struct berth_retired retired;
	struct berth_file_budget *budget;
	void *reserved[2];
};

/**
 * berth_file_init() - start the life of a file, with one reference.
 * @file: the part of the caller's object that berth manages.
 * @ops: operations; they outlive the file.
 * @flags: O_* access mode and status flags.
 * @mode: 0, or of BERTH_FILE_RELEASE_WAITS, BERTH_FILE_PATH, BERTH_FILE_ASYNC.
 *
 * The reference belongs to the caller; berth_files_install() takes it over.
 * Operations that are NULL, or have no @free, are reported as
 * "file-without-operations"; such a file does nothing at its end.
 *
 * Context: any.
 */
void berth_file_init(struct berth_file *file,
		     const struct berth_file_operations *ops,
		     unsigned int flags, unsigned int mode);

/**
 * berth_file_init_counted() - the same for a file that counts as open.
 * @file: the part of the caller's object that berth manages.
 * @ops: operations; they outlive the file.
 * @flags: O_* access mode and status flags.
 * @mode: as berth_file_init().
 * @budget: where it counts, until it has been released; it outlives that.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -ENFILE when as many files as may be are open, and then the file's
 * life has not started.
 */
int berth_file_init_counted(struct berth_file *file,
			    const struct berth_file_operations *ops,
			    unsigned int flags, unsigned int mode,
			    struct berth_file_budget *budget);

/**
 * berth_file_budget_create() - how many files may be open at once.
 * @max: at least 1.
 * @budget: where the budget goes.
 *
 * It is exact: never are more open, and -ENFILE is given only when at some instant
 * of the call as many are.  As long as it is far from that, files that are opened
 * and closed on different processors write nothing in common.
 *
 * Context: any thread.
 * Return: 0; -EINVAL when @max is 0; -ENOMEM.
 */
int berth_file_budget_create(uint64_t max, struct berth_file_budget **budget);

/**
 * berth_file_budget_destroy() - end a budget.
 * @budget: a budget that nobody opens files by any more; NULL is accepted.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -EBUSY when a file that counts has not been released, and then
 * nothing has changed.
 */
int berth_file_budget_destroy(struct berth_file_budget *budget);

/**
 * berth_file_budget_count() - how many files are open.
 * @budget: the budget.
 *
 * It stops the processors' own counting for a moment: not for a hot path.
 *
 * Context: any thread, not inside a borrow.
 * Return: the count at some instant during the call.
 */
uint64_t berth_file_budget_count(struct berth_file_budget *budget);

/**
 * berth_file_get() - own one more reference.
 * @file: a file that the caller owns.  (In a borrow a file may be past its
 *	last owner: use berth_files_get() there.)
 *
 * Context: any thread; lock-free.
 */
void berth_file_get(struct berth_file *file);

/**
 * berth_file_put() - give an owned reference back.
 * @file: a file that the caller owns; he no longer does.  NULL is accepted.
 *
 * Context: any thread, not inside a borrow: the last put there is reported as
 * "close-inside-borrow".  May run @release here and @free of other files.
 */
void berth_file_put(struct berth_file *file);

/* ---- Tables ---- */

/**
 * berth_files_create() - a new, empty table with one user.
 * @files: where the table goes.
 *
 * Its soft limit is 1024 descriptors; see berth_files_set_limit().
 *
 * Context: any thread.
 * Return: 0, or -ENOMEM.
 */
int berth_files_create(struct berth_files **files);

/* A close returns when those who were inside by the number have left. */
#define BERTH_FILES_CLOSE_WAITS 0x1u

/**
 * struct berth_files_options - how a table is to be.
 * @struct_size: sizeof(struct berth_files_options) of the caller.
 * @limit: the soft limit; 0 is 1024.
 * @maximum: what the limit may be raised to; 0 is 1,073,741,824.
 * @flags: BERTH_FILES_CLOSE_WAITS, see berth_files_enter(), or 0.
 */
struct berth_files_options {
	size_t struct_size;
	unsigned int limit;
	unsigned int maximum;
	unsigned int flags;
};

/**
 * berth_files_create_with() - a new, empty table with options.
 * @files: where the table goes.
 * @options: how it is to be; a copy of the table is alike.
 *
 * Context: any thread.
 * Return: 0; -EINVAL for another size or unknown flags; -EPERM when the limit
 * is beyond the maximum, or that beyond its own; -ENOMEM.
 */
int berth_files_create_with(struct berth_files **files,
			    const struct berth_files_options *options);

/**
 * berth_files_get_table() - one more user (a thread) of the same table.
 * @files: a table of which the caller is a user.
 *
 * Context: any thread; lock-free.
 * Return: @files.
 */
struct berth_files *berth_files_get_table(struct berth_files *files);

/**
 * berth_files_put_table() - one user less; the last one closes everything.
 * @files: a table of which the caller is a user; NULL is accepted.
 *
 * Context: any thread, not inside a borrow.  The last user's call flushes and
 * closes every open number, from the lowest up.
 */
void berth_files_put_table(struct berth_files *files);

/**
 * berth_files_fork() - copy a table, as fork does.
 * @files: the table to copy; others may use it meanwhile.
 * @copy: where the new table goes.
 *
 * The copy holds the open descriptors and their close-on-exec bits as of one
 * instant during the call; numbers that were reserved but not installed are
 * free in it.  Files are shared, and so are their offsets.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0, or -ENOMEM.
 */
int berth_files_fork(struct berth_files *files, struct berth_files **copy);

/**
 * berth_files_exec() - close every descriptor that is marked close-on-exec.
 * @files: the table; make it unshared first, as exec does.
 *
 * Context: any thread, not inside a borrow.
 */
void berth_files_exec(struct berth_files *files);

/* ---- Limits ---- */

/**
 * berth_files_set_limit() - set the soft limit.
 * @files: the table.
 * @limit: new descriptors are below this number, 0 to 1,073,741,824.
 *	Lowering it leaves higher descriptors usable.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0, or -EPERM when @limit is beyond the table's maximum.
 */
int berth_files_set_limit(struct berth_files *files, unsigned int limit);

/**
 * berth_files_set_maximum() - lower what the limit may be raised to.
 * @files: the table.
 * @maximum: 0 to what the maximum is now, which is 1,073,741,824 in a new
 *	table.  A higher limit is lowered with it.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0, or -EPERM when @maximum is above the present one.
 */
int berth_files_set_maximum(struct berth_files *files, unsigned int maximum);

/**
 * berth_files_maximum() - what the limit may be raised to.
 * @files: the table.
 *
 * Context: any.
 * Return: the highest limit.
 */
unsigned int berth_files_maximum(const struct berth_files *files);

/**
 * berth_files_limit() - the soft limit.
 * @files: the table.
 *
 * Context: any.
 * Return: the number below which new descriptors are.
 */
unsigned int berth_files_limit(const struct berth_files *files);

/**
 * berth_files_count() - how many descriptors are open or reserved.
 * @files: the table.
 *
 * Context: any thread, not inside a borrow.
 * Return: the count at some instant during the call.
 */
unsigned int berth_files_count(struct berth_files *files);

/* ---- Numbers ---- */

/**
 * berth_files_reserve() - take the lowest free number.
 * @files: the table.
 * @min: the lowest number that will do.
 * @flags: O_CLOEXEC and BERTH_ANYFD, or 0.
 *
 * The number stays invisible to lookups until berth_files_install(); give it
 * back with berth_files_unreserve() otherwise.
 *
 * Context: any thread, not inside a borrow (the table may grow).
 * Return: the descriptor; -EMFILE when no number from @min up to the soft
 * limit is free; -EINVAL for another flag or a negative @min; -ENOMEM.
 */
int berth_files_reserve(struct berth_files *files, int min, unsigned int flags);

/**
 * berth_files_unreserve() - give a reserved number back.
 * @files: the table.
 * @fd: a number from berth_files_reserve() that was not installed.  Anything
 *	else is reported as "unreserve-not-reserved".
 *
 * Context: any thread, not inside a borrow.
 */
void berth_files_unreserve(struct berth_files *files, int fd);

/**
 * berth_files_install() - make a reserved number find a file.
 * @files: the table.
 * @fd: a number from berth_files_reserve(); installing anything else, or
 *	twice, is reported as "install-not-reserved", and the reference stays
 *	the caller's.
 * @file: the file, complete; the caller's reference goes to the table.  NULL
 *	is reported as "install-without-file", and the number stays reserved.
 *
 * Context: any thread; writes nothing but the slot.
 */
void berth_files_install(struct berth_files *files, int fd,
			 struct berth_file *file);

/**
 * berth_files_open() - reserve and install in one step.
 * @files: the table.
 * @file: the file, complete; the caller's reference goes to the table, unless
 *	the call fails.
 * @flags: O_CLOEXEC and BERTH_ANYFD, or 0.
 *
 * The number is in use from the instant at which lookups find the file.
 *
 * Context: any thread, not inside a borrow (the table may grow).
 * Return: the descriptor; -EMFILE; -EINVAL for another flag; -ENOMEM.
 */
int berth_files_open(struct berth_files *files, struct berth_file *file,
		     unsigned int flags);

/* ---- Lookups ---- */

/**
 * berth_files_get() - own the file behind a number.
 * @files: the table.
 * @fd: any int.
 *
 * Context: any thread; lock-free.
 * Return: the file, with a reference for berth_file_put(); NULL when @fd is
 * not open, or finds only a place (BERTH_FILE_PATH).
 */
struct berth_file *berth_files_get(struct berth_files *files, int fd);

/* berth_files_get_raw() - the same, and it finds places, too. */
struct berth_file *berth_files_get_raw(struct berth_files *files, int fd);

/**
 * berth_files_borrow() - use the file behind a number for a moment.
 * @files: the table.
 * @fd: any int.
 *
 * The file stays valid, and stays that file, until berth_files_return() on
 * the same thread, whoever closes the number meanwhile.  Nothing in between
 * may sleep, wait, close the last use of a file, or switch coroutines.
 * Borrows nest.
 *
 * It finds places (BERTH_FILE_PATH), too, since it does not touch the file.
 *
 * Context: any thread; wait-free after a thread's first call; writes no
 * shared memory.
 * Return: the file, or NULL when @fd is not open (then there is nothing to
 * return).
 */
struct berth_file *berth_files_borrow(struct berth_files *files, int fd);

/**
 * berth_files_borrow_of() - the same, if the object is of a given kind.
 * @files: the table.
 * @fd: any int.
 * @ops: what its operations have to be.
 *
 * Context: as berth_files_borrow().
 * Return: the file, or NULL when @fd is not open or finds another kind of object
 * (then there is nothing to return).
 */
struct berth_file *berth_files_borrow_of(
	struct berth_files *files, int fd,
	const struct berth_file_operations *ops);

/**
 * berth_files_return() - end a borrow.
 * @file: what berth_files_borrow() returned.
 *
 * Context: the thread that borrowed.
 */
void berth_files_return(struct berth_file *file);

/* ---- Uses that may sleep ---- */

/**
 * struct berth_use - to be inside of what a number finds, for as long as it
 * takes.
 * @file: the file, between berth_files_enter() and berth_files_leave().
 *
 * The rest is private.  It is the caller's memory, usually on his stack.
 */
struct berth_use {
	struct berth_file *file;
	struct berth_files *files;
	int fd;
	unsigned char owns, marked;
	uint64_t thread, since;
	void *list;
	struct berth_use *next, **pprev;
};

/**
 * berth_files_enter() - a borrow that may sleep.
 * @files: the table.
 * @fd: any int.
 * @use: the caller's memory, until berth_files_leave().
 *
 * The file stays valid, and stays that file, until berth_files_leave().  In a
 * table with BERTH_FILES_CLOSE_WAITS a close of the number (dup2 onto it, a
 * renumber of it or onto it, exec, the table's end) runs the file's flush, which
 * can wake those who sleep inside, and then returns only when all who are inside
 * by that number have left; nobody enters meanwhile, for the number is free.
 * Borrows count as being inside, references of berth_files_get() do not.  In any
 * other table this is berth_files_get() with another ending.
 *
 * Context: any thread, not inside a borrow, not in a signal handler; takes no
 * lock of others' and writes no shared memory in a table whose close waits.
 * Return: 0, or -EBADF when @fd is not open (then there is nothing to leave).
 */
int berth_files_enter(struct berth_files *files, int fd, struct berth_use *use);

/**
 * berth_files_leave() - end of a use.
 * @use: what berth_files_enter() has filled in.
 *
 * Context: any thread, not inside a borrow.  May wake closers; where the
 * use's file was closed from inside, it may be its last.
 */
void berth_files_leave(struct berth_use *use);

/* ---- Status flags ---- */

/**
 * berth_files_getfl() - access mode and status flags of a file (F_GETFL).
 * @files: the table.
 * @fd: any int; places are found, too.
 *
 * Context: any thread, inside a borrow and in a signal handler, too.
 * Return: the flags, or -EBADF.
 */
int berth_files_getfl(struct berth_files *files, int fd);

/**
 * berth_files_setfl() - change the status flags of a file (F_SETFL).
 * @files: the table.
 * @fd: any int; a place is not found.
 * @flags: O_APPEND, O_NONBLOCK, O_DIRECT and O_NOATIME, and for a file with
 *	BERTH_FILE_ASYNC also O_ASYNC, become what they are here; the rest is
 *	ignored.
 *
 * Context: any thread; takes no lock.
 * Return: 0; -EBADF; what the file's check_flags() returned.
 */
int berth_files_setfl(struct berth_files *files, int fd, unsigned int flags);

/* ---- Close and duplicates ---- */

/**
 * berth_files_close() - free a number and drop its reference.
 * @files: the table.
 * @fd: any int.
 *
 * Operations in progress finish on the old file; in a table with
 * BERTH_FILES_CLOSE_WAITS the call returns when they have.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -EBADF when @fd is not open; -EDEADLK, in a table whose close
 * waits, when the caller is inside himself (it did not wait; his uses own the
 * file now); otherwise what the file's flush returned.  The number is free in
 * every case.
 */
int berth_files_close(struct berth_files *files, int fd);

/**
 * berth_files_dup() - the lowest free number for the same file.
 * @files: the table.
 * @fd: any int.
 *
 * Context: any thread, not inside a borrow.
 * Return: the new descriptor, without close-on-exec; -EBADF; -EMFILE;
 * -ENOMEM.
 */
int berth_files_dup(struct berth_files *files, int fd);

/**
 * berth_files_dup2() - let a given number find the same file.
 * @files: the table.
 * @oldfd: any int.
 * @newfd: any int.  What it found before is closed in the same instant; an
 *	error of its flush is ignored.
 *
 * Context: any thread, not inside a borrow.
 * Return: @newfd, without close-on-exec; @newfd unchanged when both are equal
 * and open; -EBADF when @oldfd is not open or @newfd is negative or at or
 * above the soft limit; -EBUSY when @newfd is reserved and not yet installed;
 * -ENOMEM.
 */
int berth_files_dup2(struct berth_files *files, int oldfd, int newfd);

/**
 * berth_files_dup3() - dup2 with flags.
 * @files: the table.
 * @oldfd: any int.
 * @newfd: any int.
 * @flags: 0 or O_CLOEXEC.
 *
 * Context: any thread, not inside a borrow.
 * Return: as berth_files_dup2(); -EINVAL for other flags or equal numbers.
 */
int berth_files_dup3(struct berth_files *files, int oldfd, int newfd,
		     unsigned int flags);

/**
 * berth_files_dupfd() - F_DUPFD and F_DUPFD_CLOEXEC.
 * @files: the table.
 * @fd: any int.
 * @min: the lowest number that will do.
 * @flags: 0 or O_CLOEXEC.
 *
 * Context: any thread, not inside a borrow.
 * Return: the new descriptor; -EBADF; -EINVAL when @min is negative or at or
 * above the soft limit, or for another flag; -EMFILE; -ENOMEM.
 */
int berth_files_dupfd(struct berth_files *files, int fd, int min,
		      unsigned int flags);

/**
 * berth_files_renumber() - move a descriptor to another number.
 * @files: the table.
 * @from: any int; free afterwards.
 * @to: any int.  What it found before is closed in the same instant; an error
 *	of its flush is ignored.
 *
 * The close-on-exec bit moves along.  In a table with BERTH_FILES_CLOSE_WAITS
 * this is, for those who are inside by @from, a close of it: flush runs, and the
 * call returns when they have left.
 *
 * Context: any thread, not inside a borrow.
 * Return: @to, unchanged when both are equal and open; -EBADF when @from is
 * not open or @to is negative or at or above the soft limit; -EBUSY when @to
 * is reserved and not yet installed; -ENOMEM.
 */
int berth_files_renumber(struct berth_files *files, int from, int to);

/* ---- The bit close-on-exec ---- */

/**
 * berth_files_getfd() - the close-on-exec bit of a number (F_GETFD).
 * @files: the table.
 * @fd: any int.
 *
 * Takes no lock.  While the number changes hands the answer may be about the
 * file that comes.
 *
 * Context: any thread, inside a borrow and in a signal handler, too.
 * Return: 0, FD_CLOEXEC, or -EBADF.
 */
int berth_files_getfd(struct berth_files *files, int fd);

/**
 * berth_files_setfd() - set the close-on-exec bit of a number (F_SETFD).
 * @files: the table.
 * @fd: any int.
 * @fdflags: FD_CLOEXEC or 0; other bits are ignored, as Linux does.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0, or -EBADF.
 */
int berth_files_setfd(struct berth_files *files, int fd, int fdflags);

/* ---- Rights ---- */

/**
 * berth_files_rights() - what may be done by a number.
 * @files: the table.
 * @fd: any int.
 * @rights: where its rights go; all bits are set unless they were limited.
 *
 * The table keeps rights and hands them on to duplicates and copies; what a bit
 * means, and which call needs it, is the caller's affair: plain lookups do not
 * ask, berth_files_borrow_for() and berth_files_get_for() do.
 *
 * Context: any thread.
 * Return: 0, or -EBADF.
 */
int berth_files_rights(struct berth_files *files, int fd,
		       struct berth_rights *rights);

/**
 * berth_files_limit_rights() - take rights away from a number.
 * @files: the table.
 * @fd: any int.
 * @rights: what is to remain.
 *
 * Other numbers of the same file keep theirs.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -EBADF; -EPERM when @rights has a bit that the number has not;
 * -ENOMEM.
 */
int berth_files_limit_rights(struct berth_files *files, int fd,
			     const struct berth_rights *rights);

/**
 * berth_files_install_limited() - install a file that never had more rights.
 * @files: the table.
 * @fd: a number from berth_files_reserve(), as for berth_files_install().
 * @file: the file, complete; the caller's reference goes to the table.
 * @rights: what may be done by the number.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -ENOMEM; -EBADF, after a report, for a number that is not reserved.
 * Then number and reference are still the caller's.
 */
int berth_files_install_limited(struct berth_files *files, int fd,
				struct berth_file *file,
				const struct berth_rights *rights);

/**
 * berth_files_borrow_for() - borrow, if the number has the rights.
 * @files: the table.
 * @fd: any int.
 * @needed: bits of which the number's base rights must have all.
 * @file: where the file goes, until berth_files_return().
 *
 * File and rights are those of one instant.
 *
 * Context: as berth_files_borrow().
 * Return: 0; -EBADF when @fd is not open; -EPERM when it lacks a right.
 */
int berth_files_borrow_for(struct berth_files *files, int fd, uint64_t needed,
			   struct berth_file **file);

/**
 * berth_files_get_for() - own the file behind a number, if it has the rights.
 * @files: the table.
 * @fd: any int.
 * @needed: bits of which the number's base rights must have all.
 * @file: where the file goes, with a reference for berth_file_put().
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -EBADF when @fd is not open; -EPERM when it lacks a right.
 */
int berth_files_get_for(struct berth_files *files, int fd, uint64_t needed,
			struct berth_file **file);

/* ---- Files from elsewhere ---- */

/**
 * berth_files_receive() - a number for a file that came from elsewhere.
 * @files: the table.
 * @file: a file that the caller owns, and goes on owning: the table takes a
 *	reference of its own.
 * @flags: O_CLOEXEC and BERTH_ANYFD, or 0.
 * @where: where the number goes before anybody can find it; NULL if nowhere.
 *
 * Context: any thread, not inside a borrow (the table may grow).
 * Return: the descriptor; -EMFILE; -EINVAL for another flag; -ENOMEM.
 */
int berth_files_receive(struct berth_files *files, struct berth_file *file,
			unsigned int flags, int *where);

/**
 * berth_files_same() - do two numbers find one file (F_DUPFD_QUERY)?
 * @files: the table.
 * @fd1: any int.
 * @fd2: any int.
 *
 * Context: any thread, inside a borrow, too; takes no lock.
 * Return: 1 or 0; -EBADF when either is not open.
 */
int berth_files_same(struct berth_files *files, int fd1, int fd2);

/* ---- Many numbers at once ---- */

/* Flags of berth_files_close_range(), with Linux's values. */
#define BERTH_CLOSE_RANGE_UNSHARE 0x2u
#define BERTH_CLOSE_RANGE_CLOEXEC 0x4u

/**
 * berth_files_unshare() - have a table to oneself.
 * @files: the table of which the caller is a user.  If it has other users, a
 *	copy as of berth_files_fork() takes its place, and the caller's use of
 *	the former one ends.
 *
 * Numbers that are reserved and not installed are not in the copy: install
 * them, or give them back, before.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -ENOMEM, with nothing changed.
 */
int berth_files_unshare(struct berth_files **files);

/**
 * berth_files_close_range() - close a range of numbers, or mark it.
 * @files: the table of which the caller is a user.
 * @first: the first number.
 * @last: the last number; ~0U is the end of the table, wherever that is.
 * @flags: 0, or of BERTH_CLOSE_RANGE_UNSHARE (in a copy, if the table has other
 *	users; see berth_files_unshare()) and BERTH_CLOSE_RANGE_CLOEXEC (set
 *	close-on-exec instead of closing).
 *
 * One number after the other is closed, as by berth_files_close(), whose
 * results are ignored; what others open or close meanwhile may be met or
 * missed.  Numbers that are reserved and not installed are left alone.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -EINVAL when @first is above @last or for another flag; -ENOMEM
 * when there is no copy, with nothing changed.
 */
int berth_files_close_range(struct berth_files **files, unsigned int first,
			    unsigned int last, unsigned int flags);

/**
 * berth_files_closefrom() - close every number from one on.
 * @files: the table.
 * @first: the first number; a negative one is taken as 0.
 *
 * Context: any thread, not inside a borrow.
 */
void berth_files_closefrom(struct berth_files *files, int first);

/**
 * berth_files_holders() - every number, of every table, that finds a file.
 * @file: a file that the caller owns.
 * @fn: told of a table, which it has until it returns, and a number.  It may
 *	sleep, and change the table (close the number, say); whose the table is
 *	berth_files_owner() tells.
 * @arg: passed to @fn.
 *
 * All tables of the process are looked at.  What finds the file all the time is
 * told; what others open or close meanwhile, or in tables that are new, may be
 * met or missed.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0, or what @fn returned, if that is not 0: it was the last call.
 */
int berth_files_holders(struct berth_file *file,
			int (*fn)(struct berth_files *files, int fd, void *arg),
			void *arg);

/**
 * berth_files_set_owner(), berth_files_owner() - whose a table is.
 * @files: the table.
 * @owner: anything of the caller's: the process or task that uses the table.
 *
 * Nobody but the caller looks at it; a new table, and a copy, have NULL.
 *
 * Context: any.
 * Return: what was set last.
 */
void berth_files_set_owner(struct berth_files *files, void *owner);
void *berth_files_owner(const struct berth_files *files);

/**
 * berth_files_iterate() - visit the open descriptors in ascending order.
 * @files: the table.
 * @from: the first number to look at; a negative one is taken as 0.
 * @fn: told of a number and its file, which it has until it returns (to keep
 *	it, berth_file_get()).  It may sleep, and change the table.
 * @arg: passed to @fn.
 *
 * What is open all the time is visited; what others open or close meanwhile
 * may be met or missed.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0, or what @fn returned, if that is not 0: it was the last visit.
 */
int berth_files_iterate(struct berth_files *files, int from,
			int (*fn)(int fd, struct berth_file *file, void *arg),
			void *arg);

/**
 * berth_files_revoke() - take away every descriptor of files that are refused.
 * @files: the table.
 * @refuses: is this file, which @fd finds, refused?  It may sleep.
 * @arg: passed to @refuses.
 * @null_file: what the numbers find afterwards, each by a reference of its own
 *	(the caller keeps his); NULL closes them.  It is never refused.
 *
 * A number goes from the refused file to @null_file in one instant, keeps its
 * close-on-exec bit, and the file is closed as by berth_files_close().  One that
 * others change meanwhile is looked at again, and the whole table until nothing
 * is found: so that copies which others make meanwhile are met, too.  Only a
 * file that others move about (a copy made, and the original closed) may
 * escape.
 *
 * Context: any thread, not inside a borrow.
 * Return: how many descriptors were taken away.
 */
unsigned int berth_files_revoke(struct berth_files *files,
				bool (*refuses)(int fd, struct berth_file *file,
						void *arg),
				void *arg, struct berth_file *null_file);

/**
 * berth_files_check_poll() - which numbers of a poll() are not open?
 * @files: the table.
 * @fds: the array of a poll().  Each revents becomes POLLNVAL if its fd is
 *	neither negative nor open, 0 otherwise.
 * @nfds: entries of @fds.
 *
 * Context: any thread, inside a borrow, too; takes no lock.
 * Return: how many are POLLNVAL.
 */
unsigned int berth_files_check_poll(struct berth_files *files,
				    struct pollfd *fds, size_t nfds);

/**
 * berth_files_check_select() - are the numbers of a select() open?
 * @files: the table.
 * @nfds: numbers from 0 to @nfds - 1 are looked at, as far as the table has
 *	grown: what is beyond it is passed over, as Linux does.
 * @in: a set of @nfds bits, which may be more than FD_SETSIZE, or NULL.
 * @out: the same.
 * @ex: the same.
 *
 * Context: any thread, not inside a borrow.
 * Return: 0; -EINVAL when @nfds is negative; -EBADF when any set holds a number
 * that is not open.
 */
int berth_files_check_select(struct berth_files *files, int nfds,
			     const fd_set *in, const fd_set *out,
			     const fd_set *ex);

/* ---- Deferred frees ---- */

/**
 * berth_drain() - wait until what was deferred before has been freed.
 *
 * Waits for a grace period and runs every @free (and waiting @release) that
 * closes of before this call have left behind, on any thread.
 *
 * Context: any thread, not inside a borrow, no locks held that a @free or
 * @release could want.
 */
void berth_drain(void);

#ifdef __cplusplus
}
#endif

#endif
