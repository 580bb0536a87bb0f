/* SPDX-License-Identifier: MIT */
/*
 * Each lookup by inode took a step of the reference count, which has 31 bits: a
 * client that goes on looking up used them up and the server aborted.
 */
#include "harness.h"
#include "vfs/open.h"

#include "fixture.h"

static void lookups_take_one_reference_in_all(void **state)
{
	struct berth_inode *root, *again;
	unsigned int refs;
	int i;

	(void)state;
	assert_int_equal(berth_inode_root(vfs, &root), 0);
	refs = kref_read(&inode_of_handle(root)->refs);
	for (i = 0; i < 1000; i++)
		assert_int_equal(
			berth_inode_lookup(task, root, ".", &again, NULL), 0);
	assert_int_equal(kref_read(&inode_of_handle(root)->refs), refs);
	berth_inode_forget(root, 1000);
	assert_int_equal(kref_read(&inode_of_handle(root)->refs), refs);
	berth_inode_forget(root, 1);
	assert_int_equal(kref_read(&inode_of_handle(root)->refs), refs - 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(
			lookups_take_one_reference_in_all, create, destroy),
	};

	return run_cases(argc, argv, cases);
}
