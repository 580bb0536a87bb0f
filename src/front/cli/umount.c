/* SPDX-License-Identifier: MIT */
/*
 * berth umount DIR: end a mount.
 *
 * The server learns of it from the kernel, and ends.
 */
#include "front/cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "front/cli/message.h"
#include "front/cli/mounts.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const char **directory = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*directory)
			cli_refuse(state, "'%s' is one directory too many",
				   arg);
		*directory = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		cli_refuse(state, "the directory is missing");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.parser = parse,
	.args_doc = "DIR",
	.doc = "End the berth that is mounted on DIR; what is in it is gone.",
	.children = cli_children,
};

static void tell_busy(const char *path)
{
	message("%s is in use; close the files in it and leave it, then try "
		"again ('fuser -vm %s' shows who it is)",
		path, path);
}

static int umount_as_root(const char *path)
{
	if (umount2(path, UMOUNT_NOFOLLOW) == 0)
		return 0;
	if (errno == EBUSY)
		tell_busy(path);
	else
		message("cannot unmount %s: %s", path, strerror(errno));
	return CLI_FAILED;
}

static int umount_as_user(char *path, const struct mounts_entry *entry)
{
	char program[] = "fusermount3", umount[] = "-u", end[] = "--";
	char *words[] = { program, umount, end, path, NULL };
	char said[256];
	int status;

	if (entry->user != getuid()) {
		message("%s was mounted by another user; only he and root can "
			"unmount it",
			path);
		return CLI_FAILED;
	}
	status = run_fusermount(words, said, sizeof(said));
	if (status == 0)
		return 0;
	if (status == -ENOENT)
		message("fusermount3 is missing; install the package fuse3");
	else if (strstr(said, "busy"))
		tell_busy(path);
	else
		message("cannot unmount %s: %s", path,
			said[0]	     ? said
			: status < 0 ? strerror(-status)
				     : "fusermount3 failed");
	return CLI_FAILED;
}

static int umount_path(char *path)
{
	struct mounts_entry entry;

	if (!mounts_find(path, &entry))
		message("nothing is mounted on %s", path);
	else if (!mounts_is_berth(&entry))
		message("%s is no berth but a mount of type %s; use umount",
			path, entry.type);
	else if (geteuid() == 0)
		return umount_as_root(path);
	else
		return umount_as_user(path, &entry);
	return CLI_FAILED;
}

int cmd_umount(int argc, char **argv)
{
	const char *directory = NULL;
	char *path;
	int status;

	cli_parse(&argp, argc, argv, 0, &directory);
	path = mounts_path(directory);
	if (!path) {
		message("cannot unmount %s: %s", directory, strerror(errno));
		return CLI_FAILED;
	}
	status = umount_path(path);
	free(path);
	return status;
}
