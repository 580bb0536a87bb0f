/* SPDX-License-Identifier: MIT */
/*
 * The kernel's table of mounts, and fusermount3.
 */
#include "front/cli/mounts.h"

#include <errno.h>
#include <libgen.h>
#include <mntent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

char *mounts_path(const char *directory)
{
	char *above, *below, *parent, *path = realpath(directory, NULL);

	if (path || errno == ENOENT)
		return path;

	/* Whoever asks a mount without a server gets no answer: ask for the
	 * folder that it is in. */
	above = strdup(directory);
	below = strdup(directory);
	parent = above ? realpath(dirname(above), NULL) : NULL;
	if (parent && below &&
	    asprintf(&path, "%s/%s", strcmp(parent, "/") ? parent : "",
		     basename(below)) < 0)
		path = NULL;
	free(parent);
	free(above);
	free(below);
	return path;
}

char *mounts_type(const char *path)
{
	static char buffer[16384];
	char *type = NULL;
	struct mntent entry;
	FILE *table = setmntent("/proc/self/mounts", "re");

	if (!table)
		return NULL;
	while (getmntent_r(table, &entry, buffer, sizeof(buffer))) {
		if (strcmp(entry.mnt_dir, path) != 0)
			continue;
		/* A later one lies on top. */
		free(type);
		type = strdup(entry.mnt_type);
	}
	endmntent(table);
	return type;
}

bool mounts_has_berth(const char *path)
{
	char *type = mounts_type(path);
	bool yes = type && strcmp(type, MOUNTS_BERTH) == 0;

	free(type);
	return yes;
}

void first_line_said(int fd, char *said, size_t size)
{
	ssize_t bytes = pread(fd, said, size - 1, 0);
	char *colon;

	said[bytes > 0 ? bytes : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	colon = strstr(said, ": ");
	if (colon && strncmp(said, "fuse", 4) == 0)
		memmove(said, colon + 2, strlen(colon + 2) + 1);
}

int run_fusermount(char *const words[], char *said, size_t size)
{
	posix_spawn_file_actions_t actions;
	int error, status, output = memfd_create("said", MFD_CLOEXEC);
	pid_t pid;

	said[0] = '\0';
	if (output < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	error = posix_spawnp(&pid, "fusermount3", &actions, NULL, words,
			     environ);
	posix_spawn_file_actions_destroy(&actions);

	while (!error && waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			error = errno;
	}
	first_line_said(output, said, size);
	close(output);
	if (error)
		return -error;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
