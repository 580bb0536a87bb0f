/* SPDX-License-Identifier: MIT */
/* The write gate: W1 to W3 and W6, and that writers wait for a thaw. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "mount/mount.h"

static struct vfsmount mnt;

static int gate_create(void **state)
{
	(void)state;
	mnt_init(&mnt, false);
	return 0;
}

static int gate_destroy(void **state)
{
	(void)state;
	assert_true(mnt_is_idle(&mnt));
	mnt_finish(&mnt);
	return 0;
}

static void a_writer_keeps_it_writable(void **state)
{
	(void)state;
	assert_int_equal(mnt_want_write(&mnt), 0);
	assert_int_equal(mnt_make_readonly(&mnt), -EBUSY);
	assert_false(mnt_is_readonly(&mnt));
	assert_int_equal(mnt_want_write(&mnt), 0);
	mnt_drop_write(&mnt);
	mnt_drop_write(&mnt);
	assert_int_equal(mnt_make_readonly(&mnt), 0);
}

static void an_open_file_keeps_it_writable(void **state)
{
	(void)state;
	assert_int_equal(mnt_get_write_access(&mnt), 0);
	assert_int_equal(mnt_make_readonly(&mnt), -EBUSY);
	mnt_put_write_access(&mnt);
	assert_int_equal(mnt_make_readonly(&mnt), 0);
}

static void readonly_refuses_all_that_is_new(void **state)
{
	(void)state;
	assert_int_equal(mnt_make_readonly(&mnt), 0);
	assert_true(mnt_is_readonly(&mnt));
	assert_int_equal(mnt_want_write(&mnt), -EROFS);
	assert_false(mnt_try_want_write(&mnt));
	assert_int_equal(mnt_get_write_access(&mnt), -EROFS);
	mnt_make_writable(&mnt);
	assert_int_equal(mnt_want_write(&mnt), 0);
	mnt_drop_write(&mnt);
}

/* ---- Nobody is inside while the mount is read-only ---- */

static atomic_int inside, forbidden;

static void write_again_and_again(struct worker *me)
{
	while (keep_going()) {
		if (mnt_want_write(&mnt))
			continue;
		atomic_fetch_add(&inside, 1);
		check_equal(atomic_load(&forbidden), 0);
		atomic_fetch_sub(&inside, 1);
		mnt_drop_write(&mnt);
		me->work++;
	}
}

static void remount_again_and_again(struct worker *me)
{
	while (keep_going()) {
		if (mnt_make_readonly(&mnt))
			continue;
		atomic_store(&forbidden, 1);
		check_equal(atomic_load(&inside), 0);
		atomic_store(&forbidden, 0);
		mnt_make_writable(&mnt);
		me->work++;
	}
}

static void writers_and_readonly_exclude_each_other(void **state)
{
	(void)state;
	race(NULL, write_again_and_again, remount_again_and_again,
	     write_again_and_again);
}

/* The fork of the process freezes every mount: in the child nobody is inside,
 * and the gate is open. */
static void see_an_open_gate(void)
{
	leave_child(mnt_is_idle(&mnt) && mnt_want_write(&mnt) == 0 ? 0 : 1);
}

static void fork_again_and_again(struct worker *me)
{
	fork_until_over(me, see_an_open_gate);
}

static void a_fork_finds_nobody_inside(void **state)
{
	(void)state;
	if (UNDER_ASAN || UNDER_TSAN)
		skip(); /* their allocator's locks do not survive a fork */
	race(NULL, write_again_and_again, fork_again_and_again);
}

#define gate_test(name) \
	cmocka_unit_test_setup_teardown(name, gate_create, gate_destroy)

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		gate_test(a_writer_keeps_it_writable),
		gate_test(an_open_file_keeps_it_writable),
		gate_test(readonly_refuses_all_that_is_new),
		gate_test(writers_and_readonly_exclude_each_other),
		gate_test(a_fork_finds_nobody_inside),
	};

	return run_cases(argc, argv, cases);
}
