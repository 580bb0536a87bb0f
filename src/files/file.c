/* SPDX-License-Identifier: MIT */
/* The life of an open file, from its init to its free. */
#include <errno.h>

#include "base/report.h"
#include "files/budget.h"
#include "files/files.h"

static void file_release(struct berth_file *file)
{
	struct berth_file_budget *budget = file->budget;

	if (file->ops->release)
		file->ops->release(file);
	if (budget)
		budget_give(budget);
}

/* After a grace period: the last borrow has ended. */
static void file_free(struct berth_retired *retired)
{
	struct berth_file *file;

	file = container_of(retired, struct berth_file, retired);
	if (file->mode & BERTH_FILE_RELEASE_WAITS)
		file_release(file);
	file->ops->free(file);
}

/*
 * A borrow holds off the grace period that it would have to wait for itself,
 * so a last use that ends inside one is a fault of the caller (F10).  Carrying
 * on is safe: freeing is deferred.
 */
noinline void file_put_last(struct berth_file *file)
{
	if (rcu_read_held())
		report("close-inside-borrow",
		       "the last use of a file ended inside a borrow");
	if (!(file->mode & BERTH_FILE_RELEASE_WAITS))
		file_release(file);
	if (FILES_FREED_AT_ONCE)
		file_free(&file->retired);
	else
		rcu_retire(&file->retired, file_free);
}

void file_free_unseen(struct berth_file *file)
{
	file_release(file);
	file->ops->free(file);
}

int filp_flush(struct berth_file *file, struct berth_files *files)
{
	return file->ops->flush ? file->ops->flush(file, files) : 0;
}

/* ---- Exported ---- */

/* Of a file whose creator forgot them: it is left as it is. */
static void leave(struct berth_file *file)
{
	(void)file;
}

static const struct berth_file_operations no_operations = { .free = leave };

void berth_file_init(struct berth_file *file,
		     const struct berth_file_operations *ops,
		     unsigned int flags, unsigned int mode)
{
	if (unlikely(!ops || !ops->free)) {
		report("file-without-operations",
		       "a file has no operations, or none to free it");
		ops = &no_operations;
	}
	*file = (struct berth_file){ .ops = ops, .flags = flags, .mode = mode };
	kref_init(&file->refs);
}

int berth_file_init_counted(struct berth_file *file,
			    const struct berth_file_operations *ops,
			    unsigned int flags, unsigned int mode,
			    struct berth_file_budget *budget)
{
	int ret = budget_take(budget);

	if (ret)
		return ret;
	berth_file_init(file, ops, flags, mode);
	file->budget = budget;
	return 0;
}

void berth_file_get(struct berth_file *file)
{
	get_file(file);
}

void berth_file_put(struct berth_file *file)
{
	if (!file)
		return;
	fput(file);
	rcu_poll();
}

void berth_drain(void)
{
	rcu_drain();
}
