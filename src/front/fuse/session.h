/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the FUSE server share.
 *
 * A nodeid of the kernel's is the address of the inode: an inode that the
 * kernel was told of is held until it forgets it, so no table is needed.  (It
 * is also why . and .. are not looked up for file handles, which the kernel
 * would do with nodeids of any age.)
 *
 * A file handle is a descriptor in one berth table, which all requests share.
 */
#ifndef FRONT_SESSION_H
#define FRONT_SESSION_H

#define FUSE_USE_VERSION 314

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include <berth/vfs.h>

/**
 * struct server - one mount.
 * @vfs: the file system.
 * @host: acts for what the kernel has checked already, for every thread.
 * @root: the root directory, held.
 * @session: the connection to the kernel.
 * @attr_timeout: for how many seconds the kernel may believe attributes.
 * @workers: each thread's struct worker.
 * @patience: how many more threads may wait for space.
 * @open_flags: O_NOATIME or 0, for every open.
 * @ready: for background_ready().
 */
struct server {
	struct berth_vfs *vfs;
	struct berth_task *host;
	struct berth_inode *root;
	struct fuse_session *session;
	double attr_timeout;
	pthread_key_t workers;
	sem_t patience;
	int open_flags;
	int ready;
};

extern const struct fuse_lowlevel_ops server_ops;

/* ops_file.c */
void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	       struct fuse_file_info *fi);
void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t pos,
	     struct fuse_file_info *fi);
void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size,
	      off_t pos, struct fuse_file_info *fi);
void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t pos, int whence,
	      struct fuse_file_info *fi);
void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset,
		  off_t length, struct fuse_file_info *fi);
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* ops_dir.c */
void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t cookie,
		struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t cookie,
		    struct fuse_file_info *fi);

/* reply.c */

/* The server of a request, and the inode behind one of its nodeids. */
struct server *server_of(fuse_req_t req);
struct berth_inode *inode_of(fuse_req_t req, fuse_ino_t ino);

/* The connection is there: what the kernel can do decides what it is told. */
void reply_start(struct server *server, const struct fuse_conn_info *conn);

/* What the kernel is told of an inode that it is to hold. */
void fill_entry(fuse_req_t req, struct fuse_entry_param *entry,
		struct berth_inode *inode, const struct berth_stat *st);

/* Answers.  @error is 0 or a negative errno; those with an inode pass the hold
 * on it to the kernel, and take it back if they cannot. */
void reply_error(fuse_req_t req, int error);
void reply_attr(fuse_req_t req, fuse_ino_t ino);
void reply_entry(fuse_req_t req, int error, struct berth_inode *inode,
		 const struct berth_stat *st);

/* The same for the two requests whose attributes the kernel takes even if it
 * has had later ones: it is not to believe them for long. */
void reply_setattr(fuse_req_t req, fuse_ino_t ino);
void reply_link(fuse_req_t req, int error, struct berth_inode *inode,
		const struct berth_stat *st);

/**
 * reply_changed() - the request that is being served has changed attributes.
 * @req: the request, not answered yet.
 * @ino: an inode that it is about, and that the kernel holds therefore.
 *
 * For what the kernel does not number itself, see reply.c.
 */
void reply_changed(fuse_req_t req, fuse_ino_t ino);

/* Would reading it now move its access time? */
bool atime_is_due(fuse_req_t req, fuse_ino_t ino);

/* There is no such name, and the kernel may remember that: only its own
 * requests can bring it into being. */
void reply_missing(fuse_req_t req);

/* worker.c */

/* The end of a thread's struct worker; for pthread_key_create(). */
void worker_destroy(void *worker);

/**
 * worker_task() - a task of this thread's that acts for a request's caller.
 * @req: the request.
 *
 * What it creates belongs to the caller's user and group.
 *
 * Return: the task, good until this thread's next call; NULL is lack of
 * memory.
 */
struct berth_task *worker_task(fuse_req_t req);

/* A buffer of this thread's.  Return: @size bytes, good until this thread's
 * next call, aligned for any type; NULL is lack of memory. */
void *worker_buffer(fuse_req_t req, size_t size);

/**
 * worker_waits_for_space() - is it worth while to try again?
 * @req: the request that met -ENOSPC.
 * @tries: 0 at first; counts.
 *
 * Return: true, after a little while; false when it was long enough.
 */
bool worker_waits_for_space(fuse_req_t req, unsigned int *tries);

/* What @call gives, tried again while it meets -ENOSPC and that is worth while. */
#define with_space(req, call)                                 \
	({                                                    \
		unsigned int tries_ = 0;                      \
		int ret_;                                     \
		do                                            \
			ret_ = (call);                        \
		while (ret_ == -ENOSPC &&                     \
		       worker_waits_for_space(req, &tries_)); \
		ret_;                                         \
	})

#endif
