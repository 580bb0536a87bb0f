/* SPDX-License-Identifier: MIT */
/* Going into the background, once the work there has begun. */
#ifndef FRONT_BACKGROUND_H
#define FRONT_BACKGROUND_H

/**
 * background_fork() - go on in a child.
 * @ready: where the child finds what it hands to background_ready().
 *
 * To be called before any thread has started.  The parent waits until the
 * child is ready or has ended.
 *
 * Return: in the child -1; in the parent its exit status, and nothing is left
 * for it to do.
 */
int background_fork(int *ready);

/* In the child: let go of the terminal and of the working directory. */
void background_detach(void);

/* In the child: let the parent end, with status 0.  -1 does nothing. */
void background_ready(int ready);

#endif
