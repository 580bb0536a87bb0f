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
 * A use is told by table, number and file.  So a file that comes back to the number
 * it was taken from (dup2 of a number onto another one of the same file) brings
 * uses that a closer of before waits for as well.
 *
 * *From inside*.  Who closes what he is himself inside of would wait for ever.
 * The number is freed all the same; his uses get references of their own, which
 * they give back when they leave; and the close says -EDEADLK.
 *
 * *Ordering*.  Everything is under the lists' locks, or ordered by them.
 */
#include <errno.h>

#include "base/fork.h"
#include "base/sys.h"
#include "files/files.h"

/* How many marked uses have left, modulo 2^32; closers sleep on it. */
static uint32_t departures;

/* ---- Uses ---- */

/* What a thread is known by. */
static const void *this_thread(void)
{
	return &rcu_self;
}

static void use_enter(struct berth_use *use)
{
	struct rcu_thread *self = rcu_thread_self();

	use->thread = this_thread();
	use->list = self;
	spin_lock(&self->uses_lock);
	use->next = self->uses;
	use->pprev = &self->uses;
	if (use->next)
		use->next->pprev = &use->next;
	self->uses = use;
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
		      unsigned int fd, const struct berth_file *file)
{
	return !use->owns && table_of(use->files) == files &&
	       (unsigned int)use->fd == fd && use->file == file;
}

/* ---- Closing ---- */

/* The caller's own uses of what he closes live on references.  Were there any? */
static bool own_uses(struct files_struct *files, unsigned int fd,
		     struct berth_file *file)
{
	struct rcu_thread *self = rcu_thread_self();
	struct berth_use *use;
	bool any = false;

	spin_lock(&self->uses_lock);
	for (use = self->uses; use; use = use->next)
		if (use->thread == this_thread() &&
		    use_is_of(use, files, fd, file)) {
			get_file(file);
			use->owns = true;
			any = true;
		}
	spin_unlock(&self->uses_lock);
	return any;
}

/* Is anybody inside?  He will say so when he leaves. */
static bool mark_uses(struct files_struct *files, unsigned int fd,
		      const struct berth_file *file)
{
	struct rcu_thread *thread = NULL;
	struct berth_use *use;
	bool found = false;

	while ((thread = rcu_thread_next(thread)) != NULL) {
		spin_lock(&thread->uses_lock);
		for (use = thread->uses; use; use = use->next)
			if (use_is_of(use, files, fd, file)) {
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
	uint32_t seen;
	int ret = 0;

	if (likely(!files->close_waits))
		return 0;
	if (own_uses(files, fd, file))
		ret = -EDEADLK;
	if (rcu_read_held())
		return -EDEADLK;
	rcu_wait_for_readers();
	for (;;) {
		/* Relaxed: it cannot be later than the first list's unlock,
		 * and who was marked counts himself after that. */
		seen = load_relaxed(&departures);
		if (!mark_uses(files, fd, file))
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

/*
 * Who was inside on another thread is not there in the child.  What this
 * thread is inside of stays, and no closer waits for it.
 */
static void uses_resume(bool in_child)
{
	struct rcu_thread *thread = NULL;
	struct berth_use *use;

	if (!in_child)
		return;
	while ((thread = rcu_thread_next(thread)) != NULL) {
		spin_renew(&thread->uses_lock);
		if (thread != rcu_self)
			thread->uses = NULL;
		for (use = thread->uses; use; use = use->next)
			use->marked = false;
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
	struct files_struct *files;
	int ret;

	if (options->struct_size != sizeof(*options) ||
	    (options->flags & ~BERTH_FILES_CLOSE_WAITS))
		return -EINVAL;
	ret = berth_files_create(handle);
	if (ret)
		return ret;
	files = table_of(*handle);
	files->close_waits = options->flags & BERTH_FILES_CLOSE_WAITS;
	if (options->maximum)
		ret = files_set_maximum(files, options->maximum);
	if (!ret && options->limit)
		ret = files_set_limit(files, options->limit);
	if (ret)
		berth_files_put_table(*handle);
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
