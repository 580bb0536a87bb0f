/* SPDX-License-Identifier: MIT */
/* Instances, tasks and credentials: birth, end, permission. */
#include <errno.h>

#include "base/fork.h"
#include "base/report.h"
#include "vfs/dentry.h"
#include "vfs/task.h"

#define NGROUPS_MAX_CRED 65536u
#define UMASK_DEFAULT	 022u

/* ---- Credentials ---- */

static struct bytes cred_bytes(unsigned int ngroups)
{
	return bytes_array(sizeof(struct cred), ngroups, sizeof(gid_t));
}

static int cred_create(const struct berth_cred *from, struct cred **result)
{
	static const struct berth_cred root;
	struct cred *cred;

	if (!from)
		from = &root;
	if (from->ngroups > NGROUPS_MAX_CRED ||
	    (from->ngroups && !from->groups) ||
	    (from->flags & ~BERTH_CRED_OVERRIDE))
		return -EINVAL;
	cred = sys_alloc(cred_bytes(from->ngroups));
	if (!cred)
		return -ENOMEM;
	*cred = (struct cred){ .uid = from->uid,
			       .gid = from->gid,
			       .flags = from->flags,
			       .ngroups = from->ngroups };
	kref_init(&cred->refs);
	if (from->ngroups)
		memcpy(cred->groups, from->groups,
		       from->ngroups * sizeof(gid_t));
	*result = cred;
	return 0;
}

static void cred_free_retired(struct berth_retired *retired)
{
	struct cred *cred = container_of(retired, struct cred, retired);

	sys_free(cred, cred_bytes(cred->ngroups));
}

void cred_put(struct cred *cred)
{
	if (kref_put_last(&cred->refs))
		rcu_retire(&cred->retired, cred_free_retired);
}

struct cred *cred_get(struct berth_task *task)
{
	struct cred *cred;

	rcu_read_lock();
	do {
		/* RCU(cred_get:A) pairs with REL(berth_task_set_cred:A) */
		cred = rcu_dereference(task->cred);
	} while (unlikely(!kref_get_unless_zero(&cred->refs)));
	rcu_read_unlock();
	return cred;
}

bool cred_in_group(const struct cred *cred, gid_t gid)
{
	unsigned int i;

	if (cred->gid == gid)
		return true;
	for (i = 0; i < cred->ngroups; i++)
		if (cred->groups[i] == gid)
			return true;
	return false;
}

bool inode_owner_or_capable(const struct inode *inode, const struct cred *cred)
{
	/* Relaxed: one word, as of some instant. */
	return cred_overrides(cred) || load_relaxed(&inode->uid) == cred->uid;
}

int inode_permission(const struct inode *inode, const struct cred *cred,
		     unsigned int mask)
{
	mode_t mode = inode_mode(inode);

	if (cred_overrides(cred)) {
		/* Nobody may execute what nobody may execute. */
		if (!(mask & MAY_EXEC) || S_ISDIR(mode) || (mode & 0111) ||
		    (cred->flags & BERTH_CRED_OVERRIDE))
			return 0;
		return -EACCES;
	}
	/* Relaxed: one word each, as of some instant. */
	if (load_relaxed(&inode->uid) == cred->uid)
		mode >>= 6;
	else if (cred_in_group(cred, load_relaxed(&inode->gid)))
		mode >>= 3;
	return (mask & ~mode & 7) ? -EACCES : 0;
}

/* ---- Instances ---- */

static int options_check(const struct berth_vfs_options *options)
{
	if (options->struct_size != sizeof(*options))
		return -EINVAL;
	if (options->flags & ~(BERTH_VFS_RDONLY | BERTH_VFS_MODE))
		return -EINVAL;
	if (options->mode & ~(mode_t)07777)
		return -EINVAL;
	if (!options->alloc != !options->dealloc)
		return -EINVAL;
	return 0;
}

static void vfs_init(struct berth_vfs *vfs,
		     const struct berth_vfs_options *options,
		     const struct inode_operations *regular)
{
	uint64_t pages = options->size / PAGE_SIZE;

	if (options->size % PAGE_SIZE)
		pages++;
	vfs->regular = regular;
	vfs->clock = options->clock;
	vfs->report = options->report;
	vfs->arg = options->arg;
	vfs->max_inodes = options->nr_inodes;
	vfs->mem = (struct mem){ .alloc = options->alloc,
				 .dealloc = options->dealloc,
				 .arg = options->arg,
				 .max = options->memory_max };
	vfs->next_ino = 1;
	spin_init(&vfs->inodes_lock);
	mutex_init(&vfs->rename_lock);
	page_store_init(&vfs->pages, &vfs->mem, pages);
}

static struct bytes vfs_bytes(void)
{
	return bytes_of(sizeof(struct berth_vfs));
}

int vfs_create(const struct berth_vfs_options *options,
	       const struct inode_operations *regular,
	       struct berth_vfs **result)
{
	static const struct berth_vfs_options defaults = {
		.struct_size = sizeof(defaults),
	};
	struct inode_init root = { .mode = S_IFDIR | 0755 };
	struct berth_vfs *vfs;
	int ret;

	if (!options)
		options = &defaults;
	ret = options_check(options);
	if (ret)
		return ret;
	if (!fork_is_ready())
		return -ENOMEM;
	vfs = sys_zalloc_lines(vfs_bytes());
	if (!vfs)
		return -ENOMEM;
	vfs_init(vfs, options, regular);
	if (options->mode || (options->flags & BERTH_VFS_MODE))
		root.mode = S_IFDIR | options->mode;
	root.uid = options->uid;
	root.gid = options->gid;
	if (options->nr_files) {
		ret = berth_file_budget_create(options->nr_files, &vfs->budget);
		if (ret)
			goto out_free;
	}
	ret = inode_create(vfs, &root, &vfs->root);
	if (ret)
		goto out_destroy_budget;
	vfs->root->nlink = 2;
	mnt_init(&vfs->mnt, options->flags & BERTH_VFS_RDONLY);
	*result = vfs;
	return 0;

out_destroy_budget:
	berth_file_budget_destroy(vfs->budget);
out_free:
	page_store_finish(&vfs->pages);
	sys_free(vfs, vfs_bytes());
	return ret;
}

/*
 * Does anyone but the tree own the inode?  The caller of destroy is alone with
 * the instance, so the count can not change: this detects his mistake, it does
 * not decide between threads.
 */
static bool inode_is_held(const struct inode *inode)
{
	unsigned int owners = 1;

	if (inode->nlink == 0)
		return true;
	if (S_ISDIR(inode->mode))
		owners += inode->nlink - 2; /* the children's parent */
	return kref_read(&inode->refs) != owners;
}

static void vfs_report(const struct berth_vfs *vfs, const char *name,
		       const char *detail)
{
	if (vfs->report)
		vfs->report(name, detail, vfs->arg);
	else
		report(name, detail);
}

int berth_vfs_destroy(struct berth_vfs *vfs)
{
	struct inode *inode;

	if (!vfs)
		return 0;
	if (load_relaxed(&vfs->tasks) || !rcu_drain())
		return -EBUSY;
	for (inode = vfs->inodes; inode; inode = inode->next)
		if (inode_is_held(inode))
			return -EBUSY;
	while (vfs->inodes)
		inode_free(vfs->inodes);
	if (!mnt_is_idle(&vfs->mnt))
		vfs_report(vfs, "mount-writers-left",
			   "a mount died while its writers were counted in");
	mnt_finish(&vfs->mnt);
	berth_file_budget_destroy(vfs->budget);
	page_store_finish(&vfs->pages);
	sys_free(vfs, vfs_bytes());
	return 0;
}

/* ---- Tasks ---- */

static struct bytes task_bytes(void)
{
	return bytes_of(sizeof(struct berth_task));
}

/* Directories, instance and umask of a new task; the rest is there. */
static void task_start(struct berth_task *task, struct berth_vfs *vfs,
		       mode_t umask)
{
	task->vfs = vfs;
	task->umask = umask;
	fetch_add_relaxed(&vfs->tasks, 1);
}

int berth_task_create(struct berth_vfs *vfs, const struct berth_cred *cred,
		      struct berth_task **result)
{
	struct berth_task *task = sys_zalloc(task_bytes());
	int ret;

	if (!task)
		return -ENOMEM;
	ret = cred_create(cred, &task->cred);
	if (ret)
		goto out_free;
	ret = -ENOMEM;
	task->files = files_create();
	if (!task->files)
		goto out_put_cred;
	task->root = task->cwd = vfs->root;
	ihold(vfs->root);
	ihold(vfs->root);
	task_start(task, vfs, UMASK_DEFAULT);
	*result = task;
	return 0;

out_put_cred:
	cred_put(task->cred);
out_free:
	sys_free(task, task_bytes());
	return ret;
}

/* Own a directory that the task's pointer may be moved away from. */
static struct inode *task_dir_get(struct inode **place)
{
	struct inode *dir;

	rcu_read_lock();
	do {
		/* RCU(task_dir_get:A) pairs with REL(task_dir_set:A) */
		dir = rcu_dereference(*place);
	} while (unlikely(!igrab(dir)));
	rcu_read_unlock();
	return dir;
}

int berth_task_fork(struct berth_task *parent, unsigned int flags,
		    struct berth_task **child)
{
	struct berth_task *task;

	if (flags & ~BERTH_TASK_SHARE_FILES)
		return -EINVAL;
	task = sys_zalloc(task_bytes());
	if (!task)
		return -ENOMEM;
	if (flags & BERTH_TASK_SHARE_FILES) {
		task->files = parent->files;
		files_get(task->files);
	} else {
		task->files = dup_fd(parent->files);
	}
	if (!task->files) {
		sys_free(task, task_bytes());
		return -ENOMEM;
	}
	task->cred = cred_get(parent);
	task->root = task_dir_get(&parent->root);
	task->cwd = task_dir_get(&parent->cwd);
	task_start(task, parent->vfs, load_relaxed(&parent->umask));
	*child = task;
	return 0;
}

void berth_task_destroy(struct berth_task *task)
{
	if (!task)
		return;
	files_put(task->files);
	iput(task->root);
	iput(task->cwd);
	cred_put(task->cred);
	fetch_sub_relaxed(&task->vfs->tasks, 1);
	sys_free(task, task_bytes());
	rcu_poll();
}

struct berth_files *berth_task_files(struct berth_task *task)
{
	return handle_of(task->files);
}

int berth_task_set_cred(struct berth_task *task, const struct berth_cred *cred)
{
	struct cred *fresh;
	int ret = cred_create(cred, &fresh);

	if (ret)
		return ret;
	/* REL(berth_task_set_cred:A) pairs with RCU(cred_get:A) */
	cred_put(swap_acq_rel(&task->cred, fresh));
	rcu_poll();
	return 0;
}

mode_t berth_umask(struct berth_task *task, mode_t mask)
{
	/* Relaxed: one word. */
	return swap_relaxed(&task->umask, mask & 0777);
}
