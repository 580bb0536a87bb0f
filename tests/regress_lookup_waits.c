/* SPDX-License-Identifier: MIT */
/*
 * A lookup that meets entries or attributes in the midst of a change, whose
 * author does not get on, waits outside its read section (invariant F10).
 *
 * It spun and slept inside one, and so held up every grace period.  Here the
 * test is the author: it leaves a counter odd, and has grace periods pass
 * meanwhile.  Should the lookup wait in a read section, that never ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "base/lock.h"
#include "base/rcu.h"
#include "vfs/open.h"

/* After them: it has globals by the names of their parameters. */
#include "fixture.h"
#include "harness.h"

static unsigned int started, ended; /* relaxed: they count, and order nothing */

struct lookup {
	int (*make)(void);
	int result;
};

static void *lookup_thread(void *arg)
{
	struct lookup *lookup = arg;

	fetch_add_relaxed(&started, 1);
	lookup->result = lookup->make();
	fetch_add_relaxed(&ended, 1);
	return NULL;
}

static void free_nothing(struct berth_retired *retired)
{
	(void)retired;
}

/*
 * Long enough that the lookup has begun to wait, which it goes on doing as long
 * as the counter is odd; and through all of that grace periods come to an end.
 */
static void let_grace_periods_pass(void)
{
	struct berth_retired retired;
	int i;

	while (!load_relaxed(&started))
		sys_yield(0);
	for (i = 0; i < 300; i++) {
		rcu_retire(&retired, free_nothing);
		check(rcu_drain());
		sys_yield(0);
	}
	check(!load_relaxed(&ended));
}

static void make_while_odd(struct seqcount *seq, int (*make)(void))
{
	struct lookup lookup = { .make = make };
	pthread_t thread;

	store_relaxed(&started, 0u);
	store_relaxed(&ended, 0u);
	seq_write_begin(seq);
	check_equal(pthread_create(&thread, NULL, lookup_thread, &lookup), 0);
	let_grace_periods_pass();
	seq_write_end(seq);
	check_equal(pthread_join(thread, NULL), 0);
	check_equal(lookup.result, 0);
}

static int stat_path(void)
{
	struct berth_stat st;

	return berth_stat(task, "/f", &st);
}

static int stat_number(void)
{
	struct berth_stat st;

	return berth_fstat(task, 0, &st);
}

static int open_and_close(void)
{
	int fd = berth_open(task, "/f", O_RDONLY, 0);

	return fd < 0 ? fd : berth_close(task, fd);
}

static int create_again(void)
{
	int fd = berth_open(task, "/f", O_CREAT | O_RDWR, 0644);

	return fd < 0 ? fd : berth_close(task, fd);
}

static int open_below(void)
{
	const struct berth_open_how how = { .flags = O_RDONLY,
					    .resolve = BERTH_RESOLVE_BENEATH };
	int fd = berth_openat2(task, BERTH_AT_FDCWD, "f", &how, sizeof(how));

	return fd < 0 ? fd : berth_close(task, fd);
}

static int read_link(void)
{
	char target[8];

	return berth_readlink(task, "/l", target, sizeof(target)) == 1 ? 0
								       : -EIO;
}

static int change_mode(void)
{
	return berth_chmod(task, "/f", 0600);
}

static int look_up_name(void)
{
	struct berth_inode *root, *found;
	int ret;

	berth_inode_root(vfs, &root);
	ret = berth_inode_lookup(task, root, "f", &found, NULL);
	if (!ret)
		berth_inode_forget(found, 1);
	berth_inode_forget(root, 1);
	return ret;
}

static int working_directory(void)
{
	char path[8];

	return berth_getcwd(task, path, sizeof(path)) == 2 ? 0 : -EIO;
}

static void entries_on_the_move(void **state)
{
	struct seqcount *seq = &vfs->root->dir.seq;

	(void)state;
	make_file("/f", "hello");
	check_equal(berth_symlink(task, "f", "/l"), 0);
	make_while_odd(seq, stat_path);
	make_while_odd(seq, open_and_close);
	make_while_odd(seq, read_link);
	make_while_odd(seq, create_again);
	make_while_odd(seq, change_mode);
	make_while_odd(seq, look_up_name);
}

static void attributes_on_the_move(void **state)
{
	struct seqcount *seq;
	struct file *file;

	(void)state;
	make_file("/f", "hello");
	check_equal(berth_open(task, "/f", O_RDONLY, 0), 0);
	file = vfs_borrow(task, 0, 0);
	seq = &file->inode->attr_seq;
	vfs_return(file);
	make_while_odd(seq, stat_path);
	make_while_odd(seq, stat_number);
}

static void a_rename_under_way(void **state)
{
	(void)state;
	make_file("/f", "hello");
	make_while_odd(&vfs->rename_seq, working_directory);
	make_while_odd(&vfs->rename_seq, open_below);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, create, destroy)

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		CASE(entries_on_the_move),
		CASE(attributes_on_the_move),
		CASE(a_rename_under_way),
	};

	return run_cases(argc, argv, cases);
}
