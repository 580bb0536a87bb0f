/* SPDX-License-Identifier: MIT */
/* See beside.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness.h"
#include "beside.h"
#include "objects.h"

struct shared *shared;

int watched[NUMBERS + 1];
unsigned int watched_count;
struct kernel_side kernel;

static const struct domain *domain;
static struct rlimit first_rlimit;
/* The table is asked for the numbers below. */
static int top;

static struct {
	void *table;
	uint64_t first; /* the id of the object that fills it */
} ours;

void begin_beside(void)
{
	check(!getrlimit(RLIMIT_NOFILE, &first_rlimit));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(shared != MAP_FAILED);
}

void end_beside(void)
{
	munmap(shared, sizeof(*shared));
}

/* ---- Looks ---- */

void leave(int status)
{
	close_range(0, UINT_MAX, 0);
	setrlimit(RLIMIT_NOFILE, &first_rlimit);
	leave_child(status);
}

/* Ends the process, too. */
#define differ(...)                                                       \
	(snprintf(shared->now.difference, sizeof(shared->now.difference), \
		  __VA_ARGS__),                                           \
	 leave(1))

static struct look kernel_look(int fd)
{
	struct look look = { .bit = fcntl(fd, F_GETFD), .object = -1 };

	if (look.bit < 0)
		look.bit = -errno;
	else
		look.object = lseek(fd, 0, SEEK_CUR);
	return look;
}

static void kernel_look_all(struct look *seen)
{
	unsigned int i;

	for (i = 0; i < watched_count; i++)
		seen[watched[i] + 1] = kernel_look(watched[i]);
}

static int64_t object_number(const struct object *object)
{
	return object ? (int64_t)(object->id - ours.first) : -1;
}

static struct look table_look(void *table, int fd)
{
	const struct table_adapter *t = &table_adapter;
	struct look look = { .bit = t->getfd(table, fd) };
	struct object *object = t->get(table, fd);

	look.object = object_number(object);
	if (object)
		t->put(table, object);
	if (!t->borrow)
		return look;
	object = t->borrow(table, fd);
	if (object_number(object) != look.object)
		look.object = object ? object_number(object) : -2;
	if (object)
		t->give_back(table, object);
	return look;
}

/* Does the table look as the kernel does? */
static void compare_looks(void *table, const struct look *seen)
{
	struct look look;
	int fd;

	for (fd = -1; fd < top; fd++) {
		look = table_look(table, fd);
		if (look.bit != seen[fd + 1].bit)
			differ("then F_GETFD(%d) = %s, table: %s", fd,
			       result_name(seen[fd + 1].bit),
			       result_name(look.bit));
		if (look.object != seen[fd + 1].object)
			differ("then %d finds object %" PRId64
			       ", table: %" PRId64,
			       fd, seen[fd + 1].object, look.object);
	}
}

/* ---- Beginnings ---- */

/* The object that the numbers below @filled find is number 0. */
void table_begin(void)
{
	struct object *filler = object_create();
	int fd;

	ours.first = filler->id;
	ours.table = table_adapter.create(domain->limit);
	check(ours.table);
	if (!domain->filled)
		return;
	check_equal(table_adapter.open(ours.table, filler, false), 0);
	for (fd = 1; fd < domain->filled; fd++)
		check_equal(table_adapter.dup2(ours.table, 0, fd), fd);
}

void table_end(void)
{
	shared->now.doing = "its end";
	table_adapter.destroy(ours.table);
	objects_free();
}

static void kernel_limit(unsigned int limit)
{
	struct rlimit rlimit = first_rlimit;

	rlimit.rlim_cur = limit;
	check(!setrlimit(RLIMIT_NOFILE, &rlimit));
	kernel.limit = limit;
}

static void kernel_begin(void)
{
	kernel_limit(domain->limit);
	check(!close_range((unsigned int)domain->filled, UINT_MAX, 0));
	if (domain->filled)
		check(!dup2(1, 0));
	kernel_look_all(kernel.seen);
	kernel.stale = false;
}

static void watch(void)
{
	int fd;

	watched_count = 0;
	top = (int)domain->limit + 2;
	if (domain->all)
		top = NUMBERS;
	for (fd = -1; fd < top; fd++)
		if (domain->all || fd < 1 || fd >= domain->filled)
			watched[watched_count++] = fd;
}

void begin_domain(const struct domain *of)
{
	int fd;

	domain = of;
	shared->now.domain = *of;
	watch();
	check(!close_range(0, UINT_MAX, 0));
	kernel_limit(domain->limit);
	if (domain->filled)
		check_equal(memfd_create("filler", 0), 0);
	for (fd = 1; fd < domain->filled; fd++)
		check_equal(dup2(0, fd), fd);
	for (fd = 0; fd < top; fd++)
		kernel.seen[fd + 1] = kernel_look(fd);
	kernel_begin();
}

/* ---- Steps ---- */

/* The number that the object of this open has on both sides. */
static int64_t opens_until(unsigned int n)
{
	int64_t opens = 0;
	unsigned int i;

	for (i = 0; i <= n; i++)
		opens += step_opens(&shared->now.step[i]);
	return opens;
}

/* The table has chosen a number; it must be a free one for the kernel, too. */
static int open_where_table_did(const struct step *step, int fd)
{
	unsigned int cloexec = step->flags & O_CLOEXEC;
	int got = step_on_kernel(step);

	if (got < 0 || fd < 0 || got == fd)
		return got;
	if (kernel.seen[fd + 1].bit >= 0) {
		close(got);
		return -EBUSY;
	}
	fd = dup3(got, fd, (int)cloexec);
	close(got);
	return fd;
}

static int on_kernel(unsigned int n)
{
	const struct step *step = &shared->now.step[n];
	int ret = step->call == OPEN_ANY
			  ? open_where_table_did(step, shared->now.table[n])
			  : step_on_kernel(step);

	if (step_opens(step) && ret >= 0)
		check(lseek(ret, opens_until(n), SEEK_SET) > 0);
	if (step->call == LIMIT)
		kernel.limit = (unsigned int)step->a;
	return ret;
}

static int on_table(unsigned int n)
{
	const struct step *step = &shared->now.step[n];

	return step_on_table(step, &ours.table,
			     step_opens(step) ? object_create() : NULL);
}

bool on_both(unsigned int n)
{
	struct sequence *now = &shared->now;
	size_t size = sizeof(kernel.seen[0]) * ((size_t)top + 1);
	struct look before[NUMBERS + 1];
	unsigned int limit = kernel.limit;

	memcpy(before, kernel.seen, size);
	now->length = n + 1;
	now->kernel[n] = now->table[n] = NO_RESULT;
	now->doing = "the last call";
	now->table[n] = on_table(n);
	now->kernel[n] = on_kernel(n);
	if (now->table[n] != now->kernel[n])
		differ("the results differ");
	now->doing = "a lookup";
	kernel_look_all(kernel.seen);
	compare_looks(ours.table, kernel.seen);
	return limit != kernel.limit || memcmp(before, kernel.seen, size) != 0;
}

/* The kernel needs no new beginning when its last call changed nothing, and when
 * the table chose its numbers as before. */
bool on_new_table(unsigned int n)
{
	struct sequence *now = &shared->now;
	unsigned int i;
	int ret;

	now->length = n + 1;
	now->doing = "an earlier call";
	table_begin();
	for (i = 0; i < n; i++) {
		ret = on_table(i);
		kernel.stale |= ret != now->table[i];
		now->table[i] = ret;
	}
	if (kernel.stale) {
		kernel_begin();
		for (i = 0; i < n; i++)
			on_kernel(i);
		kernel_look_all(kernel.seen);
	}
	kernel.stale = on_both(n);
	table_end();
	return kernel.stale;
}

/* ---- What takes longer, and is looked at once a state ---- */

enum {
	STRIDE_BITS = 32
};

static void move_all(int64_t by)
{
	unsigned int i;

	for (i = 0; i < watched_count; i++)
		if (kernel.seen[watched[i] + 1].object >= 0)
			check(lseek(watched[i], by, SEEK_CUR) >= 0);
}

static int64_t numbers_that_find(int64_t object)
{
	int64_t found = 0;
	unsigned int i;

	for (i = 0; i < watched_count; i++)
		found += table_look(ours.table, watched[i]).object == object;
	return found;
}

/*
 * Move the offset by every number.  Then each has moved as often as there are
 * numbers that share it: those that find one object in the table.
 */
void compare_sharing(void)
{
	int64_t object, moves;
	unsigned int i;

	move_all(INT64_C(1) << STRIDE_BITS);
	for (i = 0; i < watched_count; i++) {
		object = kernel.seen[watched[i] + 1].object;
		if (object < 0)
			continue;
		moves = lseek(watched[i], 0, SEEK_CUR) >> STRIDE_BITS;
		if (moves != numbers_that_find(object))
			differ("then %" PRId64 " numbers share the offset of %d"
			       ", table: %" PRId64,
			       moves, watched[i], numbers_that_find(object));
	}
	move_all(-(INT64_C(1) << STRIDE_BITS));
}

/* The numbers of a forked child, all of which it closes then. */
static void look_in_child(void)
{
	pid_t child = fork();
	int status;

	check(child >= 0);
	if (!child) {
		memcpy(shared->copy, kernel.seen, sizeof(shared->copy));
		kernel_look_all(shared->copy);
		leave(0);
	}
	check_equal(waitpid(child, &status, 0), child);
	check_equal(status, 0);
}

/* A copy has what a forked child has, and its end takes nothing away. */
void compare_copies(void)
{
	void *copy;

	if (!table_adapter.copy)
		return;
	shared->now.doing = "a copy of it, as in a forked child";
	copy = table_adapter.copy(ours.table);
	check(copy);
	look_in_child();
	compare_looks(copy, shared->copy);
	table_adapter.destroy(copy);
	kernel_look_all(kernel.seen);
	compare_looks(ours.table, kernel.seen);
}

void run_sequence(void)
{
	unsigned int i, length = shared->now.length;

	table_begin();
	kernel_begin();
	for (i = 0; i < length; i++)
		on_both(i);
	compare_sharing();
	compare_copies();
	table_end();
}

void run_on_table(void)
{
	struct step copy = { .call = COPY };
	unsigned int i;

	domain = &shared->now.domain;
	table_begin();
	for (i = 0; i < shared->now.length; i++)
		on_table(i);
	watch();
	for (i = 0; i < watched_count; i++)
		table_look(ours.table, watched[i]);
	if (step_is_offered(&copy))
		step_on_table(&copy, &ours.table, NULL);
	table_end();
}
