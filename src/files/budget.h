/* SPDX-License-Identifier: MIT */
/*
 * A maximum of open files, exact and cheap.
 *
 * *Structure*.  What may still be opened are credits.  They lie in a pool and,
 * while there are plenty, on lines: one cache line for each processor, so that
 * opening and closing on two of them writes no common line.  A line that is
 * empty is filled from the pool, one that is full gives back, each by a batch.
 *
 * *States of a line*.  A number of credits, 0 to LINE_MAX; or LINE_CLOSED: what
 * would be taken from it or put there is taken from the pool, or put there.
 *
 *	n -> n - 1	taken: the credit is in use		without the lock
 *	n -> n + 1	given back				without the lock
 *	n -> n +- batch	filled, or emptied			under the lock
 *	n -> closed	its credits go to the pool		under the lock
 *	closed -> 0	the pool holds plenty again		under the lock
 *
 * *Exactness*.  A credit is at any instant in use, on a line, or in the pool; the
 * moves between the last two are under the lock.  So when all lines are closed,
 * and the lock is held, the pool is all there is.  Only then is -ENFILE given:
 * when it is empty, every file that may be open is open at that instant.  And as
 * credits are only moved, never made, there are never more.
 *
 * *Locking*.  One lock for all budgets, nothing is taken under it.  It is the
 * lowest of the chain; the fork of the host process takes it.
 *
 * *Ordering*.  A credit carries no data: who takes one does not look at what the
 * one who gave it has done, so that all is relaxed; but who ends a budget has
 * gathered all credits, and frees the memory after those who gave them.
 *	REL(line_give:A) pairs with ACQ(budget_gather:A)
 */
#ifndef FILES_BUDGET_H
#define FILES_BUDGET_H

#include <berth/files.h>

/* 0, or -ENFILE.  Any context where a spinlock may be taken. */
int budget_take(struct berth_file_budget *budget);
/* The budget may be gone when it returns, if that was the last. */
void budget_give(struct berth_file_budget *budget);

#endif
