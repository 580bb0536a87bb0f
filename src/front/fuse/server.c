/* SPDX-License-Identifier: MIT */
/*
 * A mount's life: make the file system, mount it, serve, end.
 *
 * Every thread is started after the fork into the background, and has ended
 * when the file system is taken down.  A mount that ended leaves descriptors
 * open and inodes held, as the kernel sends no farewell for each of them.
 */
#include "front/fuse/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "front/cli/cli.h"
#include "front/cli/message.h"
#include "front/cli/mounts.h"
#include "front/fuse/background.h"
#include "front/fuse/session.h"

/* Threads beyond the processors serve nobody faster, as none of them waits,
 * except for space: half of them at most. */
#define THREADS_MIN	16u
#define THREADS_PER_CPU 2u
#define DESCRIPTORS_MAX (1u << 30)
#define OPTIONS_MAX	512

static unsigned int nr_threads(void)
{
	unsigned int wanted;

	wanted = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN) * THREADS_PER_CPU;
	return wanted > THREADS_MIN ? wanted : THREADS_MIN;
}

/* ---- What is served ---- */

static void server_finish(struct server *server)
{
	berth_task_destroy(server->host);
	berth_vfs_forget_all(server->vfs);
	if (berth_vfs_destroy(server->vfs) != 0)
		message("something still uses the file system");
}

static int server_init(struct server *server,
		       const struct server_options *options)
{
	struct berth_cred cred = { .flags = BERTH_CRED_OVERRIDE };
	int error;

	error = berth_vfs_create(&options->vfs, &server->vfs);
	if (error)
		return error;
	error = berth_task_create(server->vfs, &cred, &server->host);
	if (error) {
		berth_vfs_destroy(server->vfs);
		return error;
	}
	/* The clients have limits of their own, and the kernel's umask has
	 * been applied already. */
	berth_files_set_limit(berth_task_files(server->host), DESCRIPTORS_MAX);
	berth_umask(server->host, 0);
	error = berth_inode_root(server->vfs, &server->root);
	if (error)
		server_finish(server);
	return error;
}

/* ---- The session with the kernel ---- */

static void log_libfuse(enum fuse_log_level level, const char *format,
			va_list words)
{
	/* The trace of --debug comes in lines of its own. */
	if (level == FUSE_LOG_DEBUG)
		vfprintf(stderr, format, words);
	else
		vmessage(format, words);
}

static void mount_words(const struct server_options *options, char *words,
			size_t size)
{
	FILE *out = fmemopen(words, size, "w");

	if (!out)
		return;
	fputs("fsname=berth,subtype=berth,default_permissions", out);
	if (options->vfs.flags & BERTH_VFS_RDONLY)
		fputs(",ro", out);
	if (options->allow)
		fprintf(out, ",%s", options->allow);
	for (unsigned int i = 0; i < SERVER_KERNEL_WORDS; i++) {
		if (options->kernel[i])
			fprintf(out, ",%s", options->kernel[i]);
	}
	fclose(out);
}

static struct fuse_session *session_create(struct server *server,
					   const struct server_options *options)
{
	char program[] = "berth", o[] = "-o", debug[] = "-d";
	char words[OPTIONS_MAX] = "";
	char *argv[] = { program, o, words, debug, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(options->debug ? 4 : 3, argv);
	struct fuse_session *session;

	mount_words(options, words, sizeof(words));
	session = fuse_session_new(&args, &server_ops, sizeof(server_ops),
				   server);
	fuse_opt_free_args(&args);
	return session;
}

/*
 * libfuse and fusermount3 tell on stderr, in several lines, why they could not
 * mount.  One of them is what the user wants to know.
 */
static int session_mount(struct fuse_session *session, const char *directory)
{
	int said = memfd_create("said", MFD_CLOEXEC);
	int terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	int place = mounts_claim(directory);
	char line[256] = "";
	int error;

	if (place < 0) {
		close(said);
		close(terminal);
		return -1;
	}

	if (said >= 0 && terminal >= 0)
		dup2(said, STDERR_FILENO);
	error = fuse_session_mount(session, directory);
	if (said >= 0 && terminal >= 0)
		dup2(terminal, STDERR_FILENO);
	if (error) {
		first_line_said(said, line, sizeof(line));
		message("cannot mount on %s: %s", directory,
			line[0] ? line : "the kernel refused");
	}
	mounts_unclaim(place);
	close(said);
	close(terminal);
	return error;
}

/* A shell may have told us to ignore SIGINT, as it does with what it runs in
 * the background; but no signal that ends the mount is sent by accident. */
static int session_heed_signals(struct fuse_session *session)
{
	sigset_t ours;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	return fuse_set_signal_handlers(session);
}

static int session_loop(struct fuse_session *session)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int result;

	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(config, nr_threads());
	result = fuse_session_loop_mt(session, config);
	fuse_loop_cfg_destroy(config);
	/* A positive result is the signal that ended it. */
	return result < 0 ? result : 0;
}

static int serve_mounted(struct fuse_session *session,
			 const struct server_options *options)
{
	int error;

	if (session_mount(session, options->directory) != 0)
		return CLI_FAILED;
	if (!options->foreground)
		background_detach();
	error = session_loop(session);
	if (error)
		message("serving %s has failed: %s", options->directory,
			strerror(-error));
	fuse_session_unmount(session);
	return error ? CLI_FAILED : 0;
}

static int serve_session(struct server *server,
			 const struct server_options *options)
{
	struct fuse_session *session = session_create(server, options);
	int status = CLI_FAILED;

	if (!session) {
		message("cannot begin a FUSE session");
		return status;
	}
	server->session = session;
	if (session_heed_signals(session) == 0) {
		status = serve_mounted(session, options);
		fuse_remove_signal_handlers(session);
	}
	fuse_session_destroy(session);
	return status;
}

static int serve(const struct server_options *options, int ready)
{
	struct server server = {
		.open_flags = options->noatime ? O_NOATIME : 0,
		.ready = ready,
	};
	int status = CLI_FAILED, error;

	error = pthread_key_create(&server.workers, worker_destroy);
	if (error == 0)
		error = -server_init(&server, options);
	if (error) {
		message("cannot make the file system: %s", strerror(error));
		return CLI_FAILED;
	}
	sem_init(&server.patience, 0, nr_threads() / 2);

	status = serve_session(&server, options);

	server_finish(&server);
	sem_destroy(&server.patience);
	pthread_key_delete(server.workers);
	return status;
}

static void report(const char *invariant, const char *detail, void *arg)
{
	(void)arg;
	message("%s: %s; this is a bug", invariant, detail);
	abort();
}

int server_run(const struct server_options *options)
{
	int ready = -1, status;

	if (!options->foreground) {
		status = background_fork(&ready);
		if (status >= 0)
			return status;
	}
	fuse_set_log_func(log_libfuse);
	berth_set_report_handler(report, NULL);
	return serve(options, ready);
}
