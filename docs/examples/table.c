/* SPDX-License-Identifier: MIT */
#include <berth/files.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* An object of one's own. berth manages the part that it embeds, its first. */
struct channel {
	struct berth_file file;
	atomic_uint uses;
};

static void channel_free(struct berth_file *file)
{
	free((struct channel *)file);
}

static const struct berth_file_operations channel_ops = {
	.free = channel_free, /* no reader can see it any more */
};

/* For any thread, at any time, whoever closes the number meanwhile. */
static int channel_use(struct berth_files *files, int fd)
{
	struct berth_file *file = berth_files_borrow(files, fd);
	unsigned int uses;

	if (!file)
		return -1;
	uses = 1 + atomic_fetch_add(&((struct channel *)file)->uses, 1);
	berth_files_return(file);
	return (int)uses;
}

int main(void)
{
	struct berth_files *files;
	struct channel *channel;
	int fd;

	if (berth_files_create(&files) < 0)
		return 1;
	fd = berth_files_reserve(files, 3, O_CLOEXEC);
	if (fd < 0)
		return 1;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return 1;
	berth_file_init(&channel->file, &channel_ops, O_RDWR, 0);
	berth_files_install(files, fd, &channel->file);
	printf("descriptor %d: use %d\n", fd, channel_use(files, fd));
	printf("descriptor %d: use %d\n", fd, channel_use(files, fd));
	berth_files_close(files, fd);
	printf("closed: %d\n", channel_use(files, fd));
	berth_files_put_table(files);
	berth_drain(); /* wait for what was deferred: channel_free() has run */
	return 0;
}
