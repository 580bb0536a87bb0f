/* SPDX-License-Identifier: MIT */
/*
 * A place on a tmpfs for the kernel's contender.
 *
 * A new directory in the first writable tmpfs among the usual ones; where
 * there is none and we are root, each run mounts one of its own, in a mount
 * namespace that goes with its process.
 */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "front/cli/message.h"

static char directory[PATH_MAX]; /* empty: none */
static bool mount_own;

/* Make our directory in @parent, if that is on a tmpfs and writable. */
static bool make_directory(const char *parent)
{
	struct statfs fs;
	int length;

	if (!parent || statfs(parent, &fs) || fs.f_type != TMPFS_MAGIC)
		return false;
	length = snprintf(directory, sizeof(directory), "%s/berth-bench.XXXXXX",
			  parent);
	if (length < (int)sizeof(directory) && mkdtemp(directory))
		return true;
	directory[0] = '\0';
	return false;
}

int bench_tmpfs_find(void)
{
	if (directory[0] || mount_own || make_directory("/dev/shm") ||
	    make_directory(getenv("XDG_RUNTIME_DIR")) ||
	    make_directory(getenv("TMPDIR")) || make_directory("/tmp"))
		return 0;
	if (geteuid() == 0) {
		mount_own = true;
		return 0;
	}
	message("kernel: there is no writable tmpfs; set TMPDIR to a directory "
		"on one, or run as root");
	return -1;
}

/* Nobody but us and our children will see this mount. */
static void mount_tmpfs(const char *target)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", target, "tmpfs", 0, "mode=0755"))
		bench_fail("cannot mount a tmpfs: %s; give it a directory on "
			   "one, by TMPDIR",
			   strerror(errno));
}

void bench_tmpfs_enter(void)
{
	const char *target = mount_own ? "/tmp" : directory;

	if (mount_own)
		mount_tmpfs(target);
	if (chdir(target))
		bench_fail("%s: %s", target, strerror(errno));
}

void bench_tmpfs_remove(void)
{
	const struct dirent *entry;
	DIR *dir = directory[0] ? opendir(directory) : NULL;

	if (!dir)
		return;
	/* cppcheck-suppress readdirCalled ; nobody else reads it */
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(directory);
	directory[0] = '\0';
}
