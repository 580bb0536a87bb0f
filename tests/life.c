/* SPDX-License-Identifier: MIT */
/* The life of twins: its steps, in their order. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <berth/berth.h>

#include "harness.h"
#include "twins.h"

/* ---- The steps ---- */

#define AT BERTH_AT_FDCWD

static struct berth_files *files_of(struct twin *twin)
{
	return berth_task_files(twin->fs.task);
}

static int64_t raise_the_limit(struct twin *twin)
{
	return berth_files_set_limit(files_of(twin), 1u << 20);
}

static void plain_free(struct berth_file *file)
{
	free(file);
}

static const struct berth_file_operations plain_ops = { .free = plain_free };

static struct berth_file *own_file(void)
{
	int saved = errno;
	struct berth_file *file = calloc(1, sizeof(*file));

	check(file);
	errno = saved; /* this allocation is not berth's */
	berth_file_init(file, &plain_ops, O_RDONLY, 0);
	return file;
}

static int64_t install_own_file(struct twin *twin)
{
	int fd = berth_files_reserve(files_of(twin), 20, O_CLOEXEC);

	if (fd >= 0)
		berth_files_install(files_of(twin), fd, own_file());
	return fd;
}

static const struct berth_rights no_rights;

/* A number that has none, and goes again. */
static int64_t install_limited_file(struct twin *twin)
{
	struct berth_file *file;
	int fd, ret;

	fd = berth_files_reserve(files_of(twin), 30, 0);
	if (fd < 0)
		return fd;
	file = own_file();
	ret = berth_files_install_limited(files_of(twin), fd, file, &no_rights);
	if (!ret)
		return berth_files_close(files_of(twin), fd);
	berth_files_unreserve(files_of(twin), fd);
	berth_file_put(file);
	return ret;
}

static int64_t limit_rights(struct twin *twin)
{
	return berth_files_limit_rights(files_of(twin), 0, &no_rights);
}

static int64_t renumber(struct twin *twin)
{
	return berth_files_renumber(files_of(twin), 300, 20001);
}

/* Which one it is may differ, for without memory it is the lowest. */
static int64_t any_number(struct twin *twin)
{
	int fd = berth_files_reserve(files_of(twin), 0, BERTH_ANYFD);

	if (fd < 0)
		return fd;
	berth_files_unreserve(files_of(twin), fd);
	return 0;
}

static int64_t table_that_waits(struct twin *twin)
{
	const struct berth_files_options options = {
		.struct_size = sizeof(options),
		.flags = BERTH_FILES_CLOSE_WAITS,
	};
	struct berth_files *files;
	struct berth_use use;
	int ret = berth_files_create_with(&files, &options);

	(void)twin;
	if (ret)
		return ret;
	check_equal(berth_files_reserve(files, 0, 0), 0);
	berth_files_install(files, 0, own_file());
	check_equal(berth_files_enter(files, 0, &use), 0);
	berth_files_leave(&use);
	ret = berth_files_close(files, 0);
	berth_files_put_table(files);
	return ret;
}

/* In the next segment, and given back. */
static int64_t reserve_and_not(struct twin *twin)
{
	int fd = berth_files_reserve(files_of(twin), 1100, 0);

	if (fd >= 0)
		berth_files_unreserve(files_of(twin), fd);
	return fd;
}

static int64_t close_own_file(struct twin *twin)
{
	return berth_files_close(files_of(twin), 20);
}

/* Steps may come in any order: some have nothing to do then. */
static int64_t copy_table(struct twin *twin)
{
	if (twin->copy)
		return 0;
	return berth_files_fork(files_of(twin), &twin->copy);
}

static int64_t exec_copy(struct twin *twin)
{
	if (!twin->copy)
		return 0;
	berth_files_exec(twin->copy);
	return berth_files_count(twin->copy);
}

static int64_t put_copy(struct twin *twin)
{
	berth_files_put_table(twin->copy);
	twin->copy = NULL;
	return 0;
}

static int64_t make_and_put_table(struct twin *twin)
{
	struct berth_files *files = NULL;
	int ret = berth_files_create(&files);

	(void)twin;
	check(!ret == (files != NULL));
	berth_files_put_table(files);
	return ret;
}

static int64_t fork_task_copying(struct twin *twin)
{
	if (twin->child)
		return 0;
	return berth_task_fork(twin->fs.task, 0, &twin->child);
}

static int64_t fork_task_sharing(struct twin *twin)
{
	if (twin->child)
		return 0;
	return berth_task_fork(twin->fs.task, BERTH_TASK_SHARE_FILES,
			       &twin->child);
}

static int64_t child_opens(struct twin *twin)
{
	if (!twin->child)
		return 0;
	return berth_open(twin->child, "/d/f", O_RDWR | O_APPEND, 0);
}

static int64_t child_closes(struct twin *twin)
{
	if (!twin->child)
		return 0;
	return berth_close(twin->child, 0);
}

/* A root is not given back, so a child takes it, and ends. */
static int64_t child_in_a_root_of_its_own(struct twin *twin)
{
	struct berth_task *child;
	int ret =
		berth_task_fork(twin->fs.task, BERTH_TASK_SHARE_FILES, &child);

	if (ret)
		return ret;
	ret = berth_chroot(child, "/d");
	berth_task_destroy(child);
	return ret;
}

static int64_t end_child(struct twin *twin)
{
	berth_task_destroy(twin->child);
	twin->child = NULL;
	return 0;
}

/* An instance beside, from its birth to its end. */
static int64_t make_and_end_instance(struct twin *twin)
{
	struct berth_vfs *other = NULL;
	struct berth_task *first = NULL;
	int ret = berth_vfs_create(NULL, &other);

	(void)twin;
	check(!ret == (other != NULL));
	if (ret)
		return ret;
	ret = berth_task_create(other, NULL, &first);
	check(!ret == (first != NULL));
	berth_task_destroy(first);
	check_equal(berth_vfs_destroy(other), 0);
	return ret;
}

static int64_t act_for_a_user(struct twin *twin)
{
	static const gid_t groups[100] = { 5, 6, 7 };
	struct berth_cred user = {
		.uid = 1000, .gid = 1000, .groups = groups, .ngroups = 100
	};

	return berth_task_set_cred(twin->fs.task, &user);
}

static int64_t act_for_root(struct twin *twin)
{
	return berth_task_set_cred(twin->fs.task, NULL);
}

static int64_t drain(struct twin *twin)
{
	(void)twin;
	berth_drain();
	return 0;
}

/* The pages of a large file go back to the system. */
static int64_t unlink_large(struct twin *twin)
{
	int ret = berth_unlink(twin->fs.task, "/large");

	berth_drain();
	return ret;
}

/* Names enough that hash and slots of the directory grow, twice. */
static int64_t make_one_more(struct twin *twin)
{
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/many/%u", twin->made);
	ret = berth_mknodat(twin->fs.task, AT, path, S_IFREG | 0600, 0);
	twin->made += !ret;
	return ret;
}

/* The root where none was given out yet; it is held by the instance. */
static struct berth_inode *handle(struct twin *twin, unsigned int nth)
{
	if (!twin->handle[nth])
		check_equal(berth_inode_root(twin->fs.vfs, &twin->handle[nth]),
			    0);
	return twin->handle[nth];
}

static int64_t handle_of_root(struct twin *twin)
{
	return berth_inode_root(twin->fs.vfs, &twin->handle[0]);
}

static int64_t handle_mkdir(struct twin *twin)
{
	struct berth_stat st;

	return berth_inode_mkdir(twin->fs.task, handle(twin, 0), "i", 0755,
				 &twin->handle[1], &st);
}

static int64_t handle_mknod(struct twin *twin)
{
	struct berth_stat st;

	return berth_inode_mknod(twin->fs.task, handle(twin, 1), "f",
				 S_IFREG | 0644, 0, &twin->handle[2], &st);
}

static int64_t handle_symlink(struct twin *twin)
{
	struct berth_stat st;

	return berth_inode_symlink(twin->fs.task, "f", handle(twin, 1), "s",
				   &twin->handle[3], &st);
}

static int64_t handle_link(struct twin *twin)
{
	struct berth_stat st;

	return berth_inode_link(twin->fs.task, handle(twin, 2), handle(twin, 1),
				"f2", &st);
}

static int64_t handle_create(struct twin *twin)
{
	struct berth_inode *inode;
	struct berth_stat st;
	int fd = berth_inode_create(twin->fs.task, handle(twin, 1), "g",
				    O_RDWR | O_CREAT, 0644, &inode, &st);

	if (fd >= 0)
		berth_inode_forget(inode, 1);
	return fd;
}

static int64_t handle_open(struct twin *twin)
{
	return berth_inode_open(twin->fs.task, handle(twin, 2),
				O_RDWR | O_TRUNC);
}

static int64_t handle_lookup(struct twin *twin)
{
	struct berth_inode *inode;
	int ret = berth_inode_lookup(twin->fs.task, handle(twin, 1), "f2",
				     &inode, NULL);

	if (!ret)
		berth_inode_forget(inode, 1);
	return ret;
}

static int64_t handle_setattr(struct twin *twin)
{
	struct berth_stat st = { .mode = 0600, .size = 100000, .uid = 3 };

	return berth_inode_setattr(twin->fs.task, handle(twin, 2), &st,
				   BERTH_SET_MODE | BERTH_SET_SIZE |
					   BERTH_SET_UID);
}

static int64_t handle_rename(struct twin *twin)
{
	return berth_inode_rename(twin->fs.task, handle(twin, 1), "f",
				  handle(twin, 0), "moved", 0);
}

static int64_t handle_readlink(struct twin *twin)
{
	char text[10];

	return berth_inode_readlink(twin->fs.task, handle(twin, 3), text,
				    sizeof(text));
}

static int64_t handle_access(struct twin *twin)
{
	return berth_inode_access(twin->fs.task, handle(twin, 2), R_OK);
}

static int64_t handle_unlink(struct twin *twin)
{
	return berth_inode_unlink(twin->fs.task, handle(twin, 1), "f2");
}

static int64_t handle_rmdir_full(struct twin *twin)
{
	return berth_inode_rmdir(twin->fs.task, handle(twin, 0), "i");
}

#define STEP(k, ...)                              \
	{                                         \
		.op = {.kind = (k), __VA_ARGS__ } \
	}
#define PATH_STEP(k, p, ...) STEP(k, .fd = AT, .path = (p), __VA_ARGS__)
#define TWO_PATHS(k, p, q, ...) \
	PATH_STEP(k, p, .fd2 = AT, .path2 = (q), __VA_ARGS__)
#define FD_STEP(k, number, ...) STEP(k, .fd = (number), __VA_ARGS__)
#define OPEN(p, f)		PATH_STEP(OP_OPEN, p, .flags = (f), .mode = 0644)

#define TEN_CHARACTERS "0123456789"
#define LONG_TEXT                                                           \
	TEN_CHARACTERS TEN_CHARACTERS TEN_CHARACTERS TEN_CHARACTERS         \
		TEN_CHARACTERS TEN_CHARACTERS TEN_CHARACTERS TEN_CHARACTERS \
			TEN_CHARACTERS TEN_CHARACTERS TEN_CHARACTERS        \
				TEN_CHARACTERS TEN_CHARACTERS

const struct step life[] = {
	/* Directories and a first file, number 0. */
	PATH_STEP(OP_MKDIR, "/d", .mode = 0755),
	PATH_STEP(OP_MKDIR, "/d/sub", .mode = 01777),
	PATH_STEP(OP_MKDIR, "/many", .mode = 0755),
	OPEN("/d/f", O_CREAT | O_RDWR),
	FD_STEP(OP_WRITE, 0, .size = 100, .fill = 'a'),
	FD_STEP(OP_WRITE, 0, .size = 5000, .fill = 'b'),
	FD_STEP(OP_PWRITE, 0, .size = 10, .fill = 'c', .pos = 1000 * PAGE),
	FD_STEP(OP_PWRITE, 0, .size = 10, .fill = 'd', .pos = INT64_C(1) << 40),
	FD_STEP(OP_PREAD, 0, .size = 5000),
	FD_STEP(OP_LSEEK, 0, .pos = 10000, .cmd = SEEK_DATA),
	FD_STEP(OP_FSTAT, 0),
	FD_STEP(OP_FTRUNCATE, 0, .pos = 3000),
	PATH_STEP(OP_TRUNCATE, "/d/f", .pos = INT64_C(1) << 33),
	FD_STEP(OP_FCHMOD, 0, .mode = 06777),
	FD_STEP(OP_FCHOWN, 0, .uid = 1000, .gid = 1000),

	/* Opens of every kind: 1 to 8. */
	OPEN("/d/f", O_RDONLY),
	OPEN("/d/f", O_WRONLY | O_APPEND | O_CLOEXEC),
	OPEN("/d", O_DIRECTORY | O_RDONLY | O_NOATIME),
	OPEN("/d/f", O_PATH),
	OPEN("/d/excl", O_CREAT | O_EXCL | O_RDWR),
	OPEN("/d/excl", O_TRUNC | O_WRONLY),
	OPEN("/d/f", O_NOFOLLOW | O_RDWR | O_NONBLOCK),
	OPEN("/d/f", O_CREAT | O_RDWR),
	OPEN("/d/excl", O_CREAT | O_EXCL | O_RDWR),
	OPEN("/d/none", O_RDONLY),
	OPEN("/d/f/x", O_CREAT | O_RDWR),
	FD_STEP(OP_WRITE, 2, .size = 9000, .fill = 'e'),
	FD_STEP(OP_READ, 1, .size = 6000),
	FD_STEP(OP_GETDENTS, 3, .size = 100),
	FD_STEP(OP_GETDENTS, 3, .size = 4096),

	/* A large file, number 9: chunks of pages, and their end. */
	OPEN("/large", O_CREAT | O_RDWR | O_APPEND),
	FD_STEP(OP_WRITE, 9, .size = 130 * PAGE, .fill = 'f'),
	FD_STEP(OP_WRITE, 9, .size = 130 * PAGE, .fill = 'g'),
	FD_STEP(OP_READ, 9, .size = FS_BUFFER),
	FD_STEP(OP_FTRUNCATE, 9, .pos = 10 * PAGE + 5),
	STEP_OF(drain),
	FD_STEP(OP_WRITE, 9, .size = 130 * PAGE, .fill = 'h'),
	FD_STEP(OP_CLOSE, 9),
	STEP_OF(unlink_large),

	/* Room kept, holes, pieces; number 9 again. */
	OPEN("/room", O_CREAT | O_RDWR),
	FD_STEP(OP_FALLOCATE, 9, .pos = 0, .size = 70 * PAGE),
	FD_STEP(OP_FALLOCATE, 9, .flags = BERTH_FALLOC_KEEP_SIZE,
		.pos = 500 * PAGE, .size = 70 * PAGE),
	FD_STEP(OP_WRITEV, 9, .size = 3 * PAGE + 100, .cmd = 3, .fill = 'i',
		.pos = 68 * PAGE),
	FD_STEP(OP_READV, 9, .size = 3 * PAGE, .cmd = 5, .pos = 69 * PAGE),
	FD_STEP(OP_FALLOCATE, 9,
		.flags = BERTH_FALLOC_KEEP_SIZE | BERTH_FALLOC_PUNCH_HOLE,
		.pos = 1000, .size = 69 * PAGE),
	FD_STEP(OP_FALLOCATE, 9, .pos = INT64_C(1) << 41, .size = 10 * PAGE),
	FD_STEP(OP_FALLOCATE, 9, .pos = 0, .size = 2000 * PAGE),
	FD_STEP(OP_WRITEV, 9, .size = 5 * PAGE, .cmd = 2, .fill = 'j',
		.pos = -1),
	FD_STEP(OP_FSYNC, 9),
	FD_STEP(OP_CLOSE, 9),
	PATH_STEP(OP_UNLINK, "/room"),
	OPEN("/d", O_TMPFILE | O_RDWR),
	FD_STEP(OP_WRITE, 9, .size = 5000, .fill = 'l'),
	FD_STEP(OP_LINK, 9, .path = "", .fd2 = AT, .path2 = "/d/tmp",
		.flags = BERTH_AT_EMPTY_PATH),
	FD_STEP(OP_CLOSE, 9),
	FD_STEP(OP_OPEN2, 3, .path = "tmp", .flags = O_RDONLY,
		.resolve = BERTH_RESOLVE_BENEATH),
	FD_STEP(OP_OPEN2, 3, .path = "new", .flags = O_CREAT | O_RDWR,
		.mode = 0600, .resolve = BERTH_RESOLVE_IN_ROOT),
	FD_STEP(OP_CLOSE, 9),
	FD_STEP(OP_CLOSE, 10),
	PATH_STEP(OP_STATFS, "/d"),
	TWO_PATHS(OP_RENAME, "/d/new", "/d/renewed",
		  .flags = BERTH_RENAME_WHITEOUT),

	/* Names. */
	TWO_PATHS(OP_SYMLINK, "d/f", "/short"),
	TWO_PATHS(OP_SYMLINK, LONG_TEXT, "/long"),
	PATH_STEP(OP_READLINK, "/long", .size = 4096),
	OPEN("/short", O_RDWR),
	TWO_PATHS(OP_LINK, "/d/f", "/d/sub/f2"),
	TWO_PATHS(OP_LINK, "/short", "/linked", .flags = 0x400),
	PATH_STEP(OP_MKDIR,
		  "/" TEN_CHARACTERS TEN_CHARACTERS TEN_CHARACTERS
			  TEN_CHARACTERS TEN_CHARACTERS,
		  .mode = 0700),
	PATH_STEP(OP_MKNOD, "/fifo", .mode = S_IFIFO | 0600),
	PATH_STEP(OP_MKNOD, "/dev", .mode = S_IFBLK | 0600, .pos = 77),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	STEP_OF(make_one_more),
	TWO_PATHS(OP_LINK, "/d/f", "/many/link"),
	TWO_PATHS(OP_RENAME, "/d/excl", "/many/renamed"),
	TWO_PATHS(OP_RENAME, "/many/renamed", "/many/in the same"),
	TWO_PATHS(OP_RENAME, "/many/1", "/many/2"),
	TWO_PATHS(OP_RENAME, "/many/2", "/fifo"),
	TWO_PATHS(OP_RENAME, "/d/sub", "/many/sub"),
	TWO_PATHS(OP_RENAME, "/many/3", "/d", .flags = BERTH_RENAME_EXCHANGE),
	TWO_PATHS(OP_RENAME, "/many/3", "/many/4",
		  .flags = BERTH_RENAME_EXCHANGE),
	TWO_PATHS(OP_RENAME, "/many/4", "/d", .flags = BERTH_RENAME_EXCHANGE),
	TWO_PATHS(OP_RENAME, "/many/5", "/many/6",
		  .flags = BERTH_RENAME_NOREPLACE),
	TWO_PATHS(OP_RENAME, "/many", "/many/sub/x"),
	PATH_STEP(OP_UNLINK, "/many/5"),
	PATH_STEP(OP_UNLINK, "/many/in the same"),
	FD_STEP(OP_WRITE, 5, .size = 5000, .fill = 'o'),
	PATH_STEP(OP_UNLINK, "/many/sub", .flags = BERTH_AT_REMOVEDIR),
	PATH_STEP(OP_UNLINK, "/many/sub/f2"),
	PATH_STEP(OP_UNLINK, "/many/sub", .flags = BERTH_AT_REMOVEDIR),

	/* Attributes, and another user. */
	PATH_STEP(OP_STAT, "/d/f"),
	PATH_STEP(OP_ACCESS, "/d/f", .cmd = W_OK),
	PATH_STEP(OP_CHMOD, "/d", .mode = 01777),
	PATH_STEP(OP_CHOWN, "/many/7", .uid = 1000, .gid = 1000),
	PATH_STEP(OP_UTIMENS, "/d/f", .times = NULL),
	PATH_STEP(OP_CHDIR, "/d"),
	STEP(OP_GETCWD, .size = 4096),
	FD_STEP(OP_FCHDIR, 3),
	STEP(OP_UMASK, .mode = 077),
	STEP_OF(act_for_a_user),
	OPEN("/many/7", O_RDWR),
	OPEN("/many/8", O_RDWR),
	OPEN("/d/mine", O_CREAT | O_RDWR),
	PATH_STEP(OP_MKDIR, "/no", .mode = 0755),
	PATH_STEP(OP_CHMOD, "/many/8", .mode = 0),
	FD_STEP(OP_WRITE, 7, .size = 10, .fill = 'k'),
	STEP_OF(act_for_root),
	PATH_STEP(OP_CHMOD, "mine", .mode = 0600),
	STEP_OF(child_in_a_root_of_its_own),

	/* Numbers: each in a further segment of the table. */
	FD_STEP(OP_DUP, 0),
	FD_STEP(OP_DUP2, 0, .fd2 = 70),
	FD_STEP(OP_DUP3, 1, .fd2 = 300, .flags = O_CLOEXEC),
	FD_STEP(OP_DUP2, 1, .fd2 = 70),
	STEP_OF(raise_the_limit),
	STEP_OF(reserve_and_not),
	FD_STEP(OP_FCNTL, 0, .cmd = F_DUPFD_CLOEXEC, .pos = 5000),
	STEP_OF(renumber), /* into a further segment, too */
	FD_STEP(OP_DUP2, 0, .fd2 = 20000),
	FD_STEP(OP_DUP2, 0, .fd2 = 70000),
	FD_STEP(OP_FCNTL, 70, .cmd = F_SETFD, .pos = FD_CLOEXEC),
	FD_STEP(OP_FCNTL, 0, .cmd = F_SETFL, .pos = O_APPEND),
	STEP_OF(install_own_file),
	STEP_OF(install_limited_file),
	STEP_OF(limit_rights),
	STEP_OF(any_number),
	STEP_OF(table_that_waits),
	STEP_OF(copy_table),
	STEP_OF(exec_copy),
	STEP_OF(put_copy),
	STEP_OF(make_and_put_table),
	STEP_OF(fork_task_copying),
	STEP_OF(child_opens),
	STEP_OF(child_closes),
	STEP_OF(end_child),
	STEP_OF(fork_task_sharing),
	STEP_OF(child_opens),
	STEP_OF(child_closes),
	STEP_OF(end_child),
	STEP_OF(close_own_file),
	FD_STEP(OP_CLOSE, 70000),
	FD_STEP(OP_CLOSE, 1),
	FD_STEP(OP_CLOSE, 1),
	OPEN("/d/f", O_RDWR),

	/* By inode. */
	STEP_OF(handle_of_root),
	STEP_OF(handle_mkdir),
	STEP_OF(handle_mknod),
	STEP_OF(handle_symlink),
	STEP_OF(handle_link),
	STEP_OF(handle_create),
	STEP_OF(handle_open),
	STEP_OF(handle_lookup),
	STEP_OF(handle_setattr),
	STEP_OF(handle_rename),
	STEP_OF(handle_readlink),
	STEP_OF(handle_access),
	STEP_OF(handle_unlink),
	STEP_OF(handle_rmdir_full),
	STEP_OF(make_and_end_instance),
	STEP_OF(drain),
};

const unsigned int life_length = sizeof(life) / sizeof(life[0]);
