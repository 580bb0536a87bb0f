/* SPDX-License-Identifier: MIT */
/* What is mounted where, and the helper by which users mount and unmount. */
#ifndef FRONT_MOUNTS_H
#define FRONT_MOUNTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The path of a directory as the kernel's table of mounts spells it, also when
 * the server of a mount there is gone.  NULL, with errno; for free(). */
char *mounts_path(const char *directory);

/* What is mounted somewhere. */
struct mounts_entry {
	char type[64];
	uid_t user; /* who mounted it; root, unless FUSE knows better */
};

/* What is mounted there, topmost?  False: nothing. */
bool mounts_find(const char *path, struct mounts_entry *entry);

/* Is that a berth? */
bool mounts_is_berth(const struct mounts_entry *entry);

/* Is there no berth there, alive or dead?  If there is, it has been said. */
bool mounts_is_free(const char *path);

/* Who may not open the directory mounts without a lock on it. */
#define MOUNTS_UNLOCKED INT_MAX

/**
 * mounts_claim() - be the only one who mounts there.
 * @path: the directory.
 *
 * Two berths started at once would both find the place free, and mount on top
 * of each other.  So the directory below is locked from the last look to the
 * mount.
 *
 * Return: something for mounts_unclaim(), or -1: there is a berth, and it has
 * been said.
 */
int mounts_claim(const char *path);
void mounts_unclaim(int place);

/**
 * run_fusermount() - run fusermount3 and wait for it.
 * @words: its argv.
 * @said: where the first line goes that it said.
 *
 * Return: its exit status, or -errno when it could not be run.
 */
int run_fusermount(char *const words[], char *said, size_t size);

/* The first line of what was written to a file, without the name of who wrote
 * it: of "fusermount3: no such thing" the last three words. */
void first_line_said(int fd, char *said, size_t size);

#endif
