/* SPDX-License-Identifier: MIT */
/*
 * Long random sequences of calls, by seed, against plain arrays that say what
 * each must return and what happens to each file.
 *
 * A few tables, copies of each other among them, share the files; numbers are
 * reserved, installed and given back; limits move; references are held beside
 * the tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

enum {
	NUMBERS = 300, /* the highest limit */
	TABLES = 4,
	FILES = 2048, /* more than are opened between two drains */
	HELD = 16,
	CALLS_A_ROUND = 4000,
	CALLS_A_DRAIN = 400,
};

/* A file, as it should be. */
struct model_file {
	struct probe *probe; /* NULL: this place is free */
	unsigned int refs;
	unsigned int flushes;
	int flush_result;
	struct fate fate; /* what really happened */
};

enum model_state {
	FREE,
	RESERVED,
	INSTALLED,
};

struct model_number {
	enum model_state state;
	struct model_file *file;
	bool cloexec;
	struct berth_rights lost; /* which bits were taken away */
};

/* A table, as it should be, and the real one; files NULL: there is none. */
struct model_table {
	struct berth_files *files;
	int limit;
	struct model_number numbers[NUMBERS];
};

static struct model_file model_files[FILES];
static struct model_table model_tables[TABLES];
static struct model_file *held[HELD];

/* ---- Files ---- */

static void check_file(struct model_file *file)
{
	check_equal(file->fate.flushes, file->flushes);
	check_equal(file->fate.releases, file->refs == 0);
	check(file->fate.frees <= (file->refs == 0));
}

static struct model_file *model_open(struct random *random)
{
	struct model_file *file = model_files;

	while (file->probe)
		check(++file < model_files + FILES);
	*file = (struct model_file){ .refs = 1 };
	file->probe = probe_create(&file->fate, 0);
	if (random_once_in(random, 4))
		file->flush_result = -EIO;
	file->probe->flush_result = file->flush_result;
	return file;
}

static void model_put(struct model_file *file)
{
	check(file->refs > 0);
	file->refs--;
}

/* Returns what close must return. */
static int model_close(struct model_number *number)
{
	struct model_file *file = number->file;

	*number = (struct model_number){ .state = FREE };
	file->flushes++;
	model_put(file);
	return file->flush_result;
}

/* After a drain: whatever has no owner is freed, and its place free again. */
static void recycle_files(void)
{
	struct model_file *file;

	berth_drain();
	for (file = model_files; file < model_files + FILES; file++) {
		if (!file->probe)
			continue;
		check_file(file);
		check_equal(file->fate.frees, file->refs == 0);
		if (!file->refs)
			file->probe = NULL;
	}
}

/* ---- Numbers ---- */

static struct model_number *number_of(struct model_table *t, int fd)
{
	return fd >= 0 && fd < NUMBERS ? &t->numbers[fd] : NULL;
}

static struct model_number *installed(struct model_table *t, int fd)
{
	struct model_number *number = number_of(t, fd);

	return number && number->state == INSTALLED ? number : NULL;
}

static int lowest_free(struct model_table *t, int min)
{
	int fd;

	for (fd = min; fd < t->limit; fd++)
		if (t->numbers[fd].state == FREE)
			return fd;
	return -EMFILE;
}

static unsigned int model_count(struct model_table *t)
{
	unsigned int count = 0;
	int fd;

	for (fd = 0; fd < NUMBERS; fd++)
		count += t->numbers[fd].state != FREE;
	return count;
}

/* What @from finds. */
static void let_find(struct model_number *number,
		     const struct model_number *from, bool cloexec)
{
	*number = *from;
	number->cloexec = cloexec;
	number->file->refs++;
}

/* A table of lineage/ knows of no rights. */
#ifndef WITH_RIGHTS
#define WITH_RIGHTS 1
#endif

#if WITH_RIGHTS
/* Rights for which the low bits do. */
#define SOME_RIGHTS 4

static void check_rights(struct model_table *t, int fd,
			 const struct model_number *number)
{
	struct berth_rights rights;
	struct berth_file *file;
	int ret = berth_files_rights(t->files, fd, &rights);

	check_equal(ret, number ? 0 : -EBADF);
	if (!number)
		return;
	check(rights.base == ~number->lost.base);
	check(rights.inheriting == ~number->lost.inheriting);
	ret = berth_files_borrow_for(t->files, fd, 1, &file);
	check_equal(ret, number->lost.base & 1 ? -EPERM : 0);
	if (!ret)
		berth_files_return(file);
}
#else
static void check_rights(struct model_table *t, int fd,
			 const struct model_number *number)
{
	(void)t;
	(void)fd;
	(void)number;
}
#endif

static void check_number(struct model_table *t, int fd)
{
	struct model_number *number = installed(t, fd);
	int cloexec = number && number->cloexec ? FD_CLOEXEC : 0;

	check_equal(berth_files_getfd(t->files, fd), number ? cloexec : -EBADF);
	check_equal((long long)probe_id_at(t->files, fd),
		    number ? (long long)number->file->probe->id : 0);
	check_rights(t, fd, number);
}

static void check_table(struct model_table *t)
{
	int fd;

	for (fd = -1; fd <= NUMBERS; fd++)
		check_number(t, fd);
	check_equal(berth_files_count(t->files), model_count(t));
	check_equal(berth_files_limit(t->files), t->limit);
}

/* ---- Calls ---- */

static int some_number(struct random *random)
{
	static const int odd[] = { -1, INT_MIN, INT_MAX, 1 << 30, NUMBERS };

	switch (random_below(random, 12)) {
	case 0:
		return odd[random_below(random, 5)];
	case 1:
		return (int)random_below(random, NUMBERS);
	case 2:
		return 62 + (int)random_below(random, 4);
	default:
		return (int)random_below(random, 24);
	}
}

static unsigned int some_flags(struct random *random)
{
	if (random_once_in(random, 16))
		return 1u << random_below(random, 32);
	return random_once_in(random, 2) ? O_CLOEXEC : 0;
}

static bool good_flags(unsigned int flags)
{
	return flags == 0 || flags == O_CLOEXEC;
}

/* Any free number will do: any of those that are. */
static void check_any(struct model_table *t, int fd)
{
	if (fd < 0) {
		check_equal(fd, lowest_free(t, 0));
		return;
	}
	check(fd < t->limit);
	check_equal(t->numbers[fd].state, FREE);
}

static void call_reserve(struct model_table *t, struct random *random)
{
	int min = some_number(random), fd;
	unsigned int flags = some_flags(random);

	if (random_once_in(random, 2)) {
		min = 0;
		flags |= BERTH_ANYFD;
	}
	fd = berth_files_reserve(t->files, min, flags);
	if (min < 0 || !good_flags(flags & ~BERTH_ANYFD))
		check_equal(fd, -EINVAL);
	else if (flags & BERTH_ANYFD && min == 0)
		check_any(t, fd);
	else
		check_equal(fd, lowest_free(t, min));
	flags &= ~BERTH_ANYFD;
	if (fd >= 0)
		t->numbers[fd] =
			(struct model_number){ .state = RESERVED,
					       .cloexec = flags == O_CLOEXEC };
}

/* A reserved number at or after a random one, or -1. */
static int some_reserved(struct model_table *t, struct random *random)
{
	int fd = (int)random_below(random, 40);

	for (; fd < NUMBERS; fd++)
		if (t->numbers[fd].state == RESERVED)
			return fd;
	return -1;
}

static void call_install(struct model_table *t, struct random *random)
{
	int fd = some_reserved(t, random);
	struct model_file *file;

	if (fd < 0)
		return;
	file = model_open(random);
	berth_files_install(t->files, fd, &file->probe->file);
	t->numbers[fd].state = INSTALLED;
	t->numbers[fd].file = file;
	check_number(t, fd);
}

static void call_unreserve(struct model_table *t, struct random *random)
{
	int fd = some_reserved(t, random);

	if (fd < 0)
		return;
	berth_files_unreserve(t->files, fd);
	t->numbers[fd] = (struct model_number){ .state = FREE };
	check_number(t, fd);
}

static void call_open(struct model_table *t, struct random *random)
{
	int fd = berth_files_reserve(t->files, 0, 0);
	struct model_file *file;

	check_equal(fd, lowest_free(t, 0));
	if (fd < 0)
		return;
	file = model_open(random);
	berth_files_install(t->files, fd, &file->probe->file);
	t->numbers[fd] =
		(struct model_number){ .state = INSTALLED, .file = file };
}

static void call_close(struct model_table *t, struct random *random)
{
	int fd = some_number(random);
	struct model_number *number = installed(t, fd);
	struct model_file *file = number ? number->file : NULL;

	check_equal(berth_files_close(t->files, fd),
		    number ? model_close(number) : -EBADF);
	if (file)
		check_file(file);
	check_number(t, fd);
}

static void call_dupfd(struct model_table *t, struct random *random)
{
	int fd = some_number(random), min = some_number(random), expected, ret;
	unsigned int flags = random_once_in(random, 2) ? O_CLOEXEC : 0;
	struct model_number *number = installed(t, fd);

	if (!number)
		expected = -EBADF;
	else if (min < 0 || min >= t->limit)
		expected = -EINVAL;
	else
		expected = lowest_free(t, min);
	ret = berth_files_dupfd(t->files, fd, min, flags);
	check_equal(ret, expected);
	if (ret >= 0)
		let_find(&t->numbers[ret], number, flags);
}

static void call_dup(struct model_table *t, struct random *random)
{
	int fd = some_number(random), ret;
	struct model_number *number = installed(t, fd);

	ret = berth_files_dup(t->files, fd);
	check_equal(ret, number ? lowest_free(t, 0) : -EBADF);
	if (ret >= 0)
		let_find(&t->numbers[ret], number, false);
}

static int expected_dup2(struct model_table *t, int oldfd, int newfd)
{
	if (newfd < 0 || newfd >= t->limit || !installed(t, oldfd))
		return -EBADF;
	return t->numbers[newfd].state == RESERVED ? -EBUSY : newfd;
}

static void model_dup2(struct model_table *t, int oldfd, int newfd,
		       bool cloexec)
{
	struct model_file *replaced = t->numbers[newfd].file;
	struct model_number former = t->numbers[newfd];

	let_find(&t->numbers[newfd], &t->numbers[oldfd], cloexec);
	if (former.state == INSTALLED) {
		model_close(&former);
		check_file(replaced);
	}
	check_number(t, newfd);
}

static void call_dup2(struct model_table *t, struct random *random)
{
	int oldfd = some_number(random), newfd = some_number(random), ret;

	ret = berth_files_dup2(t->files, oldfd, newfd);
	if (oldfd == newfd) {
		check_equal(ret, installed(t, oldfd) ? oldfd : -EBADF);
		return;
	}
	check_equal(ret, expected_dup2(t, oldfd, newfd));
	if (ret >= 0)
		model_dup2(t, oldfd, newfd, false);
}

static void call_dup3(struct model_table *t, struct random *random)
{
	int oldfd = some_number(random), newfd = some_number(random), ret;
	unsigned int flags = some_flags(random);

	ret = berth_files_dup3(t->files, oldfd, newfd, flags);
	if (oldfd == newfd || !good_flags(flags)) {
		check_equal(ret, -EINVAL);
		return;
	}
	check_equal(ret, expected_dup2(t, oldfd, newfd));
	if (ret >= 0)
		model_dup2(t, oldfd, newfd, flags);
}

static void call_renumber(struct model_table *t, struct random *random)
{
	int from = some_number(random), to = some_number(random), ret;
	struct model_number former;

	ret = berth_files_renumber(t->files, from, to);
	if (from == to) {
		check_equal(ret, installed(t, from) ? from : -EBADF);
		return;
	}
	check_equal(ret, expected_dup2(t, from, to));
	if (ret < 0)
		return;
	former = t->numbers[to];
	t->numbers[to] = t->numbers[from];
	t->numbers[from] = (struct model_number){ .state = FREE };
	if (former.state == INSTALLED)
		model_close(&former);
	check_number(t, from);
	check_number(t, to);
}

#if WITH_RIGHTS
static void call_limit_rights(struct model_table *t, struct random *random)
{
	int fd = some_number(random), expected = -EBADF;
	struct model_number *number = installed(t, fd);
	struct berth_rights lost, rights;

	lost.base = random_below(random, 1 << SOME_RIGHTS);
	lost.inheriting = random_below(random, 1 << SOME_RIGHTS);
	rights = (struct berth_rights){ ~lost.base, ~lost.inheriting };
	if (number)
		expected = number->lost.base & ~lost.base ||
					   number->lost.inheriting &
						   ~lost.inheriting
				   ? -EPERM
				   : 0;
	check_equal(berth_files_limit_rights(t->files, fd, &rights), expected);
	if (!expected)
		number->lost = lost;
	check_number(t, fd);
}
#endif

static void call_setfd(struct model_table *t, struct random *random)
{
	int fd = some_number(random), flags = (int)random_below(random, 4);
	struct model_number *number = installed(t, fd);

	check_equal(berth_files_setfd(t->files, fd, flags),
		    number ? 0 : -EBADF);
	if (number)
		number->cloexec = flags & FD_CLOEXEC;
	check_number(t, fd);
}

/* Hold a reference beside the table, or give one back. */
static void call_get_or_put(struct model_table *t, struct random *random)
{
	struct model_file **place = &held[random_below(random, HELD)];
	int fd = some_number(random);
	struct model_number *number = installed(t, fd);
	struct berth_file *file;

	if (*place) {
		berth_file_put(&(*place)->probe->file);
		model_put(*place);
		check_file(*place);
		*place = NULL;
		return;
	}
	file = berth_files_get(t->files, fd);
	check(file == (number ? &number->file->probe->file : NULL));
	if (number) {
		number->file->refs++;
		*place = number->file;
	}
}

static void call_limit(struct model_table *t, struct random *random)
{
	if (!random_once_in(random, 10))
		return;
	t->limit = (int)random_below(
		random, random_once_in(random, 2) ? 30 : NUMBERS + 1);
	check_equal(berth_files_set_limit(t->files, (unsigned int)t->limit), 0);
}

static void model_exec(struct model_table *t)
{
	struct model_number *number;

	for (number = t->numbers; number < t->numbers + NUMBERS; number++)
		if (number->state == INSTALLED && number->cloexec)
			model_close(number);
}

static void call_exec(struct model_table *t, struct random *random)
{
	if (!random_once_in(random, 20))
		return;
	berth_files_exec(t->files);
	model_exec(t);
	check_table(t);
}

static void model_end_table(struct model_table *t)
{
	struct model_number *number;

	for (number = t->numbers; number < t->numbers + NUMBERS; number++)
		if (number->state == INSTALLED)
			model_close(number);
	t->files = NULL;
}

static void end_table(struct model_table *t)
{
	berth_files_put_table(t->files);
	model_end_table(t);
}

static void model_copy(const struct model_table *from, struct model_table *to)
{
	struct model_number *number;

	to->limit = from->limit;
	memcpy(to->numbers, from->numbers, sizeof(to->numbers));
	for (number = to->numbers; number < to->numbers + NUMBERS; number++)
		if (number->state == INSTALLED)
			number->file->refs++;
		else
			*number = (struct model_number){ .state = FREE };
}

/* Copy the table to a random place, whose former table ends. */
static void call_fork(struct model_table *t, struct random *random)
{
	struct model_table *to = &model_tables[random_below(random, TABLES)];

	if (to == t || !random_once_in(random, 20))
		return;
	if (to->files)
		end_table(to);
	check_equal(berth_files_fork(t->files, &to->files), 0);
	model_copy(t, to);
	check_table(to);
}

static void (*const calls[])(struct model_table *, struct random *) = {
	call_reserve,	   call_install,    call_unreserve, call_open,
	call_open,	   call_close,	    call_close,	    call_dupfd,
	call_dup,	   call_dup2,	    call_dup2,	    call_dup3,
	call_setfd,	   call_get_or_put, call_limit,	    call_exec,
	call_fork,	   call_renumber,   call_renumber,
#if WITH_RIGHTS
	call_limit_rights,
#endif
};

/* ---- Rounds ---- */

static struct model_table *some_table(struct random *random)
{
	struct model_table *t;

	do {
		t = &model_tables[random_below(random, TABLES)];
	} while (!t->files);
	return t;
}

static void begin_round(void)
{
	struct model_table *first = &model_tables[0];

	memset(model_tables, 0, sizeof(model_tables));
	check_equal(berth_files_create(&first->files), 0);
	first->limit = NUMBERS;
	check_equal(berth_files_set_limit(first->files, NUMBERS), 0);
}

static void end_round(void)
{
	int i;

	for (i = 0; i < TABLES; i++)
		if (model_tables[i].files)
			end_table(&model_tables[i]);
	for (i = 0; i < HELD; i++) {
		if (!held[i])
			continue;
		berth_file_put(&held[i]->probe->file);
		model_put(held[i]);
		held[i] = NULL;
	}
	recycle_files();
	check_no_probe_left();
}

static void check_all_tables(void)
{
	int i;

	for (i = 0; i < TABLES; i++)
		if (model_tables[i].files)
			check_table(&model_tables[i]);
	recycle_files();
}

static void run_round(uint64_t seed)
{
	struct random random = random_of(seed, 0);
	size_t call;
	int i;

	begin_round();
	for (i = 0; i < CALLS_A_ROUND; i++) {
		call = random_below(&random, sizeof(calls) / sizeof(calls[0]));
		calls[call](some_table(&random), &random);
		if (i % CALLS_A_DRAIN == 0)
			check_all_tables();
	}
	check_all_tables();
	end_round();
}

static void tables_follow_the_model(void **state)
{
	uint64_t seed = test_seed();
	double end = now() + test_seconds();

	(void)state;
	do {
		repeat_with_seed(seed);
		run_round(seed++);
	} while (now() < end);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(tables_follow_the_model),
	};

	return run_cases(argc, argv, cases);
}
