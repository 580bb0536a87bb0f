/* SPDX-License-Identifier: MIT */
/*
 * A file that watches what berth does to it.
 *
 * *Lifetime* live -> released -> freed, each once and in this order; any other
 * step fails the test at once.  Freed memory is recycled last in, first out, so
 * that a use after it was freed meets another probe soon (with AddressSanitizer
 * it goes to free(), which finds such a use itself).
 */
#ifndef TESTS_PROBE_H
#define TESTS_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <berth/files.h>

/* How often something happened to the probes that share it. */
struct fate {
	atomic_ulong made;
	atomic_ulong flushes;
	atomic_ulong releases;
	atomic_ulong frees;
};

/* Of all probes together. */
extern struct fate all_probes;

/* One for the case, all zero; it outlives the files that the case leaves. */
struct fate *new_fate(void);

enum probe_state {
	PROBE_LIVE = 0x11fe11fe,
	PROBE_RELEASED = 0x4e1ea5ed,
	PROBE_FREED = 0x0ddf4eed,
};

struct probe {
	struct berth_file file;
	_Atomic(enum probe_state) state;
	/* Not atomic: ThreadSanitizer checks that berth orders the accesses. */
	uint64_t id; /* grows with every probe made */
	int fd;	     /* free for the test's own use, -1 at first */
	int flush_result;
	struct fate *fate;
	struct probe *next; /* in the pool */
};

/* The caller owns it.  @fate may be NULL. */
struct probe *probe_create(struct fate *fate, unsigned int mode);

static inline struct probe *probe_of(struct berth_file *file)
{
	return (struct probe *)file;
}

/* Is it one, and not yet freed? */
void probe_check(const struct probe *probe);
/* The same, and it has an owner. */
void probe_check_owned(const struct probe *probe);

/* Put a new probe in the table, at the lowest free number; returns that. */
int probe_open(struct berth_files *files, struct fate *fate);

bool is_open(struct berth_files *files, int fd);

/* The probe's id behind @fd, 0 if there is none. */
uint64_t probe_id_at(struct berth_files *files, int fd);

/* Wait for deferred frees; then every probe has come to its end. */
void check_no_probe_left(void);

/* A case with a fresh table, which ends with nothing left over. */
#define table_test(name) \
	cmocka_unit_test_setup_teardown(name, create_table, destroy_table)

extern struct berth_files *table;
int create_table(void **state);
int destroy_table(void **state);

#endif
