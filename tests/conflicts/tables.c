/* SPDX-License-Identifier: MIT */
/* The domain "tables": descriptor tables, through the suite's adapter. */
#include <fcntl.h>
#include <stdlib.h>

#include "../harness.h"
#include "../suite/objects.h"
#include "pairs.h"

#define LIMIT 512u

/* Objects of the state, by place; the last two are for opens. */
enum {
	A,
	B,
	C,
	OPENED,
	OBJECTS = OPENED + 2
};

struct tables {
	void *table[2];
	struct object *object[OBJECTS];
};

static const struct table_adapter *const by = &table_adapter;

/* ---- The state ---- */

static void reserve_two(void *table)
{
	if (!by->reserve)
		return;
	check_equal(by->reserve(table, 4, false), 4);
	check_equal(by->reserve(table, 5, false), 5);
}

static void fill(struct tables *state)
{
	void *table = state->table[0];

	check_equal(by->open(table, state->object[A], false), 0);
	check_equal(by->open(table, state->object[B], true), 1);
	check_equal(by->dup(table, 0), 2);
	check_equal(by->open(table, state->object[C], false), 3);
	check_equal(by->dup2(table, 3, 70), 70);
	check_equal(by->close(table, 3), 0);
}

static void *create(void)
{
	struct tables *state = calloc(1, sizeof(*state));
	int i;

	check(state);
	for (i = 0; i < OBJECTS; i++)
		state->object[i] = object_create();
	state->table[0] = by->create(LIMIT);
	check(state->table[0]);
	fill(state);
	state->table[1] = by->copy(state->table[0]);
	check(state->table[1]);
	reserve_two(state->table[0]);
	reserve_two(state->table[1]);
	return state;
}

static void destroy(void *arg, struct call *calls)
{
	struct tables *state = arg;
	int i;

	for (i = 0; i < 2; i++) {
		by->destroy(state->table[i]);
		if (calls[i].made)
			by->destroy(calls[i].made);
	}
	free(state);
	if (by->settle)
		by->settle();
	objects_free();
}

/* A number from wherever the thread gets its own from. */
static void use_any(void *table)
{
	int fd;

	if (!by->reserve)
		return;
	fd = by->reserve(table, 0, true);
	check(fd >= 0);
	by->unreserve(table, fd);
}

static void prepare(void *arg, unsigned int cpu)
{
	struct tables *state = arg;

	(void)cpu;
	use_any(state->table[0]);
	use_any(state->table[1]);
}

/* So many numbers at once, then all closed, then all freed. */
#define WARM_NUMBERS 64u

static void warm(void)
{
	void *table = by->create(LIMIT);
	struct object *object;
	unsigned int i;

	check(table);
	for (i = 0; i < WARM_NUMBERS; i++)
		check(by->open(table, object_create(), false) >= 0);
	for (i = 0; i < WARM_NUMBERS; i++) {
		object = by->get(table, (int)i);
		by->put(table, object);
		check_equal(by->close(table, (int)i), 0);
	}
	by->destroy(table);
	if (by->settle)
		by->settle();
}

/* ---- What can be seen of it ---- */

static char name_of(const struct tables *state, const struct object *object)
{
	int i;

	for (i = 0; i < OBJECTS; i++)
		if (state->object[i] == object)
			return "abcAB"[i];
	return object ? '?' : '-';
}

static char peek(const struct tables *state, void *table, int fd)
{
	struct object *object = by->get(table, fd);

	if (object)
		by->put(table, object);
	return name_of(state, object);
}

static void describe_number(const struct tables *state, void *table, int fd,
			    FILE *to)
{
	char object = peek(state, table, fd);

	if (object != '-')
		fprintf(to, "%c%s", object,
			by->getfd(table, fd) == FD_CLOEXEC ? "*" : "");
}

/* The table itself, or a copy that was made of it. */
static void describe_table(const struct tables *state, void *table,
			   const struct call *calls, unsigned int side,
			   FILE *to)
{
	int fd, i;

	for (i = 0; i < 2; i++) {
		if (calls[i].side != side || calls[i].any < 0)
			continue;
		fprintf(to, " any%d=", i);
		describe_number(state, table, calls[i].any, to);
	}
	for (fd = 0; fd < (int)LIMIT; fd++) {
		if (call_gave(calls, side, fd) || peek(state, table, fd) == '-')
			continue;
		fprintf(to, " %d=", fd);
		describe_number(state, table, fd, to);
	}
	if (by->count)
		fprintf(to, " count %u", by->count(table));
	fprintf(to, "\n");
}

static void describe(void *arg, const struct call *calls, FILE *to)
{
	struct tables *state = arg;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		describe_table(state, state->table[i], calls, i, to);
		if (calls[i].made)
			describe_table(state, calls[i].made, calls,
				       calls[i].side, to);
	}
	for (i = 0; i < OBJECTS; i++)
		fprintf(to, "%u", object_is_released(state->object[i]));
}

/* ---- Operations ---- */

static void *table_of(const struct call *call)
{
	const struct tables *state = call->state;

	return state->table[call->side];
}

static struct object *opened_by(const struct call *call)
{
	const struct tables *state = call->state;

	return state->object[OPENED + call->cpu];
}

static int arg(const struct call *call, int i)
{
	return call->operation->arg[i];
}

static void run_borrow(struct call *call)
{
	struct object *object = by->borrow(table_of(call), arg(call, 0));

	if (object)
		by->give_back(table_of(call), object);
	result_print(call, "%c", name_of(call->state, object));
}

static void run_get(struct call *call)
{
	struct object *object = by->get(table_of(call), arg(call, 0));

	if (object)
		by->put(table_of(call), object);
	result_print(call, "%c", name_of(call->state, object));
}

static void run_getfd(struct call *call)
{
	result_print(call, "%d", by->getfd(table_of(call), arg(call, 0)));
}

static void run_setfd(struct call *call)
{
	result_print(call, "%d",
		     by->setfd(table_of(call), arg(call, 0), arg(call, 1)));
}

static void run_close(struct call *call)
{
	result_print(call, "%d", by->close(table_of(call), arg(call, 0)));
}

static void run_dup(struct call *call)
{
	result_print(call, "%d", by->dup(table_of(call), arg(call, 0)));
}

static void run_dupfd(struct call *call)
{
	result_print(call, "%d",
		     by->dupfd(table_of(call), arg(call, 0), 8, true));
}

static void run_dup2(struct call *call)
{
	result_print(call, "%d",
		     by->dup2(table_of(call), arg(call, 0), arg(call, 1)));
}

static void run_dup3(struct call *call)
{
	result_print(call, "%d",
		     by->dup3(table_of(call), arg(call, 0), arg(call, 1),
			      O_CLOEXEC));
}

static void run_renumber(struct call *call)
{
	result_print(call, "%d",
		     by->renumber(table_of(call), arg(call, 0), arg(call, 1)));
}

static void run_open(struct call *call)
{
	result_print(call, "%d",
		     by->open(table_of(call), opened_by(call), false));
}

static void run_open_any(struct call *call)
{
	result_any(call, by->open_any(table_of(call), opened_by(call), false));
}

static void run_open_any_cloexec(struct call *call)
{
	result_any(call, by->open_any(table_of(call), opened_by(call), true));
}

static void run_reserve(struct call *call)
{
	result_print(call, "%d", by->reserve(table_of(call), 0, false));
}

static void run_reserve_any(struct call *call)
{
	result_any(call, by->reserve(table_of(call), 0, true));
}

static void run_install(struct call *call)
{
	by->install(table_of(call), arg(call, 0), opened_by(call));
}

static void run_unreserve(struct call *call)
{
	by->unreserve(table_of(call), arg(call, 0));
}

static void run_copy(struct call *call)
{
	call->made = by->copy(table_of(call));
}

static void run_exec(struct call *call)
{
	by->exec(table_of(call));
}

static void run_count(struct call *call)
{
	result_print(call, "%u", by->count(table_of(call)));
}

static void run_set_limit(struct call *call)
{
	result_print(call, "%d", by->set_limit(table_of(call), LIMIT));
}

/* ---- The list, as docs/SCALING.md has it ---- */

static const int numbers[] = { 0, 1, 2, 3, 70 };
static const unsigned int files[] = { 1 + A, 1 + B, 1 + A, 0, 1 + C };
static const int targets[] = { 0, 1, 3 };

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
#define TARGETS (sizeof(targets) / sizeof(targets[0]))

/* One with each number. */
static void add_each(struct operations *all, void (*run)(struct call *call),
		     enum family family, const char *name, int second)
{
	struct operation *one;
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		one = add(all, run, family, "%s %d", name, numbers[i]);
		one->arg[0] = numbers[i];
		one->arg[1] = second;
		one->file = files[i];
		if (run == run_get)
			one->asks = one->changes = ASPECT_OWNERS;
	}
}

static void add_each_onto(struct operations *all,
			  void (*run)(struct call *call), const char *name)
{
	struct operation *one;
	size_t i;

	for (i = 0; i < NUMBERS * TARGETS; i++) {
		one = add(all, run, FAMILY_OTHER, "%s %d onto %d", name,
			  numbers[i / TARGETS], targets[i % TARGETS]);
		one->arg[0] = numbers[i / TARGETS];
		one->arg[1] = targets[i % TARGETS];
	}
}

static void add_lookups(struct operations *all)
{
	if (by->borrow)
		add_each(all, run_borrow, FAMILY_READ, "borrow", 0);
	add_each(all, run_get, FAMILY_READ, "get", 0);
	add_each(all, run_getfd, FAMILY_READ, "getfd", 0);
}

static void add_changes(struct operations *all)
{
	add_each(all, run_setfd, FAMILY_OTHER, "unset cloexec of", 0);
	add_each(all, run_setfd, FAMILY_OTHER, "set cloexec of", FD_CLOEXEC);
	add_each(all, run_close, FAMILY_OTHER, "close", 0);
	add_each(all, run_dup, FAMILY_OTHER, "dup", 0);
	add_each(all, run_dupfd, FAMILY_OTHER, "dupfd", 0);
	add_each_onto(all, run_dup2, "dup2");
	add_each_onto(all, run_dup3, "dup3");
	if (by->renumber)
		add_each_onto(all, run_renumber, "renumber");
}

/* By the owner of a reserved number. */
static void add_owner(struct operations *all, void (*run)(struct call *call),
		      const char *name, int fd)
{
	struct operation *one = add(all, run, FAMILY_OTHER, "%s %d", name, fd);

	one->arg[0] = one->reserved = fd;
}

static void add_two_steps(struct operations *all)
{
	add(all, run_reserve, FAMILY_OTHER, "reserve");
	add(all, run_reserve_any, FAMILY_ANY, "reserve any");
	add_owner(all, run_install, "install", 4);
	add_owner(all, run_install, "install", 5);
	add_owner(all, run_unreserve, "unreserve", 4);
}

static void add_whole(struct operations *all)
{
	add(all, run_copy, FAMILY_OTHER, "copy");
	if (by->exec)
		add(all, run_exec, FAMILY_OTHER, "exec");
	if (by->count)
		add(all, run_count, FAMILY_OTHER, "count");
	if (by->set_limit)
		add(all, run_set_limit, FAMILY_OTHER, "set limit");
}

const struct domain *tables_domain(void)
{
	static struct operations all;
	static struct domain domain = {
		.name = "tables",
		.sides = "table",
		.create = create,
		.prepare = prepare,
		.describe = describe,
		.destroy = destroy,
		.warm = warm,
	};

	add_lookups(&all);
	add(&all, run_open, FAMILY_OTHER, "open");
	if (by->open_any) {
		add(&all, run_open_any, FAMILY_ANY, "open any");
		add(&all, run_open_any_cloexec, FAMILY_ANY,
		    "open any with cloexec");
	}
	if (by->reserve)
		add_two_steps(&all);
	add_changes(&all);
	add_whole(&all);
	domain.operations = all.list;
	domain.count = all.count;
	return &domain;
}
