/* SPDX-License-Identifier: MIT */
/* A file that watches what berth does to it; see probe.h. */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "probe.h"

_Static_assert(offsetof(struct probe, file) == 0, "probe_of() casts");

struct fate all_probes;

enum {
	FATES = 512, /* more than a case has */
};

struct fate *new_fate(void)
{
	static struct fate fates[FATES];
	static unsigned int count;
	struct fate *fate = &fates[count++ % FATES];

	atomic_store(&fate->made, 0);
	atomic_store(&fate->flushes, 0);
	atomic_store(&fate->releases, 0);
	atomic_store(&fate->frees, 0);
	return fate;
}

/* ---- Memory ---- */

#if UNDER_ASAN

static struct probe *memory_get(void)
{
	return malloc(sizeof(struct probe));
}

static void memory_put(struct probe *probe)
{
	free(probe);
}

#else

/* Never waited for, as it might be held for ever in a forked child. */
static struct {
	pthread_mutex_t lock;
	struct probe *first;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct probe *memory_get(void)
{
	struct probe *probe = NULL;

	if (!pthread_mutex_trylock(&pool.lock)) {
		probe = pool.first;
		if (probe)
			pool.first = probe->next;
		pthread_mutex_unlock(&pool.lock);
	}
	return probe ? probe : malloc(sizeof(*probe));
}

static void memory_put(struct probe *probe)
{
	if (pthread_mutex_trylock(&pool.lock)) {
		free(probe);
		return;
	}
	probe->next = pool.first;
	pool.first = probe;
	pthread_mutex_unlock(&pool.lock);
}

__attribute__((destructor)) static void memory_finish(void)
{
	struct probe *probe;

	while ((probe = pool.first)) {
		pool.first = probe->next;
		free(probe);
	}
}

#endif

/* ---- Life ---- */

void probe_check(const struct probe *probe)
{
	enum probe_state state = atomic_load(&probe->state);

	check(state == PROBE_LIVE || state == PROBE_RELEASED);
}

void probe_check_owned(const struct probe *probe)
{
	check(atomic_load(&probe->state) == PROBE_LIVE);
}

static int probe_flush(struct berth_file *file, struct berth_files *files)
{
	struct probe *probe = probe_of(file);

	check(files);
	probe_check_owned(probe);
	atomic_fetch_add(&probe->fate->flushes, 1);
	if (probe->fate != &all_probes)
		atomic_fetch_add(&all_probes.flushes, 1);
	return probe->flush_result;
}

static void probe_release(struct berth_file *file)
{
	struct probe *probe = probe_of(file);

	check(atomic_exchange(&probe->state, PROBE_RELEASED) == PROBE_LIVE);
	atomic_fetch_add(&probe->fate->releases, 1);
	if (probe->fate != &all_probes)
		atomic_fetch_add(&all_probes.releases, 1);
}

static void probe_free(struct berth_file *file)
{
	struct probe *probe = probe_of(file);
	struct fate *fate = probe->fate;

	check(atomic_exchange(&probe->state, PROBE_FREED) == PROBE_RELEASED);
	probe->id = 0;
	probe->fd = -1;
	/* A count that is not zero: whoever still gets it is found out. */
	memset(&probe->file, 0x6b, sizeof(probe->file));
	memory_put(probe);

	atomic_fetch_add(&fate->frees, 1);
	if (fate != &all_probes)
		atomic_fetch_add(&all_probes.frees, 1);
}

static const struct berth_file_operations probe_operations = {
	.flush = probe_flush,
	.release = probe_release,
	.free = probe_free,
};

struct probe *probe_create(struct fate *fate, unsigned int mode)
{
	struct probe *probe = memory_get();

	check(probe);
	berth_file_init(&probe->file, &probe_operations, O_RDWR, mode);
	probe->fd = -1;
	probe->flush_result = 0;
	probe->fate = fate ? fate : &all_probes;
	probe->id = atomic_fetch_add(&all_probes.made, 1) + 1;
	if (fate)
		atomic_fetch_add(&fate->made, 1);
	atomic_store(&probe->state, PROBE_LIVE);
	return probe;
}

int probe_open(struct berth_files *files, struct fate *fate)
{
	int fd = berth_files_reserve(files, 0, 0);
	struct probe *probe;

	if (fd < 0)
		return fd;
	probe = probe_create(fate, 0);
	probe->fd = fd;
	berth_files_install(files, fd, &probe->file);
	return fd;
}

uint64_t probe_id_at(struct berth_files *files, int fd)
{
	struct berth_file *file = berth_files_borrow(files, fd);
	uint64_t id = 0;

	if (file) {
		probe_check(probe_of(file));
		id = probe_of(file)->id;
		berth_files_return(file);
	}
	return id;
}

bool is_open(struct berth_files *files, int fd)
{
	return probe_id_at(files, fd) != 0;
}

void check_no_probe_left(void)
{
	unsigned long made = atomic_load(&all_probes.made);

	berth_drain();
	check_equal(atomic_load(&all_probes.releases), made);
	check_equal(atomic_load(&all_probes.frees), made);
}

/* ---- The table of a case ---- */

struct berth_files *table;

int create_table(void **state)
{
	(void)state;
	return berth_files_create(&table);
}

int destroy_table(void **state)
{
	(void)state;
	berth_files_put_table(table);
	check_no_probe_left();
	return 0;
}
