/* SPDX-License-Identifier: MIT */
/* What is done to many numbers at once: ranges, visits, revocation, sets. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include <berth/files.h>

#include "harness.h"
#include "probe.h"

#define UNSHARE BERTH_CLOSE_RANGE_UNSHARE
#define CLOEXEC BERTH_CLOSE_RANGE_CLOEXEC

static void open_many(int count)
{
	int fd;

	for (fd = 0; fd < count; fd++)
		assert_int_equal(probe_open(table, NULL), fd);
}

/* Are just the numbers from @from to @to - 1 open, of those below @count? */
static void check_open(struct berth_files *files, int from, int to, int count)
{
	int fd;

	for (fd = 0; fd < count; fd++)
		assert_int_equal(is_open(files, fd), fd >= from && fd < to);
}

/* ---- Ranges ---- */

static void close_range_closes_what_is_in_it(void **state)
{
	(void)state;
	open_many(200);
	assert_int_equal(berth_files_close_range(&table, 10, 190, 0), 0);
	assert_int_equal(berth_files_count(table), 19);
	assert_true(is_open(table, 9));
	assert_false(is_open(table, 10));
	assert_false(is_open(table, 190));
	assert_true(is_open(table, 191));
	assert_int_equal(probe_open(table, NULL), 10);
	assert_int_equal(berth_files_close_range(&table, 5, 5, 0), 0);
	assert_false(is_open(table, 5));
	assert_true(is_open(table, 6));
	assert_int_equal(berth_files_close_range(&table, 0, UINT_MAX, 0), 0);
	assert_int_equal(berth_files_count(table), 0);
}

static void close_range_flushes_and_hides_its_errors(void **state)
{
	struct fate *fate = new_fate();
	struct berth_file *file;

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	file = berth_files_get(table, 0);
	probe_of(file)->flush_result = -EIO;
	berth_file_put(file);
	assert_int_equal(berth_files_close_range(&table, 0, 0, 0), 0);
	assert_int_equal(fate->flushes, 1);
	assert_int_equal(fate->releases, 1);
}

static void close_range_refuses(void **state)
{
	unsigned int flag;

	(void)state;
	open_many(3);
	assert_int_equal(berth_files_close_range(&table, 1, 0, 0), -EINVAL);
	assert_int_equal(berth_files_close_range(&table, UINT_MAX, 0, 0),
			 -EINVAL);
	assert_int_equal(berth_files_close_range(&table, 2, 1, UNSHARE),
			 -EINVAL);
	for (flag = 1; flag; flag <<= 1) {
		if (flag & (UNSHARE | CLOEXEC))
			continue;
		assert_int_equal(berth_files_close_range(&table, 0, 2, flag),
				 -EINVAL);
		assert_int_equal(
			berth_files_close_range(&table, 0, 2, flag | CLOEXEC),
			-EINVAL);
	}
	assert_int_equal(berth_files_count(table), 3);
}

static void close_range_beyond_the_table_is_no_error(void **state)
{
	static const unsigned int far[] = { 3,	      64,	1023,
					    1024,     1u << 30, INT_MAX,
					    1u << 31, UINT_MAX };
	unsigned int i;

	(void)state;
	open_many(3);
	for (i = 0; i < sizeof(far) / sizeof(*far); i++) {
		assert_int_equal(
			berth_files_close_range(&table, far[i], UINT_MAX, 0),
			0);
		assert_int_equal(berth_files_close_range(&table, far[i], far[i],
							 CLOEXEC),
				 0);
	}
	assert_int_equal(berth_files_count(table), 3);
}

static void close_range_marks(void **state)
{
	int fd;

	(void)state;
	open_many(100);
	assert_int_equal(berth_files_close_range(&table, 50, 80, CLOEXEC), 0);
	for (fd = 0; fd < 100; fd++)
		assert_int_equal(berth_files_getfd(table, fd),
				 fd >= 50 && fd <= 80 ? FD_CLOEXEC : 0);
	assert_int_equal(berth_files_count(table), 100);
}

static void close_range_leaves_reserved_numbers(void **state)
{
	(void)state;
	assert_int_equal(berth_files_reserve(table, 0, 0), 0);
	assert_int_equal(probe_open(table, NULL), 1);
	assert_int_equal(berth_files_close_range(&table, 0, UINT_MAX, 0), 0);
	assert_int_equal(berth_files_count(table), 1);
	berth_files_install(table, 0, &probe_create(NULL, 0)->file);
	assert_true(is_open(table, 0));
}

static void close_range_in_a_copy(void **state)
{
	struct berth_files *mine = berth_files_get_table(table);
	struct fate *fate = new_fate();

	(void)state;
	open_many(4);
	assert_int_equal(probe_open(table, fate), 4);
	assert_int_equal(berth_files_setfd(table, 1, FD_CLOEXEC), 0);
	assert_int_equal(berth_files_close_range(&mine, 2, UINT_MAX, UNSHARE),
			 0);
	assert_ptr_not_equal(mine, table);
	check_open(mine, 0, 2, 10);
	check_open(table, 0, 5, 10);
	assert_int_equal(berth_files_getfd(mine, 1), FD_CLOEXEC);
	/* As a copy followed by closes: the copy was flushed, too. */
	assert_int_equal(fate->flushes, 1);
	assert_int_equal(fate->releases, 0);

	/* Alone by now: no further copy, on either side. */
	assert_int_equal(
		berth_files_close_range(&mine, 1, 1, UNSHARE | CLOEXEC), 0);
	check_open(mine, 0, 2, 10);
	berth_files_put_table(mine);
	mine = table;
	assert_int_equal(berth_files_close_range(&mine, 0, 0, UNSHARE), 0);
	assert_ptr_equal(mine, table);
	check_open(table, 1, 5, 10);
}

static void unshare_is_nothing_for_one_alone(void **state)
{
	struct berth_files *mine = table, *other;

	(void)state;
	open_many(2);
	assert_int_equal(berth_files_unshare(&mine), 0);
	assert_ptr_equal(mine, table);
	other = berth_files_get_table(table);
	assert_int_equal(berth_files_unshare(&other), 0);
	assert_ptr_not_equal(other, table);
	assert_int_equal(berth_files_close(other, 0), 0);
	assert_true(is_open(table, 0));
	assert_int_equal(berth_files_unshare(&mine), 0);
	assert_ptr_equal(mine, table);
	berth_files_put_table(other);
}

static void closefrom_closes_the_rest(void **state)
{
	(void)state;
	open_many(300);
	berth_files_closefrom(table, INT_MAX);
	berth_files_closefrom(table, 300);
	assert_int_equal(berth_files_count(table), 300);
	berth_files_closefrom(table, 64);
	assert_int_equal(berth_files_count(table), 64);
	check_open(table, 0, 64, 300);
	berth_files_closefrom(table, -1);
	assert_int_equal(berth_files_count(table), 0);
}

/* ---- Visits ---- */

struct visits {
	int fds[16];
	int count;
	int stop_at;
};

static int visit(int fd, struct berth_file *file, void *arg)
{
	struct visits *visits = arg;

	probe_check_owned(probe_of(file));
	visits->fds[visits->count++] = fd;
	return fd == visits->stop_at ? -EINTR : 0;
}

/* ---- Holders ---- */

static struct berth_files *other_table;

struct found {
	unsigned int here, there, strange;
	bool close;
};

static int note_holder(struct berth_files *files, int fd, void *arg)
{
	struct found *found = arg;

	found->here += files == table && berth_files_owner(files) == &table;
	found->there += files == other_table && !berth_files_owner(files);
	found->strange += fd == 1;
	if (found->close)
		berth_files_close(files, fd);
	return 0;
}

static int stop_at_once(struct berth_files *files, int fd, void *arg)
{
	(void)files;
	(void)fd;
	++*(int *)arg;
	return -EINTR;
}

static void holders_are_told_and_may_be_closed(void **state)
{
	struct fate *fate = new_fate();
	struct found found = { 0 };
	struct berth_file *file;
	int calls = 0;

	(void)state;
	assert_int_equal(probe_open(table, fate), 0);
	assert_int_equal(probe_open(table, NULL), 1);
	assert_int_equal(berth_files_dupfd(table, 0, 100, 0), 100);
	berth_files_set_owner(table, &table);
	assert_int_equal(berth_files_fork(table, &other_table), 0);
	file = berth_files_get(table, 0);

	assert_int_equal(berth_files_holders(file, note_holder, &found), 0);
	assert_int_equal(found.here, 2);
	assert_int_equal(found.there, 2);
	assert_int_equal(berth_files_holders(file, stop_at_once, &calls),
			 -EINTR);
	assert_int_equal(calls, 1);

	found = (struct found){ .close = true };
	assert_int_equal(berth_files_holders(file, note_holder, &found), 0);
	assert_int_equal(found.here + found.there, 4);
	assert_int_equal(found.strange, 0);
	assert_int_equal(atomic_load(&fate->flushes), 4);
	assert_int_equal(berth_files_holders(file, note_holder, &found), 0);
	assert_int_equal(found.here + found.there, 4);
	berth_file_put(file);
	assert_int_equal(atomic_load(&fate->releases), 1);
	assert_int_equal(berth_files_close(table, 1), 0);
	berth_files_put_table(other_table);
}

static void iterate_goes_upwards(void **state)
{
	struct visits visits = { .stop_at = -1 };

	(void)state;
	open_many(2);
	assert_int_equal(berth_files_dup2(table, 0, 70), 70);
	assert_int_equal(berth_files_dup2(table, 1, 1000), 1000);
	assert_int_equal(berth_files_reserve(table, 2, 0), 2);
	assert_int_equal(berth_files_iterate(table, -5, visit, &visits), 0);
	assert_int_equal(visits.count, 4);
	assert_int_equal(visits.fds[0], 0);
	assert_int_equal(visits.fds[1], 1);
	assert_int_equal(visits.fds[2], 70);
	assert_int_equal(visits.fds[3], 1000);
	berth_files_unreserve(table, 2);
}

static void iterate_starts_and_stops(void **state)
{
	struct visits visits = { .stop_at = 5 };

	(void)state;
	open_many(10);
	assert_int_equal(berth_files_iterate(table, 3, visit, &visits), -EINTR);
	assert_int_equal(visits.count, 3);
	assert_int_equal(visits.fds[0], 3);
	assert_int_equal(berth_files_iterate(table, 10, visit, &visits), 0);
	assert_int_equal(berth_files_iterate(table, INT_MAX, visit, &visits),
			 0);
	assert_int_equal(visits.count, 3);
}

static int visit_and_close(int fd, struct berth_file *file, void *arg)
{
	(void)arg;
	assert_int_equal(berth_files_close(table, fd), 0);
	probe_check_owned(probe_of(file));
	return 0;
}

static void a_visitor_may_close(void **state)
{
	(void)state;
	open_many(100);
	assert_int_equal(berth_files_iterate(table, 0, visit_and_close, NULL),
			 0);
	assert_int_equal(berth_files_count(table), 0);
}

/* ---- Revocation ---- */

static bool is_its_fate(int fd, struct berth_file *file, void *fate)
{
	(void)fd;
	return probe_of(file)->fate == fate;
}

static bool is_any(int fd, struct berth_file *file, void *arg)
{
	(void)fd;
	(void)file;
	(void)arg;
	return true;
}

static void revoke_replaces_what_is_refused(void **state)
{
	struct fate *refused = new_fate(), *null_fate = new_fate();
	struct probe *null = probe_create(null_fate, 0);

	(void)state;
	open_many(2);
	assert_int_equal(probe_open(table, refused), 2);
	assert_int_equal(berth_files_dup3(table, 2, 100, O_CLOEXEC), 100);
	assert_int_equal(
		berth_files_revoke(table, is_its_fate, refused, &null->file),
		2);
	assert_int_equal(probe_id_at(table, 2), null->id);
	assert_int_equal(probe_id_at(table, 100), null->id);
	assert_int_equal(berth_files_getfd(table, 100), FD_CLOEXEC);
	assert_int_equal(berth_files_getfd(table, 2), 0);
	assert_int_equal(refused->flushes, 2);
	assert_int_equal(refused->releases, 1);
	/* The null file itself is none that can be refused. */
	assert_int_equal(berth_files_revoke(table, is_any, NULL, &null->file),
			 2);
	assert_int_equal(berth_files_revoke(table, is_any, NULL, &null->file),
			 0);
	berth_file_put(&null->file);
	assert_int_equal(null_fate->releases, 0);
	berth_files_closefrom(table, 0);
	assert_int_equal(null_fate->releases, 1);
}

static void revoke_closes_without_a_null_file(void **state)
{
	struct fate *refused = new_fate();

	(void)state;
	open_many(1);
	assert_int_equal(probe_open(table, refused), 1);
	assert_int_equal(berth_files_revoke(table, is_its_fate, refused, NULL),
			 1);
	assert_int_equal(refused->releases, 1);
	assert_int_equal(berth_files_count(table), 1);
	assert_int_equal(probe_open(table, NULL), 1);
	assert_int_equal(berth_files_revoke(table, is_its_fate, refused, NULL),
			 0);
}

/* The number changes hands between the question and the answer. */
static bool is_its_fate_and_moves(int fd, struct berth_file *file, void *fate)
{
	if (probe_of(file)->fate != fate)
		return false;
	assert_int_equal(fd, 0);
	assert_int_equal(berth_files_dup2(table, 1, 0), 0);
	return true;
}

static void look_again(struct berth_file *null_file)
{
	struct fate *refused = new_fate();
	uint64_t kept;

	assert_int_equal(probe_open(table, refused), 0);
	assert_int_equal(probe_open(table, NULL), 1);
	kept = probe_id_at(table, 1);
	assert_int_equal(berth_files_revoke(table, is_its_fate_and_moves,
					    refused, null_file),
			 0);
	assert_int_equal(probe_id_at(table, 0), kept);
	assert_int_equal(refused->flushes, 1);
	assert_int_equal(refused->releases, 1);
	berth_files_closefrom(table, 0);
}

static void revoke_looks_again(void **state)
{
	struct fate *null_fate = new_fate();
	struct probe *null = probe_create(null_fate, 0);

	(void)state;
	look_again(NULL);
	look_again(&null->file);
	assert_int_equal(null_fate->releases, 0);
	berth_file_put(&null->file);
	assert_int_equal(null_fate->releases, 1);
}

/* A copy to a number that was looked at already. */
static bool is_its_fate_and_copies(int fd, struct berth_file *file, void *fate)
{
	static bool copied;

	if (probe_of(file)->fate != fate)
		return false;
	if (!copied) {
		copied = true;
		assert_int_equal(berth_files_dup2(table, fd, 0), 0);
	}
	return true;
}

static void revoke_meets_copies(void **state)
{
	struct fate *refused = new_fate();

	(void)state;
	open_many(5);
	assert_int_equal(probe_open(table, refused), 5);
	assert_int_equal(berth_files_revoke(table, is_its_fate_and_copies,
					    refused, NULL),
			 2);
	assert_int_equal(refused->releases, 1);
	check_open(table, 1, 5, 8);
}

/* ---- One number ---- */

static void receive_takes_a_reference_of_its_own(void **state)
{
	struct fate *fate = new_fate();
	struct probe *probe = probe_create(fate, 0);
	int where = -7;

	(void)state;
	open_many(1);
	assert_int_equal(
		berth_files_receive(table, &probe->file, O_CLOEXEC, &where), 1);
	assert_int_equal(where, 1);
	assert_int_equal(berth_files_getfd(table, 1), FD_CLOEXEC);
	assert_int_equal(berth_files_receive(table, &probe->file, 0, NULL), 2);
	assert_int_equal(berth_files_same(table, 1, 2), 1);
	assert_int_equal(
		berth_files_receive(table, &probe->file, O_APPEND, &where),
		-EINVAL);
	berth_files_set_limit(table, 3);
	assert_int_equal(berth_files_receive(table, &probe->file, 0, &where),
			 -EMFILE);
	assert_int_equal(where, 1);
	berth_files_closefrom(table, 1);
	assert_int_equal(fate->releases, 0);
	berth_file_put(&probe->file);
	assert_int_equal(fate->releases, 1);
}

static void same_tells_files_apart(void **state)
{
	(void)state;
	open_many(2);
	assert_int_equal(berth_files_dup(table, 0), 2);
	assert_int_equal(berth_files_same(table, 0, 2), 1);
	assert_int_equal(berth_files_same(table, 2, 2), 1);
	assert_int_equal(berth_files_same(table, 0, 1), 0);
	assert_int_equal(berth_files_same(table, 0, 3), -EBADF);
	assert_int_equal(berth_files_same(table, 3, 0), -EBADF);
	assert_int_equal(berth_files_same(table, 3, 3), -EBADF);
	assert_int_equal(berth_files_same(table, -1, INT_MAX), -EBADF);
	assert_int_equal(berth_files_same(table, INT_MIN, 0), -EBADF);
}

static void borrow_of_a_kind(void **state)
{
	static const struct berth_file_operations other;
	const struct berth_file_operations *ops;
	struct berth_file *file;

	(void)state;
	open_many(1);
	file = berth_files_borrow(table, 0);
	ops = file->ops;
	berth_files_return(file);
	assert_ptr_equal(berth_files_borrow_of(table, 0, ops), file);
	berth_files_return(file);
	assert_null(berth_files_borrow_of(table, 0, &other));
	assert_null(berth_files_borrow_of(table, 0, NULL));
	assert_null(berth_files_borrow_of(table, 1, ops));
	assert_null(berth_files_borrow_of(table, -1, ops));
	/* Nothing is borrowed now: this would report it. */
	assert_int_equal(berth_files_close(table, 0), 0);
}

/* ---- Sets ---- */

static void poll_sets(void **state)
{
	static const int numbers[] = { 0, 1, -1, 2, INT_MAX, INT_MIN, 64, 63 };
	struct pollfd fds[8];
	unsigned int i;

	(void)state;
	open_many(2);
	assert_int_equal(berth_files_reserve(table, 63, 0), 63);
	for (i = 0; i < 8; i++)
		fds[i] = (struct pollfd){ .fd = numbers[i], .revents = 0x7f };
	assert_int_equal(berth_files_check_poll(table, fds, 8), 4);
	for (i = 0; i < 8; i++)
		assert_int_equal(fds[i].revents,
				 numbers[i] >= 2 ? POLLNVAL : 0);
	assert_int_equal(berth_files_check_poll(table, NULL, 0), 0);
	berth_files_unreserve(table, 63);
}

static void select_sets(void **state)
{
	fd_set in, out;

	(void)state;
	open_many(70);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(3, &in);
	FD_SET(69, &out);
	assert_int_equal(berth_files_check_select(table, -1, NULL, NULL, NULL),
			 -EINVAL);
	assert_int_equal(
		berth_files_check_select(table, INT_MIN, &in, NULL, NULL),
		-EINVAL);
	assert_int_equal(
		berth_files_check_select(table, INT_MAX, NULL, NULL, NULL), 0);
	assert_int_equal(berth_files_check_select(table, 70, &in, &out, &in),
			 0);
	FD_SET(70, &out);
	assert_int_equal(berth_files_check_select(table, 70, &in, &out, &in),
			 0);
	assert_int_equal(berth_files_check_select(table, 71, &in, NULL, &in),
			 0);
	assert_int_equal(berth_files_check_select(table, 71, &out, NULL, NULL),
			 -EBADF);
	assert_int_equal(berth_files_check_select(table, 71, NULL, &out, NULL),
			 -EBADF);
	assert_int_equal(berth_files_check_select(table, 71, NULL, NULL, &out),
			 -EBADF);
	assert_int_equal(berth_files_check_select(table, 0, &out, NULL, NULL),
			 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		table_test(close_range_closes_what_is_in_it),
		table_test(close_range_flushes_and_hides_its_errors),
		table_test(close_range_refuses),
		table_test(close_range_beyond_the_table_is_no_error),
		table_test(close_range_marks),
		table_test(close_range_leaves_reserved_numbers),
		table_test(close_range_in_a_copy),
		table_test(unshare_is_nothing_for_one_alone),
		table_test(closefrom_closes_the_rest),
		table_test(holders_are_told_and_may_be_closed),
		table_test(iterate_goes_upwards),
		table_test(iterate_starts_and_stops),
		table_test(a_visitor_may_close),
		table_test(revoke_replaces_what_is_refused),
		table_test(revoke_closes_without_a_null_file),
		table_test(revoke_looks_again),
		table_test(revoke_meets_copies),
		table_test(receive_takes_a_reference_of_its_own),
		table_test(same_tells_files_apart),
		table_test(borrow_of_a_kind),
		table_test(poll_sets),
		table_test(select_sets),
	};

	return run_cases(argc, argv, cases);
}
