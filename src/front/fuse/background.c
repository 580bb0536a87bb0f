/* SPDX-License-Identifier: MIT */
/*
 * Going into the background.
 *
 * The fork comes first, while there is one thread and nothing to lose; what
 * goes wrong in the child is still told on the terminal, and becomes the
 * parent's exit status.  libfuse's own fuse_daemonize() forks when the mount
 * exists already, too late for either.
 */
#include "front/fuse/background.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/cli/cli.h"
#include "front/cli/message.h"

/* Nothing comes through the pipe but its end when the child fails. */
static int wait_for_child(int from_child, pid_t child)
{
	char byte;
	ssize_t bytes;
	int status;

	do
		bytes = read(from_child, &byte, 1);
	while (bytes < 0 && errno == EINTR);
	if (bytes == 1)
		return 0;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return CLI_FAILED;
	}
	if (WIFSIGNALED(status))
		message("the server died before it was ready: %s",
			strsignal(WTERMSIG(status)));
	return CLI_FAILED;
}

/*
 * A server that lives for days keeps nothing open that its caller happened to
 * leave open; a pipe that is read to its end, above all.  What we open is not
 * to be taken for the terminal, in case that was closed.
 */
static void tidy_descriptors(void)
{
	int null;

	do
		null = open("/dev/null", O_RDWR);
	while (null >= 0 && null <= STDERR_FILENO);
	close_range(STDERR_FILENO + 1, UINT_MAX, 0);
}

int background_fork(int *ready)
{
	int pipe_fds[2];
	pid_t child;

	tidy_descriptors();
	if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
		message("cannot make a pipe: %s", strerror(errno));
		return CLI_FAILED;
	}
	child = fork();
	if (child < 0) {
		message("cannot start the server: %s", strerror(errno));
		return CLI_FAILED;
	}
	if (child > 0) {
		close(pipe_fds[1]);
		return wait_for_child(pipe_fds[0], child);
	}
	close(pipe_fds[0]);
	setsid();
	*ready = pipe_fds[1];
	return -1;
}

void background_detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	message_to_syslog();
	if (chdir("/") < 0)
		message("cannot change to /: %s", strerror(errno));
	if (null < 0) {
		message("cannot open /dev/null: %s", strerror(errno));
		return;
	}
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

void background_ready(int ready)
{
	if (ready < 0)
		return;
	/* When the parent was killed meanwhile, nobody needs to know. */
	while (write(ready, "", 1) < 0 && errno == EINTR)
		;
	close(ready);
}
