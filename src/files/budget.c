/* SPDX-License-Identifier: MIT */
/* A maximum of open files; see budget.h for its states and why it is exact. */
#include "files/budget.h"

#include <errno.h>

#include "base/fork.h"
#include "base/lock.h"

#define LINE_BATCH  32u
#define LINE_MAX    64u /* two batches */
#define LINE_CLOSED UINT32_MAX
#define LINES_MOST  256u

struct budget_line {
	uint32_t credits; /* or LINE_CLOSED */
} cache_aligned;

struct berth_file_budget {
	/* Read-mostly. */
	uint64_t max;
	unsigned int lines; /* a power of two */

	uint64_t pool cache_aligned; /* under the lock */

	struct budget_line line[];
};

static struct spinlock budgets_lock;

/* ---- Lines, without the lock ---- */

static struct budget_line *line_of(struct berth_file_budget *budget)
{
	return &budget->line[sys_cpu() & (budget->lines - 1)];
}

/* One credit less; false when there is none, or the line is closed. */
static bool line_take(struct budget_line *line)
{
	/* Relaxed, here and below: see the head of budget.h. */
	uint32_t credits = load_relaxed(&line->credits);

	do {
		if (credits == 0 || credits == LINE_CLOSED)
			return false;
	} while (!cas_relaxed(&line->credits, &credits, credits - 1));
	return true;
}

/* One more; false when the line is full, or closed. */
static bool line_give(struct budget_line *line)
{
	uint32_t credits = load_relaxed(&line->credits);

	do {
		if (credits >= LINE_MAX)
			return false;
		/* REL(line_give:A) pairs with ACQ(budget_gather:A) */
	} while (!cas_release(&line->credits, &credits, credits + 1));
	return true;
}

/* ---- The pool, under the lock ---- */

/* So much that every line may be filled, and then some. */
static uint64_t plenty(const struct berth_file_budget *budget)
{
	return (uint64_t)budget->lines * LINE_MAX;
}

/* All lines are closed: what is not in use is in the pool. */
static void budget_gather(struct berth_file_budget *budget)
{
	unsigned int i;
	uint32_t credits;

	for (i = 0; i < budget->lines; i++) {
		/* ACQ(budget_gather:A) pairs with REL(line_give:A) */
		credits = swap_acquire(&budget->line[i].credits, LINE_CLOSED);
		if (credits != LINE_CLOSED)
			budget->pool += credits;
	}
}

/* Open the lines again, if the pool is well filled.  Only who holds the lock
 * changes a line that is closed. */
static void budget_spread(struct berth_file_budget *budget)
{
	unsigned int i;

	if (budget->pool < plenty(budget))
		return;
	for (i = 0; i < budget->lines; i++)
		if (load_relaxed(&budget->line[i].credits) == LINE_CLOSED)
			store_relaxed(&budget->line[i].credits, 0u);
}

/* A batch for a line that was empty a moment ago, if it is open. */
static void line_fill(struct berth_file_budget *budget,
		      struct budget_line *line)
{
	uint32_t credits = load_relaxed(&line->credits);

	do {
		if (credits >= LINE_BATCH || budget->pool < LINE_BATCH)
			return;
	} while (!cas_relaxed(&line->credits, &credits, credits + LINE_BATCH));
	budget->pool -= LINE_BATCH;
}

/* Take a batch from a line that was full a moment ago, if it is open. */
static void line_empty(struct berth_file_budget *budget,
		       struct budget_line *line)
{
	uint32_t credits = load_relaxed(&line->credits);

	do {
		if (credits < LINE_BATCH || credits == LINE_CLOSED)
			return;
	} while (!cas_relaxed(&line->credits, &credits, credits - LINE_BATCH));
	budget->pool += LINE_BATCH;
}

static noinline int budget_take_slow(struct berth_file_budget *budget,
				     struct budget_line *line)
{
	int ret = -ENFILE;

	spin_lock(&budgets_lock);
	if (!budget->pool)
		budget_gather(budget);
	if (budget->pool) {
		budget->pool--;
		line_fill(budget, line);
		ret = 0;
	}
	spin_unlock(&budgets_lock);
	return ret;
}

static noinline void budget_give_slow(struct berth_file_budget *budget,
				      struct budget_line *line)
{
	spin_lock(&budgets_lock);
	budget->pool++;
	line_empty(budget, line);
	budget_spread(budget);
	spin_unlock(&budgets_lock);
}

int budget_take(struct berth_file_budget *budget)
{
	struct budget_line *line = line_of(budget);

	return likely(line_take(line)) ? 0 : budget_take_slow(budget, line);
}

void budget_give(struct berth_file_budget *budget)
{
	struct budget_line *line = line_of(budget);

	if (unlikely(!line_give(line)))
		budget_give_slow(budget, line);
}

/* ---- Exported ---- */

static struct bytes budget_bytes(unsigned int lines)
{
	return bytes_lines(bytes_array(sizeof(struct berth_file_budget), lines,
				       sizeof(struct budget_line)));
}

/* A line for each processor. */
static unsigned int lines_wanted(void)
{
	unsigned int cpus = sys_cpus(), lines = 1;

	while (lines < cpus && lines < LINES_MOST)
		lines *= 2;
	return lines;
}

int berth_file_budget_create(uint64_t max, struct berth_file_budget **result)
{
	unsigned int i, lines = lines_wanted();
	struct berth_file_budget *budget;

	if (!max)
		return -EINVAL;
	if (!fork_is_ready())
		return -ENOMEM;
	budget = sys_zalloc_lines(budget_bytes(lines));
	if (!budget)
		return -ENOMEM;
	budget->max = budget->pool = max;
	budget->lines = lines;
	for (i = 0; i < lines; i++)
		budget->line[i].credits = LINE_CLOSED;
	budget_spread(budget);
	*result = budget;
	return 0;
}

uint64_t berth_file_budget_count(struct berth_file_budget *budget)
{
	uint64_t count;

	spin_lock(&budgets_lock);
	budget_gather(budget);
	count = budget->max - budget->pool;
	budget_spread(budget);
	spin_unlock(&budgets_lock);
	return count;
}

int berth_file_budget_destroy(struct berth_file_budget *budget)
{
	if (!budget)
		return 0;
	/* Who gives the last one does not touch the budget afterwards. */
	if (berth_file_budget_count(budget))
		return -EBUSY;
	sys_free(budget, budget_bytes(budget->lines));
	return 0;
}

/* ---- Fork of the host process ---- */

static void budgets_quiesce(void)
{
	spin_lock(&budgets_lock);
}

static void budgets_resume(bool in_child)
{
	(void)in_child;
	spin_unlock(&budgets_lock);
}

static const struct fork_handler budgets_fork = {
	.quiesce = budgets_quiesce,
	.resume = budgets_resume,
};

__attribute__((constructor)) static void budgets_setup(void)
{
	fork_register(FORK_BUDGETS, &budgets_fork);
}
