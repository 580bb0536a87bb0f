/* SPDX-License-Identifier: MIT */
/*
 * The kernel's table of mounts, and fusermount3.
 */
#include "front/cli/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <mntent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/cli/message.h"

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

static uid_t mounted_by(const struct mntent *entry)
{
	unsigned int user = 0;
	const char *option = hasmntopt(entry, "user_id");

	if (option && sscanf(option, "user_id=%u", &user) != 1)
		return 0;
	return user;
}

bool mounts_find(const char *path, struct mounts_entry *found)
{
	static char buffer[16384];
	struct mntent entry;
	bool any = false;
	FILE *table = setmntent("/proc/self/mounts", "re");

	if (!table)
		return false;
	/* A later one lies on top. */
	while (getmntent_r(table, &entry, buffer, sizeof(buffer))) {
		if (strcmp(entry.mnt_dir, path) != 0)
			continue;
		snprintf(found->type, sizeof(found->type), "%s",
			 entry.mnt_type);
		found->user = mounted_by(&entry);
		any = true;
	}
	endmntent(table);
	return any;
}

bool mounts_is_berth(const struct mounts_entry *entry)
{
	return strcmp(entry->type, "fuse.berth") == 0;
}

/* Attributes of a root may be remembered for ever; a statfs asks the server. */
static bool server_is_gone(const char *path)
{
	struct statfs st;

	return statfs(path, &st) < 0 && errno == ENOTCONN;
}

bool mounts_is_free(const char *path)
{
	struct mounts_entry entry;

	if (!mounts_find(path, &entry) || !mounts_is_berth(&entry))
		return true;
	if (server_is_gone(path))
		message("the server of the berth on %s is gone; end it first: "
			"berth umount %s",
			path, path);
	else
		message("a berth is mounted on %s already; use it, or end it "
			"first: berth umount %s",
			path, path);
	return false;
}

int mounts_claim(const char *path)
{
	int place;

	if (!mounts_is_free(path))
		return -1;
	place = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (place >= 0)
		flock(place, LOCK_EX);
	if (mounts_is_free(path))
		return place >= 0 ? place : MOUNTS_UNLOCKED;
	mounts_unclaim(place);
	return -1;
}

void mounts_unclaim(int place)
{
	if (place >= 0 && place != MOUNTS_UNLOCKED)
		close(place);
}

/* Who has spoken is not what he said. */
static void drop_speaker(char *said)
{
	static const char *const speakers[] = { "berth: ", "fuse: ",
						"fusermount3: " };
	size_t length;

	for (unsigned int i = 0; i < sizeof(speakers) / sizeof(*speakers);
	     i++) {
		length = strlen(speakers[i]);
		if (strncmp(said, speakers[i], length) == 0)
			memmove(said, said + length, strlen(said + length) + 1);
	}
}

void first_line_said(int fd, char *said, size_t size)
{
	ssize_t bytes = pread(fd, said, size - 1, 0);

	said[bytes > 0 ? bytes : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	drop_speaker(said);
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
