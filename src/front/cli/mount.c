/* SPDX-License-Identifier: MIT */
/*
 * berth mount DIR: serve an in-memory file system.
 *
 * Whatever can be known to be wrong is looked for before anything is mounted,
 * so that it can be told in words that help.
 */
#include "front/cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/cli/message.h"
#include "front/cli/mount_options.h"
#include "front/cli/mounts.h"

static const struct argp_option options[] = {
	{ NULL, 'o', "OPTIONS", 0,
	  "Mount options, separated by commas: size=, nr_inodes= (0 is no "
	  "limit, k, m, g or % may follow), mode=, uid=, gid=, ro, and those "
	  "of mount(8) that mean something for any file system; of those that "
	  "exclude each other the last one counts",
	  0 },
	{ "foreground", 'f', NULL, 0, "Stay in the foreground", 0 },
	{ "debug", 'd', NULL, 0,
	  "Stay in the foreground and print the requests of the kernel", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct server_options *server = state->input;

	switch (key) {
	case 'o':
		mount_options_parse(server, arg, state);
		return 0;
	case 'd':
		server->debug = true;
		server->foreground = true;
		return 0;
	case 'f':
		server->foreground = true;
		return 0;
	case ARGP_KEY_ARG:
		if (server->directory)
			cli_refuse(state, "'%s' is one directory too many",
				   arg);
		server->directory = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		cli_refuse(state, "the directory to mount on is missing");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "DIR",
	.doc = "Serve an in-memory file system on DIR.\v"
	       "It has at most half of the memory for data, and mode 1777, "
	       "unless told otherwise.  It ends, and all in it is gone, with "
	       "'berth umount DIR', 'fusermount3 -u DIR', or SIGTERM, SIGINT "
	       "or SIGHUP to its server.",
	.children = cli_children,
};

/* What is in it is not lost, but somebody may look for it. */
static void mention_contents(const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	if (!dir)
		return;
	do
		entry = readdir(dir);
	while (entry && (strcmp(entry->d_name, ".") == 0 ||
			 strcmp(entry->d_name, "..") == 0));
	if (entry)
		message("%s is not empty; what is in it is hidden until: "
			"berth umount %s",
			directory, directory);
	closedir(dir);
}

static bool check_directory(const char *directory)
{
	struct stat st;

	if (!*directory) {
		message("the name of the directory is empty; give one to "
			"mount on");
		return false;
	}
	if (stat(directory, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return true;
		message("%s is not a directory; give one to mount on",
			directory);
	} else if (errno == ENOENT) {
		message("%s does not exist; make it first: mkdir -p %s",
			directory, directory);
	} else {
		message("cannot use %s: %s", directory, strerror(errno));
	}
	return false;
}

/* libfuse opens it, on behalf of a user, too. */
static bool check_device(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return true;
	}
	if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
		message("there is no /dev/fuse; load the kernel's module with "
			"'modprobe fuse', or give a container "
			"--device /dev/fuse");
	else if (errno == EACCES)
		message("you may not open /dev/fuse; be root, or let root run "
			"'chmod 666 /dev/fuse'");
	else
		message("cannot open /dev/fuse: %s; a container needs "
			"--device /dev/fuse",
			strerror(errno));
	return false;
}

static bool check_helper(void)
{
	char program[] = "fusermount3", version[] = "--version", said[128];
	char *words[] = { program, version, NULL };

	if (geteuid() == 0 || run_fusermount(words, said, sizeof(said)) == 0)
		return true;
	message("only root mounts without fusermount3; install the package "
		"fuse3");
	return false;
}

/* The directory, absolute, if a berth can be mounted there; for free(). */
static char *mount_point(const char *directory)
{
	char *path = mounts_path(directory);
	int error = errno;

	if (path && mounts_is_free(path) && check_directory(path))
		return path;
	/* A directory may be good and have no path: one that was removed. */
	if (!path && check_directory(directory))
		message("cannot mount on %s: %s", directory, strerror(error));
	free(path);
	return NULL;
}

int cmd_mount(int argc, char **argv)
{
	struct server_options server;
	char *path;
	int status;

	mount_options_default(&server);
	cli_parse(&argp, argc, argv, 0, &server);

	path = mount_point(server.directory);
	if (!path)
		return CLI_FAILED;
	server.directory = path;
	status = CLI_FAILED;
	if (check_device() && check_helper()) {
		mention_contents(path);
		status = server_run(&server);
	}
	free(path);
	return status;
}
