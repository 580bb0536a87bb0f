/* SPDX-License-Identifier: MIT */
/*
 * What each thread of the server has for itself: a task whose credentials it
 * may change without asking the others, and a buffer, so that no read
 * allocates memory.
 *
 * Credentials belong to a task, and the requests of two users may run at once:
 * one task for all could create a file for the wrong one.  The tasks share one
 * descriptor table, so any thread serves any file handle.
 */
#include "front/fuse/session.h"

#include <stdlib.h>
#include <time.h>

/* Waits of 1, 2, 4, ... milliseconds. */
#ifdef __SANITIZE_THREAD__
#define SPACE_TRIES 8 /* it slows everything down */
#else
#define SPACE_TRIES 5
#endif

struct worker {
	struct berth_task *task;
	uid_t uid;
	gid_t gid;
	void *buffer;
	size_t size;
};

static struct worker *worker_self(struct server *server)
{
	struct worker *worker = pthread_getspecific(server->workers);

	if (worker)
		return worker;
	worker = calloc(1, sizeof(*worker));
	if (worker && pthread_setspecific(server->workers, worker) != 0) {
		free(worker);
		return NULL;
	}
	return worker;
}

void worker_destroy(void *argument)
{
	struct worker *worker = argument;

	berth_task_destroy(worker->task);
	free(worker->buffer);
	free(worker);
}

static int worker_act_for(struct worker *worker, uid_t uid, gid_t gid)
{
	/* The kernel has checked permissions before it asked. */
	struct berth_cred cred = {
		.uid = uid,
		.gid = gid,
		.flags = BERTH_CRED_OVERRIDE,
	};
	int error = berth_task_set_cred(worker->task, &cred);

	if (!error) {
		worker->uid = uid;
		worker->gid = gid;
	}
	return error;
}

struct berth_task *worker_task(fuse_req_t req)
{
	struct server *server = server_of(req);
	const struct fuse_ctx *caller = fuse_req_ctx(req);
	struct worker *worker = worker_self(server);

	if (!worker)
		return NULL;
	if (!worker->task) {
		/* It begins as a copy of the host, who is root. */
		if (berth_task_fork(server->host, BERTH_TASK_SHARE_FILES,
				    &worker->task))
			return NULL;
		worker->uid = 0;
		worker->gid = 0;
	}
	if ((worker->uid != caller->uid || worker->gid != caller->gid) &&
	    worker_act_for(worker, caller->uid, caller->gid))
		return NULL;
	return worker->task;
}

void *worker_buffer(fuse_req_t req, size_t size)
{
	struct worker *worker = worker_self(server_of(req));
	void *buffer;

	if (!worker)
		return NULL;
	if (worker->size < size) {
		buffer = malloc(size);
		if (!buffer)
			return NULL;
		free(worker->buffer);
		worker->buffer = buffer;
		worker->size = size;
	}
	return worker->buffer;
}

/*
 * A client that removes a file, or closes a removed one, goes on before the
 * kernel has told us of it: it sends RELEASE and FORGET on their own time.  To
 * the client the space is free, so -ENOSPC would be a lie.
 *
 * The wait is short and its end depends on nobody.  Some threads never join
 * it (see server.c): they are there for the very requests that are waited for.
 */
bool worker_waits_for_space(fuse_req_t req, unsigned int *tries)
{
	struct server *server = server_of(req);
	struct timespec wait = { .tv_nsec = 1000000L << *tries };

	if (*tries == SPACE_TRIES || sem_trywait(&server->patience) < 0)
		return false;
	nanosleep(&wait, NULL);
	sem_post(&server->patience);
	++*tries;
	return true;
}
