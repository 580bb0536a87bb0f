/* SPDX-License-Identifier: MIT */
/*
 * A close that waits until nobody is inside any more.
 *
 * Operations of before may go on after a close, on the old file; that is what
 * Linux does.  A table can be made so that its close, and whatever else takes a
 * file from a number (dup2, renumber, exec, the table's end), returns only when
 * those who found the file by that number have left it: borrows, and uses.
 *
 * *Structure*.  A use is a borrow that may sleep.  It stands in a list of its
 * thread's, under that list's lock, on lines that other threads touch only when
 * they close something in such a table.  So entering writes nothing shared, and
 * takes no reference: the number's own is not dropped before the use has left.
 * (In a table whose close does not wait a use takes a reference instead.)
 *
 * *Closing*.  The closer has taken the file out of the slot.  It waits for a
 * grace period: then every borrow of before has ended, and every use that had
 * found the file stands in a list.  It goes through all lists until it finds no
 * such use; when it finds one it marks it, and sleeps until some use that was
 * marked has left.
 *
 *	closer				use
 *	slot = NULL			read section begins
 *	grace period			slot -> file
 *	reads @departures		into the list, under its lock
 *	lists, under their locks	read section ends
 *	found: marks, sleeps unless	...
 *	  @departures has changed	out of the list, under its lock
 *					marked: @departures + 1, wakes all
 *
 * A mark is set and read under the list's lock, and @departures is read before
 * the lists are, so a use that leaves after it was marked is noticed.
 *
 * The same file may come back to the same number (dup2 between two of its numbers),
 * and with it uses that are nothing to the closer.  A use notes how many ends it has
 * seen, before it looks the number up; the closer counts his, after the slot has
 * changed: who has seen that has seen the slot as well.
 *
 * *From inside*.  Who closes what he is himself inside of would wait for ever.
 * The number is freed all the same; his uses get references of their own, which
 * they give back when they leave; and the close says -EDEADLK.
 *
 * *Ordering*.  Everything is under the lists' locks, or ordered by them, but
 *	REL(fd_left:A) pairs with ACQ(berth_files_enter:A)
 */
#include <errno.h>

#include "base/fork.h"
#include "base/sys.h"
#include "files/files.h"

/* How many marked uses have left, modulo 2^32; closers sleep on it. */
static uint32_t departures;

/* ---- Uses ---- */

/* How often a number's use has come to an end in a table whose close waits: a use
 * that began after it saw one is not what that closer waits for. */
static uint64_t endings cache_aligned;

/* What a thread is known by; no other one ever has the same. */
static uint64_t this_thread(void)
{
	static uint64_t threads;
	static __thread uint64_t id;

	if (unlikely(!id))
		id = 1 + fetch_add_relaxed(&threads, UINT64_C(1));
	return id;
}

/* Under the list's lock. */
static void use_list(struct berth_use *use, struct rcu_thread *thread)
{
	use->list = thread;
	use->next = thread->uses;
	use->pprev = &thread->uses;
	if (use->next)
		use->next->pprev = &use->next;
	thread->uses = use;
}

static void use_enter(struct berth_use *use)
{
	struct rcu_thread *self = rcu_thread_self();

	use->thread = this_thread();
	spin_lock(&self->uses_lock);
	use_list(use, self);
	spin_unlock(&self->uses_lock);
}

/* Returns whether a closer waits for it. */
static bool use_leave(struct berth_use *use)
{
	struct rcu_thread *thread = use->list;
	bool marked;

	spin_lock(&thread->uses_lock);
	*use->pprev = use->next;
	if (use->next)
		use->next->pprev = use->pprev;
	marked = use->marked;
	spin_unlock(&thread->uses_lock);
	return marked;
}

static bool use_is_of(const struct berth_use *use, struct files_struct *files,
		      unsigned int fd, const struct berth_file *file,
		      uint64_t ending)
{
	return !use->owns && use->since < ending &&
	       table_of(use->files) == files && (unsigned int)use->fd == fd &&
	       use->file == file;
}

/* ---- Closing ---- */

/* The caller's own uses of what he closes live on references.  Were there any? */
static bool own_uses(struct files_struct *files, unsigned int fd,
		     struct berth_file *file, uint64_t ending)
{
	struct rcu_thread *thread = NULL;
	struct berth_use *use;
	bool any = false;

	/* A thread may have had another list when it entered. */
	while ((thread = rcu_thread_next(thread)) != NULL) {
		spin_lock(&thread->uses_lock);
		for (use = thread->uses; use; use = use->next)
			if (use->thread == this_thread() &&
			    use_is_of(use, files, fd, file, ending)) {
				get_file(file);
				use->owns = true;
				any = true;
			}
		spin_unlock(&thread->uses_lock);
	}
	return any;
}

/* Is anybody inside?  He will say so when he leaves. */
static bool mark_uses(struct files_struct *files, unsigned int fd,
		      const struct berth_file *file, uint64_t ending)
{
	struct rcu_thread *thread = NULL;
	struct berth_use *use;
	bool found = false;

	while ((thread = rcu_thread_next(thread)) != NULL) {
		spin_lock(&thread->uses_lock);
		for (use = thread->uses; use; use = use->next)
			if (use_is_of(use, files, fd, file, ending)) {
				use->marked = true;
				found = true;
			}
		spin_unlock(&thread->uses_lock);
	}
	return found;
}

int fd_left(struct files_struct *files, unsigned int fd,
	    struct berth_file *file)
{
	uint64_t ending;
	uint32_t seen;
	int ret = 0;

	if (likely(!files->close_waits))
		return 0;
	/* REL(fd_left:A) pairs with ACQ(berth_files_enter:A) */
	ending = 1 + fetch_add_release(&endings, UINT64_C(1));
	if (own_uses(files, fd, file, ending))
		ret = -EDEADLK;
	if (rcu_read_held())
		return -EDEADLK;
	rcu_wait_for_readers();
	for (;;) {
		/* Relaxed: it cannot be later than the first list's unlock,
		 * and who was marked counts himself after that. */
		seen = load_relaxed(&departures);
		if (!mark_uses(files, fd, file, ending))
			return ret;
		sys_futex_wait(&departures, seen);
	}
}

int fd_content_leave(struct files_struct *files, unsigned int fd,
		     struct berth_file *content)
{
	struct berth_file *file = fd_file_of(content);
	int ret = filp_flush(file, handle_of(files));
	int left = fd_left(files, fd, file);

	return left ? left : ret;
}

int fd_content_close(struct files_struct *files, unsigned int fd,
		     struct berth_file *content)
{
	int ret = fd_content_leave(files, fd, content);

	fd_content_put(content);
	return ret;
}

int close_left(struct files_struct *files, unsigned int fd,
	       struct berth_file *file)
{
	return fd_content_close(files, fd, file);
}

/* ---- Fork of the host process ---- */

/* The others' stand in no list any more: whoever leaves one that was handed to
 * him does nothing. */
static void uses_keep_own(struct rcu_thread *thread)
{
	struct berth_use *use = thread->uses, *next;

	thread->uses = NULL;
	for (; use; use = next) {
		next = use->next;
		use->marked = false;
		use->list = NULL;
		if (use->thread == this_thread())
			use_list(use, thread);
	}
}

/*
 * Who was inside on another thread is not there in the child.  What this
 * thread is inside of stays, and no closer waits for it.
 */
static void uses_resume(bool in_child)
{
	struct rcu_thread *thread = NULL;

	if (!in_child)
		return;
	while ((thread = rcu_thread_next(thread)) != NULL) {
		spin_renew(&thread->uses_lock);
		uses_keep_own(thread);
	}
}

static const struct fork_handler uses_fork = {
	.resume = uses_resume,
};

__attribute__((constructor)) static void uses_setup(void)
{
	fork_register(FORK_USES, &uses_fork);
}

/* ---- Exported ---- */

int berth_files_create_with(struct berth_files **handle,
			    const struct berth_files_options *options)
{
	struct berth_files *made;
	struct files_struct *files;
	int ret;

	if (options->struct_size != sizeof(*options) ||
	    (options->flags & ~BERTH_FILES_CLOSE_WAITS))
		return -EINVAL;
	ret = berth_files_create(&made);
	if (ret)
		return ret;
	files = table_of(made);
	files->close_waits = options->flags & BERTH_FILES_CLOSE_WAITS;
	if (options->maximum)
		ret = files_set_maximum(files, options->maximum);
	if (!ret && options->limit)
		ret = files_set_limit(files, options->limit);
	if (ret)
		berth_files_put_table(made);
	else
		*handle = made;
	return ret;
}

int berth_files_enter(struct berth_files *handle, int fd, struct berth_use *use)
{
	struct files_struct *files = table_of(handle);

	*use = (struct berth_use){ .files = handle, .fd = fd };
	if (!files->close_waits) {
		use->owns = true;
		use->file = fget(files, (unsigned int)fd);
		return use->file ? 0 : -EBADF;
	}
	/* ACQ(berth_files_enter:A) pairs with REL(fd_left:A) */
	use->since = load_acquire(&endings);
	use->file = fdget_rcu(files, (unsigned int)fd);
	if (!use->file)
		return -EBADF;
	use_enter(use);
	fdput_rcu(use->file);
	return 0;
}

void berth_files_leave(struct berth_use *use)
{
	bool marked = use->list && use_leave(use);

	if (use->owns)
		fput(use->file);
	if (marked) {
		fetch_add_relaxed(&departures, 1u); /* See fd_left(). */
		sys_futex_wake(&departures, INT_MAX);
	}
	rcu_poll();
}
