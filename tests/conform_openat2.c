/* SPDX-License-Identifier: MIT */
/* openat2: its strictness, and walks that stay where they began. */
#include "trace.h"

static int64_t open_how(struct trace *t, int fd, const char *path,
			unsigned int flags, uint64_t resolve)
{
	return t_call(t, .kind = OP_OPEN2, .fd = fd, .path = path,
		      .flags = flags, .resolve = resolve);
}

static void tree(struct trace *t)
{
	t_mkdir(t, "d", 0755);
	t_mkdir(t, "d/e", 0755);
	t_file(t, "f", 0644, "outside");
	t_file(t, "d/f", 0644, "inside");
	t_symlink(t, "f", "d/rel");
	t_symlink(t, "/f", "d/abs");
	t_symlink(t, "../f", "d/up");
	t_symlink(t, "../../../f", "d/far_up");
	t_symlink(t, "e/../f", "d/round");
	t_symlink(t, "/", "d/root");
	is(t, 0, t_open(t, "d", O_RDONLY | O_DIRECTORY, 0));
}

static const char *const paths[] = {
	"f",	"./f", "e/../f", "../f",     "../d/f",	"/f",	     "/d/f",
	"rel",	"abs", "up",	 "far_up",   "round",	"e/../../f", "root/f",
	"root", "..",  "/..",	 "e/..",     "e/../..", "/",	     "missing",
	"rel/", "f/",  "e/",	 "root/d/f",
};

static void each_path(struct trace *t, unsigned int flags, uint64_t resolve)
{
	size_t i;
	int fd;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		fd = (int)open_how(t, 0, paths[i], flags, resolve);
		if (fd < 0)
			continue;
		if (t_fstat(t, fd) == 0 && S_ISREG(t->out.st.mode))
			t_read(t, fd, 20);
		t_close(t, fd);
	}
}

static void beneath(struct trace *t)
{
	tree(t);
	is(t, 1, open_how(t, 0, "round", O_RDONLY, BERTH_RESOLVE_BENEATH));
	t_close(t, 1);
	is(t, -EXDEV, open_how(t, 0, "up", O_RDONLY, BERTH_RESOLVE_BENEATH));
	is(t, -EXDEV, open_how(t, 0, "/f", O_RDONLY, BERTH_RESOLVE_BENEATH));
	is(t, -EXDEV, open_how(t, 0, "abs", O_RDONLY, BERTH_RESOLVE_BENEATH));
	each_path(t, O_RDONLY, BERTH_RESOLVE_BENEATH);
	each_path(t, O_RDONLY, BERTH_RESOLVE_BENEATH | BERTH_RESOLVE_NO_XDEV);
	each_path(t, O_PATH | O_NOFOLLOW, BERTH_RESOLVE_BENEATH);
}

static void in_root(struct trace *t)
{
	tree(t);
	is(t, 1, open_how(t, 0, "/f", O_RDONLY, BERTH_RESOLVE_IN_ROOT));
	t_read(t, 1, 20);
	is_text(t, "inside");
	t_close(t, 1);
	is(t, 1, open_how(t, 0, "far_up", O_RDONLY, BERTH_RESOLVE_IN_ROOT));
	t_read(t, 1, 20);
	is_text(t, "inside");
	t_close(t, 1);
	each_path(t, O_RDONLY, BERTH_RESOLVE_IN_ROOT);
	is(t, -EBADF, open_how(t, 7, "/f", O_RDONLY, BERTH_RESOLVE_IN_ROOT));
	t_chdir(t, "d/e");
	is(t, 1, open_how(t, AT_FDCWD, "..", O_RDONLY, BERTH_RESOLVE_IN_ROOT));
	t_fstat(t, 1);
}

static void no_links(struct trace *t)
{
	tree(t);
	is(t, -ELOOP,
	   open_how(t, 0, "rel", O_RDONLY, BERTH_RESOLVE_NO_SYMLINKS));
	is(t, 1,
	   open_how(t, 0, "rel", O_PATH | O_NOFOLLOW,
		    BERTH_RESOLVE_NO_SYMLINKS));
	t_close(t, 1);
	each_path(t, O_RDONLY, BERTH_RESOLVE_NO_SYMLINKS);
	each_path(t, O_RDONLY, BERTH_RESOLVE_NO_MAGICLINKS);
}

static void creation(struct trace *t)
{
	tree(t);
	is(t, -EXDEV,
	   t_call(t, .kind = OP_OPEN2, .fd = 0, .path = "../new",
		  .flags = O_CREAT | O_RDWR, .mode = 0644,
		  .resolve = BERTH_RESOLVE_BENEATH));
	is(t, 1,
	   t_call(t, .kind = OP_OPEN2, .fd = 0, .path = "/../new",
		  .flags = O_CREAT | O_RDWR, .mode = 0644,
		  .resolve = BERTH_RESOLVE_IN_ROOT));
	is(t, 2,
	   t_call(t, .kind = OP_OPEN2, .fd = 0, .path = "e",
		  .flags = O_TMPFILE | O_RDWR, .mode = 0600,
		  .resolve = BERTH_RESOLVE_BENEATH));
	t_tree(t);
}

static void strictness(struct trace *t)
{
	tree(t);
	is(t, -EINVAL, open_how(t, 0, "f", 1u << 29, 0));
	is(t, -EINVAL, open_how(t, 0, "f", O_RDONLY, 0x40));
	is(t, -EINVAL,
	   open_how(t, 0, "f", O_RDONLY,
		    BERTH_RESOLVE_BENEATH | BERTH_RESOLVE_IN_ROOT));
	is(t, -EINVAL, open_how(t, 0, "f", O_PATH | O_RDWR, 0));
	is(t, -EINVAL, open_how(t, 0, "f", O_PATH | O_TRUNC, 0));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_OPEN2, .fd = 0, .path = "f", .mode = 0644));
	is(t, -EINVAL,
	   t_call(t, .kind = OP_OPEN2, .fd = 0, .path = "new",
		  .flags = O_CREAT | O_RDWR, .mode = 010644));
	is(t, -EAGAIN,
	   t_call(t, .kind = OP_OPEN2, .fd = 0, .path = "new",
		  .flags = O_CREAT | O_RDWR, .mode = 0644,
		  .resolve = BERTH_RESOLVE_CACHED));
	is(t, -EAGAIN,
	   open_how(t, 0, "f", O_TRUNC | O_RDWR, BERTH_RESOLVE_CACHED));
	is(t, -ENOENT, open_how(t, 0, "", O_RDONLY, 0));
	is(t, 1, open_how(t, 0, "f", O_RDONLY | 0100000, 0));
	t_tree(t);
}

/* The structure's size, which the kernel's side has no need to be asked. */
static void sizes_of_how(void **state)
{
	struct {
		struct berth_open_how how;
		uint64_t more;
	} how = { .how = { .flags = O_RDONLY } };
	struct berth_task *task;
	struct berth_vfs *vfs;

	(void)state;
	assert_int_equal(berth_vfs_create(NULL, &vfs), 0);
	assert_int_equal(berth_task_create(vfs, NULL, &task), 0);
#define TRY(size) berth_openat2(task, BERTH_AT_FDCWD, "/", &how.how, size)
	assert_int_equal(TRY(0), -EINVAL);
	assert_int_equal(TRY(sizeof(how.how) - 1), -EINVAL);
	assert_int_equal(TRY(sizeof(how.how)), 0);
	assert_int_equal(TRY(sizeof(how)), 1);
	how.more = 1;
	assert_int_equal(TRY(sizeof(how)), -E2BIG);
	assert_int_equal(TRY(1 << 20), -E2BIG);
#undef TRY
	assert_int_equal(
		berth_openat2(task, BERTH_AT_FDCWD, "/", NULL, sizeof(how.how)),
		-EFAULT);
	berth_task_destroy(task);
	assert_int_equal(berth_vfs_destroy(vfs), 0);
}

static const struct CMUnitTest cases[] = {
	TRACE(beneath, AS_BOTH),    TRACE(in_root, AS_BOTH),
	TRACE(no_links, AS_BOTH),   TRACE(creation, AS_BOTH),
	TRACE(strictness, AS_BOTH), cmocka_unit_test(sizes_of_how),
};

int main(int argc, char **argv)
{
	return run_traces(argc, argv, cases);
}
