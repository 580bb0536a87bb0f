/* SPDX-License-Identifier: MIT */
/* What instances and tasks take from the system itself, when it has no more. */
#include <errno.h>

#include "base/fault.h"
#include "fixture.h"
#include "harness.h"

/* Let one allocation after the other fail, until @make needs no more of them. */
static void fails_whole(int (*make)(void), void (*end)(void))
{
	uint64_t nth;
	int ret;

	for (nth = 1; nth < 100; nth++) {
		sys_fail_nth(SYS_ALLOC, nth);
		ret = make();
		sys_fail_none();
		if (!ret)
			break;
		check_equal(ret, -ENOMEM);
	}
	check(nth > 1 && nth < 100);
	end();
}

static struct berth_vfs *made_vfs;
static struct berth_task *made_task;

static int make_vfs(void)
{
	return berth_vfs_create(NULL, &made_vfs);
}

static void end_vfs(void)
{
	check_equal(berth_vfs_destroy(made_vfs), 0);
}

static int make_task(void)
{
	return berth_task_create(vfs, NULL, &made_task);
}

static int fork_a_task(void)
{
	return berth_task_fork(task, 0, &made_task);
}

static void end_task(void)
{
	berth_task_destroy(made_task);
}

static void an_instance(void **state)
{
	(void)state;
	fails_whole(make_vfs, end_vfs);
}

static void a_task(void **state)
{
	(void)state;
	fails_whole(make_task, end_task);
}

static void a_fork(void **state)
{
	(void)state;
	fails_whole(fork_a_task, end_task);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(an_instance),
		cmocka_unit_test_setup_teardown(a_task, create, destroy),
		cmocka_unit_test_setup_teardown(a_fork, create, destroy),
	};

	return run_cases(argc, argv, cases);
}
