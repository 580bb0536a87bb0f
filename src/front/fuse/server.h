/* SPDX-License-Identifier: MIT */
/* An in-memory file system, served to the kernel through FUSE. */
#ifndef FRONT_SERVER_H
#define FRONT_SERVER_H

#include <stdbool.h>

#include <berth/vfs.h>

#define SERVER_KERNEL_WORDS 6

/**
 * struct server_options - what is to be served, where and how.
 * @directory: where to mount, absolute.
 * @vfs: the file system.
 * @allow: who but the user himself may enter, a mount option or NULL.
 * @kernel: further mount options for the kernel, or NULLs.
 * @noatime: reading leaves access times alone.
 * @foreground: serve in this process instead of in a child.
 * @debug: print the protocol.
 */
struct server_options {
	const char *directory;
	struct berth_vfs_options vfs;
	const char *allow;
	const char *kernel[SERVER_KERNEL_WORDS];
	bool noatime;
	bool foreground;
	bool debug;
};

/**
 * server_run() - mount and serve.
 * @options: what, where and how.
 *
 * In the foreground it returns when the mount has ended; in the background as
 * soon as the mount can be used.  What failed has been said.
 *
 * Return: an exit status.
 */
int server_run(const struct server_options *options);

#endif
