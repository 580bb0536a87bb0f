/* SPDX-License-Identifier: MIT */
/* Reference counts, one thread: R1 to R3, and where broken contracts go. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <berth/kref.h>

#include "harness.h"

static unsigned int released;
static struct berth_kref *released_kref;

static void release(struct berth_kref *kref)
{
	released++;
	released_kref = kref;
}

static void starts_at_one(void **state)
{
	struct berth_kref kref;

	(void)state;
	memset(&kref, 0xff, sizeof(kref));
	berth_kref_init(&kref);
	assert_int_equal(berth_kref_read(&kref), 1);
	assert_true(berth_kref_put_last(&kref));
}

static void last_put_destroys(void **state)
{
	struct berth_kref kref;
	int i;

	(void)state;
	berth_kref_init(&kref);
	for (i = 0; i < 1000; i++)
		berth_kref_get(&kref);
	assert_int_equal(berth_kref_read(&kref), 1001);
	for (i = 0; i < 1000; i++)
		assert_false(berth_kref_put_last(&kref));
	assert_true(berth_kref_put_last(&kref));
}

static void put_calls_release_once(void **state)
{
	struct berth_kref kref;

	(void)state;
	released = 0;
	berth_kref_init(&kref);
	berth_kref_get(&kref);
	assert_false(berth_kref_put(&kref, release));
	assert_int_equal(released, 0);
	assert_true(berth_kref_put(&kref, release));
	assert_int_equal(released, 1);
	assert_ptr_equal(released_kref, &kref);
}

static void unless_zero_takes_a_reference(void **state)
{
	struct berth_kref kref;

	(void)state;
	berth_kref_init(&kref);
	assert_true(berth_kref_get_unless_zero(&kref));
	assert_int_equal(berth_kref_read(&kref), 2);
	assert_false(berth_kref_put_last(&kref));
	assert_true(berth_kref_put_last(&kref));
}

/* R1 */
static void zero_stays_zero(void **state)
{
	struct berth_kref kref;
	int i;

	(void)state;
	berth_kref_init(&kref);
	assert_true(berth_kref_put_last(&kref));
	for (i = 0; i < 1000; i++)
		assert_false(berth_kref_get_unless_zero(&kref));
	assert_int_equal(berth_kref_read(&kref), 0);
}

/* From here on the object is kept, whatever is done to the count. */
static void check_never_destroyed(struct berth_kref *kref)
{
	int i;

	for (i = 0; i < 100; i++) {
		assert_false(berth_kref_put_last(kref));
		assert_false(berth_kref_put(kref, release));
	}
	for (i = 0; i < 1000; i++) {
		berth_kref_get(kref);
		assert_true(berth_kref_get_unless_zero(kref));
	}
	for (i = 0; i < 3000; i++)
		assert_false(berth_kref_put_last(kref));
}

static void get_on_zero_is_reported(void **state)
{
	struct berth_kref kref;

	(void)state;
	released = 0;
	berth_kref_init(&kref);
	assert_true(berth_kref_put_last(&kref));

	record_reports();
	berth_kref_get(&kref);
	assert_int_equal(reports_of("kref-get-on-zero"), 1);
	check_never_destroyed(&kref);
	assert_int_equal(stop_recording(), 1);
	assert_int_equal(released, 0);
}

static void put_on_zero_is_reported(void **state)
{
	struct berth_kref kref;

	(void)state;
	released = 0;
	berth_kref_init(&kref);
	assert_true(berth_kref_put_last(&kref));

	record_reports();
	assert_false(berth_kref_put(&kref, release));
	assert_int_equal(reports_of("kref-put-on-zero"), 1);
	check_never_destroyed(&kref);
	assert_int_equal(stop_recording(), 1);
	assert_int_equal(released, 0);
}

/* R3, with both ways to take a reference. */
static void overflow_saturates(bool unless_zero)
{
	/* Wherever the range ends, one of these is near its end. */
	static const unsigned int starts[] = { INT_MAX - 50u, UINT_MAX - 50u };
	struct berth_kref kref;
	unsigned int seen = 0;
	size_t i;
	int j;

	released = 0;
	for (i = 0; i < 2; i++) {
		kref.refs = starts[i];
		record_reports();
		for (j = 0; j < 200; j++) {
			if (unless_zero)
				assert_true(berth_kref_get_unless_zero(&kref));
			else
				berth_kref_get(&kref);
			assert_true(berth_kref_read(&kref) > 1000);
		}
		check_never_destroyed(&kref);
		seen += reports_of("kref-overflow");
		assert_int_equal(stop_recording(), seen);
		if (seen)
			break;
	}
	assert_int_equal(seen, 1);
	assert_int_equal(released, 0);
}

static void get_saturates(void **state)
{
	(void)state;
	overflow_saturates(false);
}

static void get_unless_zero_saturates(void **state)
{
	(void)state;
	overflow_saturates(true);
}

/* ---- Where reports go ---- */

static const char *given_invariant;
static void *given_arg;

static void take_report(const char *invariant, const char *detail, void *arg)
{
	assert_true(strlen(detail) > 10);
	given_invariant = invariant;
	given_arg = arg;
}

static void break_contract(void)
{
	struct berth_kref kref;

	berth_kref_init(&kref);
	berth_kref_put_last(&kref);
	berth_kref_get(&kref);
}

static void handler_gets_its_argument(void **state)
{
	int mine;

	(void)state;
	given_arg = NULL;
	berth_set_report_handler(take_report, &mine);
	break_contract();
	berth_set_report_handler(NULL, NULL);
	assert_string_equal(given_invariant, "kref-get-on-zero");
	assert_ptr_equal(given_arg, &mine);
}

static void default_prints_and_aborts(void **state)
{
	char text[256] = "";
	int ends[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		prepare_to_abort();
		berth_set_report_handler(take_report, NULL);
		berth_set_report_handler(NULL, NULL);
		break_contract();
		leave_child(0);
	}
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, "kref-get-on-zero"));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(starts_at_one),
		cmocka_unit_test(last_put_destroys),
		cmocka_unit_test(put_calls_release_once),
		cmocka_unit_test(unless_zero_takes_a_reference),
		cmocka_unit_test(zero_stays_zero),
		cmocka_unit_test(get_on_zero_is_reported),
		cmocka_unit_test(put_on_zero_is_reported),
		cmocka_unit_test(get_saturates),
		cmocka_unit_test(get_unless_zero_saturates),
		cmocka_unit_test(handler_gets_its_argument),
		cmocka_unit_test(default_prints_and_aborts),
	};

	return run_cases(argc, argv, cases);
}
