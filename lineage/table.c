/* SPDX-License-Identifier: MIT */
/*
 * What the descriptor tables of 2004 and 2005 have in common; see table.h.
 *
 * *Growth*.  Whoever needs more makes it without the lock, and then looks again.
 * Two growers may race: the first to take the lock wins, the other frees what it
 * made itself, which nobody has seen.
 *
 * *Ordering*
 *	REL(fd_slot_set:A) pairs with RCU(kref_lookup:C), RCU(fdtable_lookup:B)
 */
#include <errno.h>
#include <fcntl.h>

#include "base/fork.h"
#include "base/report.h"
#include "base/sys.h"
#include "files/files.h"

#define FILES_DEFAULT_LIMIT 1024u

/* Every table, for the fork of the host process. */
static struct files_struct *tables;
static struct mutex tables_lock;

/* ---- Pieces of memory ---- */

/* A larger one takes memory only when and where it is used. */
#define PIECE_MAPPED ((size_t)64 * 1024)

static void *piece_create(struct bytes bytes)
{
	if (bytes.n < PIECE_MAPPED)
		return sys_zalloc_lines(bytes);
	return sys_map(bytes, SYS_PAGE);
}

static void piece_free(void *piece, struct bytes bytes)
{
	if (bytes.n < PIECE_MAPPED)
		sys_free(piece, bytes);
	else
		sys_unmap(piece, bytes);
}

/* The two places that know how large they are: born and freed by it. */
static struct bytes array_bytes(unsigned int max_fds)
{
	return bytes_array(0, max_fds, sizeof(struct berth_file *));
}

static struct bytes fdset_bytes(unsigned int max_fdset)
{
	return bytes_lines(bytes_array(0, max_fdset / BITS_PER_WORD,
				       2 * sizeof(uint64_t)));
}

static struct bytes fdtable_bytes(void)
{
	return bytes_lines(bytes_of(sizeof(struct fdtable)));
}

/* ---- What grows ---- */

void fdtable_free_arrays(struct fdtable *fdt)
{
	if (fdt->max_fds > FD_EMBEDDED)
		piece_free(fdt->fd, array_bytes(fdt->max_fds));
	if (fdt->max_fdset > FDSET_EMBEDDED)
		piece_free(fdt->open, fdset_bytes(fdt->max_fdset));
}

void fdtable_free(struct fdtable *fdt)
{
	fdtable_free_arrays(fdt);
	sys_free(fdt, fdtable_bytes());
}

static void fdtable_retired(struct berth_retired *retired)
{
	fdtable_free(container_of(retired, struct fdtable, retired));
}

void fdtable_retire(struct fdtable *fdt)
{
	rcu_retire(&fdt->retired, fdtable_retired);
}

/* How many slots a table that has @fd is to have. */
static unsigned int slots_for(unsigned int fd)
{
	if (fd < FD_GROWN)
		return FD_GROWN;
	return 1u << (32 - __builtin_clz(fd));
}

/* The bitmaps that are embedded do for as many numbers as they have bits. */
static bool fdset_create(struct fdtable *fdt)
{
	if (fdt->max_fds <= FDSET_EMBEDDED) {
		fdt->max_fdset = FDSET_EMBEDDED;
		return true;
	}
	fdt->max_fdset = fdt->max_fds;
	fdt->open = piece_create(fdset_bytes(fdt->max_fdset));
	fdt->cloexec = fdt->open + fdt->max_fdset / BITS_PER_WORD;
	return fdt->open;
}

/* One that has @fd, with nothing in it; NULL: no memory. */
static struct fdtable *fdtable_create(unsigned int fd)
{
	struct fdtable *fdt = sys_zalloc_lines(fdtable_bytes());

	if (!fdt)
		return NULL;
	fdt->max_fds = slots_for(fd);
	fdt->fd = piece_create(array_bytes(fdt->max_fds));
	if (!fdt->fd)
		goto out_free;
	if (fdset_create(fdt))
		return fdt;
	piece_free(fdt->fd, array_bytes(fdt->max_fds));
out_free:
	sys_free(fdt, fdtable_bytes());
	return NULL;
}

/* Under the lock, which keeps @from as it is; nobody sees @to. */
static void fdtable_copy(struct fdtable *to, const struct fdtable *from)
{
	size_t half = from->max_fdset / 8;

	memcpy(to->fd, from->fd, array_bytes(from->max_fds).n);
	if (to->max_fdset > FDSET_EMBEDDED) {
		memcpy(to->open, from->open, half);
		memcpy(to->cloexec, from->cloexec, half);
	} else {
		to->open = from->open;
		to->cloexec = from->cloexec;
	}
#ifdef FDTABLE_HAS_NEXT_FD
	to->next_fd = from->next_fd;
#endif
}

/* Without the lock: let the table have @fd.  0 or -ENOMEM. */
static noinline int expand_files(struct files_struct *files, unsigned int fd)
{
	struct fdtable *new = fdtable_create(fd), *old = NULL;
	bool lost;

	if (!new)
		return -ENOMEM;
	table_lock(files);
	lost = fd < files_fdtable(files)->max_fds;
	if (!lost) {
		fdtable_copy(new, files_fdtable(files));
		old = files_replace(files, new);
	}
	table_unlock(files);
	if (lost)
		fdtable_free(new);
	else
		files_outgrown(old);
	return 0;
}

/* ---- Numbers, under the lock ---- */

static struct berth_file *slot_get(struct files_struct *files, unsigned int fd)
{
	const struct fdtable *fdt = files_fdtable(files);

	/* Relaxed: under the lock. */
	return fd < fdt->max_fds ? load_relaxed(&fdt->fd[fd]) : NULL;
}

static void fd_slot_set(struct files_struct *files, unsigned int fd,
			struct berth_file *file)
{
	/* REL(fd_slot_set:A) pairs with RCU(kref_lookup:C),
	 * RCU(fdtable_lookup:B) */
	store_release(&files_fdtable(files)->fd[fd], file);
}

static bool fd_is_taken(struct files_struct *files, unsigned int fd)
{
	const struct fdtable *fdt = files_fdtable(files);

	return fd < fdt->max_fds && bit_is_set(fdt->open, fd);
}

static bool fd_is_reserved(struct files_struct *files, unsigned int fd)
{
	return fd_is_taken(files, fd) && !slot_get(files, fd);
}

static void fd_mark_open(struct files_struct *files, unsigned int fd,
			 bool cloexec)
{
	struct fdtable *fdt = files_fdtable(files);

	bit_set(fdt->open, fd);
	bit_assign(fdt->cloexec, fd, cloexec);
}

static void fd_mark_free(struct files_struct *files, unsigned int fd)
{
	struct fdtable *fdt = files_fdtable(files);

	bit_clear(fdt->open, fd);
	bit_assign(fdt->cloexec, fd, false);
	if (fd < files_next_fd(files))
		files_next_fd(files) = fd;
}

/* The number finds nothing any more; its reference is the caller's. */
static void fd_clear(struct files_struct *files, unsigned int fd)
{
	/* Relaxed: the reference is dropped later, by a read-modify-write. */
	store_relaxed(&files_fdtable(files)->fd[fd], NULL);
	fd_mark_free(files, fd);
}

/* The lowest free number from @min on; the table may lack it. */
static unsigned int fd_next_free(struct files_struct *files, unsigned int min)
{
	const struct fdtable *fdt = files_fdtable(files);

	if (min < files_next_fd(files))
		min = files_next_fd(files);
	if (unlikely(min >= fdt->max_fds))
		return min;
	return bit_next_zero(fdt->open, fdt->max_fds, min);
}

/* The first number from @fd on that is taken, or @max_fds. */
static unsigned int fd_next_taken(struct files_struct *files, unsigned int fd)
{
	const struct fdtable *fdt = files_fdtable(files);
	uint64_t ones;

	while (fd < fdt->max_fds) {
		ones = load_relaxed(&fdt->open[fd / BITS_PER_WORD]);
		ones &= ~UINT64_C(0) << (fd % BITS_PER_WORD);
		fd -= fd % BITS_PER_WORD;
		if (ones)
			return fd + (unsigned int)__builtin_ctzll(ones);
		fd += BITS_PER_WORD;
	}
	return fdt->max_fds;
}

#define for_each_taken(files, fd)                              \
	for ((fd) = 0; ((fd) = fd_next_taken((files), (fd))) < \
		       files_fdtable(files)->max_fds;          \
	     (fd)++)

/* In debug builds: is the table what its invariants say?  Looks at the words of
 * the lowest free number. */
static void files_check(struct files_struct *files)
{
#if BERTH_DEBUG_CHECKS
	const struct fdtable *fdt = files_fdtable(files);
	unsigned int next = files_next_fd(files), fd;

	invariant(fdt->max_fds <= fdt->max_fdset);
	invariant(next <= fdt->max_fds);
	for (fd = next - next % BITS_PER_WORD; fd < next; fd++)
		invariant(bit_is_set(fdt->open, fd));
	for (fd = 0; fd < BITS_PER_WORD; fd++)
		invariant(!slot_get(files, fd) || bit_is_set(fdt->open, fd));
#else
	(void)files;
#endif
}

/* ---- Birth and end ---- */

static void tables_add(struct files_struct *files)
{
	mutex_lock(&tables_lock);
	files->rest.next = tables;
	files->rest.pprev = &tables;
	if (tables)
		tables->rest.pprev = &files->rest.next;
	tables = files;
	mutex_unlock(&tables_lock);
}

static void tables_remove(struct files_struct *files)
{
	mutex_lock(&tables_lock);
	*files->rest.pprev = files->rest.next;
	if (files->rest.next)
		files->rest.next->rest.pprev = files->rest.pprev;
	mutex_unlock(&tables_lock);
}

static struct bytes files_bytes(void)
{
	return bytes_lines(bytes_of(sizeof(struct files_struct)));
}

static void fdtab_init(struct files_struct *files)
{
	files->fdtab.max_fds = FD_EMBEDDED;
	files->fdtab.max_fdset = FDSET_EMBEDDED;
	files->fdtab.fd = files->fd_array;
	files->fdtab.open = files->open_init;
	files->fdtab.cloexec = files->cloexec_init;
	fdtab_in_force(files);
}

struct files_struct *files_create(void)
{
	struct files_struct *files;

	if (!fork_is_ready())
		return NULL;
	files = sys_zalloc_lines(files_bytes());
	if (!files)
		return NULL;
	table_lock_init(files);
	kref_init(&files->users);
	fdtab_init(files);
	files->rest.limit = FILES_DEFAULT_LIMIT;
	files->rest.maximum = FD_MAX;
	tables_add(files);
	return files;
}

/* Nobody uses the table any more. */
static void files_free(struct files_struct *files)
{
	tables_remove(files);
	files_free_last(files);
	sys_free(files, files_bytes());
}

void files_get(struct files_struct *files)
{
	kref_get(&files->users);
}

void files_put(struct files_struct *files)
{
	unsigned int fd;

	if (!kref_put_last(&files->users))
		return;
	for_each_taken(files, fd) close_fd(files, fd);
	files_free(files);
}

/* ---- Reserve, install, close ---- */

/* Take the lowest free number from @min on, for @file or, if that is NULL, for
 * an install to come.  -EAGAIN: @source, if it is one, does not find @file. */
static int fd_take(struct files_struct *files, unsigned int min, bool cloexec,
		   struct berth_file *file, unsigned int source)
{
	unsigned int fd;
	int ret;

	for (;;) {
		table_lock(files);
		if (source != FD_NONE && slot_get(files, source) != file) {
			table_unlock(files);
			return -EAGAIN;
		}
		fd = fd_next_free(files, min);
		if (unlikely(fd >= files->rest.limit)) {
			table_unlock(files);
			return -EMFILE;
		}
		if (likely(fd < files_fdtable(files)->max_fds))
			break;
		table_unlock(files);
		ret = expand_files(files, fd);
		if (ret)
			return ret;
	}
	fd_mark_open(files, fd, cloexec);
	if (min <= files_next_fd(files))
		files_next_fd(files) = fd + 1;
	if (file)
		fd_slot_set(files, fd, file);
	files_check(files);
	table_unlock(files);
	return (int)fd;
}

int alloc_fd(struct files_struct *files, unsigned int min, unsigned int flags)
{
	return fd_take(files, min, flags & O_CLOEXEC, NULL, FD_NONE);
}

/* In 2004 and 2005 these were two holds of the lock; so that an open is not
 * slow for that, it is one here as it is in berth. */
int receive_fd(struct files_struct *files, struct berth_file *file,
	       unsigned int flags)
{
	return fd_take(files, 0, flags & O_CLOEXEC, file, FD_NONE);
}

bool files_has_room(struct files_struct *files)
{
	bool room;

	table_lock_shared(files);
	room = fd_next_free(files, 0) < files->rest.limit;
	table_unlock_shared(files);
	return room;
}

void put_unused_fd(struct files_struct *files, unsigned int fd)
{
	bool reserved;

	table_lock(files);
	reserved = fd_is_reserved(files, fd);
	if (reserved)
		fd_mark_free(files, fd);
	files_check(files);
	table_unlock(files);
	if (!reserved)
		report("unreserve-not-reserved",
		       "the descriptor is not reserved, or was installed");
}

void fd_install(struct files_struct *files, unsigned int fd,
		struct berth_file *file)
{
	bool reserved;

	table_lock(files);
	reserved = fd_is_reserved(files, fd);
	if (likely(reserved))
		fd_slot_set(files, fd, file);
	files_check(files);
	table_unlock(files);
	if (unlikely(!reserved))
		report("install-not-reserved",
		       "the descriptor is not reserved, or was installed before");
}

int close_fd(struct files_struct *files, unsigned int fd)
{
	struct berth_file *file;

	table_lock(files);
	file = slot_get(files, fd);
	if (likely(file))
		fd_clear(files, fd);
	files_check(files);
	table_unlock(files);
	if (unlikely(!file))
		return -EBADF;
	return filp_close(file, handle_of(files));
}

static void file_ends_late(struct berth_retired *retired)
{
	struct berth_file *file;

	file = container_of(retired, struct berth_file, retired);
	if (file->ops->release)
		file->ops->release(file);
	file->ops->free(file);
}

/*
 * The last owner's borrow ends: he pays for what it defers, as a close does.
 * Within another section, such as that of a path walk which has looked a number
 * up, the file's end waits until that has ended.
 */
noinline void fdput_last(struct berth_file *file)
{
	if (rcu_read_held()) {
		rcu_retire(&file->retired, file_ends_late);
		return;
	}
	file_put_last(file);
	rcu_poll();
}

/* ---- Several numbers for one file ---- */

int f_dupfd(struct files_struct *files, unsigned int fd, unsigned int min,
	    unsigned int flags)
{
	struct berth_file *file;
	int ret;

	/* The number is taken while the source is still open: otherwise it
	 * could be the source's own. */
	do {
		ret = -EINVAL;
		file = fget(files, fd);
		if (!file)
			return -EBADF;
		if (min < files_limit(files))
			ret = fd_take(files, min, flags & O_CLOEXEC, file, fd);
		if (ret < 0)
			fput(file);
	} while (ret == -EAGAIN);
	return ret;
}

/* Let the table have @fd, if there is memory. */
static void fd_make_room(struct files_struct *files, unsigned int fd)
{
	bool has;

	table_lock_shared(files);
	has = fd < files_fdtable(files)->max_fds;
	table_unlock_shared(files);
	if (!has)
		expand_files(files, fd);
}

/* Under the lock: can @to be given what @from finds?  *@file is that. */
static int fd_may_give(struct files_struct *files, unsigned int from,
		       unsigned int to, struct berth_file **file)
{
	*file = slot_get(files, from);
	if (!*file)
		return -EBADF;
	if (to >= files_fdtable(files)->max_fds)
		return -ENOMEM;
	return fd_is_reserved(files, to) ? -EBUSY : 0;
}

/* Under the lock: @fd, which is not reserved, finds @file now; what it found
 * before is the caller's. */
static struct berth_file *fd_give(struct files_struct *files, unsigned int fd,
				  struct berth_file *file, bool cloexec)
{
	struct berth_file *replaced = slot_get(files, fd);

	fd_mark_open(files, fd, cloexec);
	fd_slot_set(files, fd, file);
	files_check(files);
	return replaced;
}

int ksys_dup3(struct files_struct *files, unsigned int oldfd,
	      unsigned int newfd, unsigned int flags)
{
	struct berth_file *file, *replaced = NULL;
	int ret;

	if (flags & ~(unsigned int)O_CLOEXEC)
		return -EINVAL;
	if (oldfd == newfd)
		return -EINVAL;
	if (newfd >= files_limit(files))
		return -EBADF;
	/* When this fails, fd_may_give() says so, unless @oldfd is worse. */
	fd_make_room(files, newfd);
	table_lock(files);
	ret = fd_may_give(files, oldfd, newfd, &file);
	if (!ret) {
		get_file(file);
		replaced = fd_give(files, newfd, file, flags & O_CLOEXEC);
		ret = (int)newfd;
	}
	table_unlock(files);
	if (replaced)
		filp_close(replaced, handle_of(files));
	return ret;
}

static bool fd_finds_a_file(struct files_struct *files, unsigned int fd)
{
	bool found;

	table_lock_shared(files);
	found = slot_get(files, fd);
	table_unlock_shared(files);
	return found;
}

int ksys_dup2(struct files_struct *files, unsigned int oldfd,
	      unsigned int newfd)
{
	if (oldfd != newfd)
		return ksys_dup3(files, oldfd, newfd, 0);
	return fd_finds_a_file(files, oldfd) ? (int)newfd : -EBADF;
}

bool fd_exchange(struct files_struct *files, unsigned int fd,
		 struct berth_file *old, struct berth_file *file)
{
	bool same;

	table_lock(files);
	same = old && slot_get(files, fd) == old;
	if (same && file)
		fd_slot_set(files, fd, file);
	else if (same)
		fd_clear(files, fd);
	files_check(files);
	table_unlock(files);
	return same;
}

/* One instant for who takes the lock.  A lookup without it may find the file by
 * both numbers for a moment, by neither never. */
int renumber_fd(struct files_struct *files, unsigned int from, unsigned int to)
{
	struct berth_file *file, *replaced = NULL;
	int ret;

	if (from == to)
		return ksys_dup2(files, from, to);
	if (to >= files_limit(files))
		return -EBADF;
	/* When this fails, fd_may_give() says so, unless @from is worse. */
	fd_make_room(files, to);
	table_lock(files);
	ret = fd_may_give(files, from, to, &file);
	if (!ret) {
		replaced = fd_give(
			files, to, file,
			bit_is_set(files_fdtable(files)->cloexec, from));
		fd_clear(files, from);
		ret = (int)to;
	}
	table_unlock(files);
	if (replaced)
		filp_close(replaced, handle_of(files));
	return ret;
}

/* ---- Copy ---- */

/* Under the lock: how many slots the copy needs. */
static unsigned int slots_in_use(struct files_struct *files)
{
	const struct fdtable *fdt = files_fdtable(files);
	unsigned int words = fdt->max_fds / BITS_PER_WORD;

	while (words && !load_relaxed(&fdt->open[words - 1]))
		words--;
	return words * BITS_PER_WORD;
}

/* Under the lock of @from; @to is ours alone, empty, and large enough. */
static void dup_fd_fill(struct files_struct *to, struct files_struct *from)
{
	struct fdtable *source = files_fdtable(from);
	struct fdtable *target = files_fdtable(to);
	struct berth_file *file;
	unsigned int fd;

	for_each_taken(from, fd)
	{
		file = slot_get(from, fd);
		if (!file) /* reserved: free in the copy */
			continue;
		get_file(file);
		store_relaxed(&target->fd[fd], file);
		bit_set(target->open, fd);
		if (bit_is_set(source->cloexec, fd))
			bit_set(target->cloexec, fd);
	}
	files_next_fd(to) = bit_next_zero(target->open, target->max_fds, 0);
	to->rest.limit = from->rest.limit;
	to->rest.maximum = from->rest.maximum;
}

struct files_struct *dup_fd(struct files_struct *from)
{
	struct files_struct *to = files_create();
	unsigned int slots;

	if (!to)
		return NULL;
	for (;;) {
		table_lock(from);
		slots = slots_in_use(from);
		if (slots <= files_fdtable(to)->max_fds)
			break;
		table_unlock(from);
		if (expand_files(to, slots - 1)) {
			files_put(to);
			return NULL;
		}
	}
	dup_fd_fill(to, from);
	files_check(to);
	table_unlock(from);
	return to;
}

/* ---- What is said of numbers and tables ---- */

/* One whose last user has gone is about to leave the list. */
struct files_struct *files_next(struct files_struct *files)
{
	struct files_struct *next;

	mutex_lock(&tables_lock);
	next = files ? files->rest.next : tables;
	while (next && !kref_get_unless_zero(&next->users))
		next = next->rest.next;
	mutex_unlock(&tables_lock);
	if (files)
		files_put(files);
	return next;
}

/* Relaxed: one word, whose meaning is the user's. */
void files_set_owner(struct files_struct *files, void *owner)
{
	store_relaxed(&files->rest.owner, owner);
}

void *files_owner(const struct files_struct *files)
{
	return load_relaxed(&files->rest.owner);
}

int get_close_on_exec(struct files_struct *files, unsigned int fd)
{
	int ret = -EBADF;

	table_lock_shared(files);
	if (slot_get(files, fd))
		ret = bit_is_set(files_fdtable(files)->cloexec, fd);
	table_unlock_shared(files);
	return ret;
}

int set_close_on_exec(struct files_struct *files, unsigned int fd, bool set)
{
	int ret = -EBADF;

	table_lock(files);
	if (slot_get(files, fd)) {
		bit_assign(files_fdtable(files)->cloexec, fd, set);
		ret = 0;
	}
	table_unlock(files);
	return ret;
}

unsigned int files_count(struct files_struct *files)
{
	const struct fdtable *fdt;
	unsigned int i, count = 0;

	table_lock_shared(files);
	fdt = files_fdtable(files);
	for (i = 0; i < fdt->max_fds / BITS_PER_WORD; i++)
		count += (unsigned int)__builtin_popcountll(
			load_relaxed(&fdt->open[i]));
	table_unlock_shared(files);
	return count;
}

unsigned int fd_next_open(struct files_struct *files, unsigned int from)
{
	unsigned int fd = from, max;

	table_lock_shared(files);
	max = files_fdtable(files)->max_fds;
	while ((fd = fd_next_taken(files, fd)) < max && !slot_get(files, fd))
		fd++;
	table_unlock_shared(files);
	return fd < max ? fd : FD_NONE;
}

int close_left(struct files_struct *files, unsigned int fd,
	       struct berth_file *file)
{
	(void)fd;
	return filp_close(file, handle_of(files));
}

unsigned int files_size(struct files_struct *files)
{
	unsigned int max;

	table_lock_shared(files);
	max = files_fdtable(files)->max_fds;
	table_unlock_shared(files);
	return max;
}

bool files_is_shared(const struct files_struct *files)
{
	return kref_read(&files->users) > 1;
}

int files_set_limit(struct files_struct *files, unsigned int limit)
{
	int ret = -EPERM;

	table_lock(files);
	if (limit <= files->rest.maximum) {
		store_relaxed(&files->rest.limit, limit);
		ret = 0;
	}
	table_unlock(files);
	return ret;
}

unsigned int files_limit(const struct files_struct *files)
{
	return load_relaxed(&files->rest.limit);
}

/* The limit never exceeds the maximum, for both change under the lock. */
int files_set_maximum(struct files_struct *files, unsigned int maximum)
{
	int ret = -EPERM;

	table_lock(files);
	if (maximum <= files->rest.maximum) {
		store_relaxed(&files->rest.maximum, maximum);
		if (files->rest.limit > maximum)
			store_relaxed(&files->rest.limit, maximum);
		ret = 0;
	}
	table_unlock(files);
	return ret;
}

unsigned int files_maximum(const struct files_struct *files)
{
	return load_relaxed(&files->rest.maximum);
}

/* ---- Fork of the host process ---- */

/* No table is being changed at the instant of the fork. */
static void files_quiesce(void)
{
	struct files_struct *files;

	mutex_lock(&tables_lock);
	for (files = tables; files; files = files->rest.next)
		table_lock(files);
}

static void files_resume(bool in_child)
{
	struct files_struct *files;

	/* Who was waiting for a lock is not there in the child. */
	for (files = tables; files; files = files->rest.next)
		if (in_child)
			table_lock_renew(files);
		else
			table_unlock(files);
	mutex_unlock(&tables_lock);
}

static const struct fork_handler files_fork = {
	.quiesce = files_quiesce,
	.resume = files_resume,
};

__attribute__((constructor)) static void files_setup(void)
{
	fork_register(FORK_FILES, &files_fork);
}
