/* SPDX-License-Identifier: MIT */
/* What is mounted where, and the helper by which users mount and unmount. */
#ifndef FRONT_MOUNTS_H
#define FRONT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

/* The type by which the kernel's table of mounts tells a berth. */
#define MOUNTS_BERTH "fuse.berth"

/* The path of a directory as the kernel's table of mounts spells it, also when
 * the server of a mount there is gone.  NULL, with errno; for free(). */
char *mounts_path(const char *directory);

/* The type of what is mounted there, topmost, or NULL; for free(). */
char *mounts_type(const char *path);

/* Is a berth mounted there? */
bool mounts_has_berth(const char *path);

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
