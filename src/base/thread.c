/* SPDX-License-Identifier: MIT */
/* One pthread key serves all parts of berth; the functions stand in TLS. */
#include "base/sys.h"
#include "base/thread.h"

static __thread void (*exits[THREAD_EXITS])(void);

static pthread_key_t key;
static bool have_key;

/*
 * Destructors of other keys may call berth after this ran; then a function is
 * entered again, and glibc comes back for it.
 */
static void run_exits(void *unused)
{
	void (*fn)(void);
	int i;

	(void)unused;
	for (i = THREAD_EXITS - 1; i >= 0; i--) {
		fn = exits[i];
		exits[i] = NULL;
		if (fn)
			fn();
	}
}

bool thread_at_exit(void (*fn)(void))
{
	int i;

	for (i = 0; i < THREAD_EXITS; i++) {
		if (exits[i] == fn)
			return true;
		if (exits[i])
			continue;
		/* Any value but NULL makes the destructor run. */
		if (!have_key || !sys_key_set(key, exits))
			return false;
		exits[i] = fn;
		return true;
	}
	return false;
}

/* Early, for other constructors may use berth. */
__attribute__((constructor(102))) static void thread_init(void)
{
	have_key = sys_key_create(&key, run_exits);
}
