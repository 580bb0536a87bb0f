/* SPDX-License-Identifier: MIT */
/* See wing_gong.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "../harness.h"
#include "wing_gong.h"

/* ---- The model ---- */

/*
 * A call is made in steps, one after the other: one, but for tables that reserve
 * numbers.  There an open reserves, then installs; a dup looks its source up,
 * reserves, installs.
 */
enum {
	STEPS_MAX = 3,
};

static bool is_dup(enum wg_kind kind)
{
	return kind == WG_DUP || kind == WG_DUPFD;
}

static bool is_open_call(enum wg_kind kind)
{
	return kind == WG_OPEN || kind == WG_OPEN_ANY;
}

static unsigned int steps_of(const struct wg_table *table,
			     const struct wg_call *call)
{
	if (!table->reserves)
		return 1;
	if (is_dup(call->kind))
		return call->ret < 0 ? 2 : 3;
	return is_open_call(call->kind) && call->ret >= 0 ? 2 : 1;
}

static bool finds(const struct wg_state *state, int fd)
{
	return fd >= 0 && fd < WG_NUMBERS && state->number[fd] &&
	       (state->number[fd] & ~WG_CLOEXEC) != WG_RESERVED;
}

static int lowest_free(const struct wg_table *table,
		       const struct wg_state *state, int min)
{
	int fd;

	for (fd = min; fd < table->limit; fd++)
		if (!state->number[fd])
			return fd;
	return -EMFILE;
}

static wg_number with_bit(wg_number number, bool cloexec)
{
	return (wg_number)((number & ~WG_CLOEXEC) | (cloexec ? WG_CLOEXEC : 0));
}

/* Is @ret what taking a number from @min on may give?  Then it holds @content. */
static bool take(const struct wg_table *table, struct wg_state *state, int min,
		 bool any, wg_number content, int ret)
{
	int lowest = lowest_free(table, state, min);

	if (any && ret >= 0 && lowest >= 0)
		lowest = ret < table->limit && !state->number[ret] ? ret : -1;
	if (ret != lowest)
		return false;
	if (ret >= 0)
		state->number[ret] = content;
	return true;
}

static bool make_open(const struct wg_table *table, struct wg_state *state,
		      const struct wg_call *call, wg_number content)
{
	return take(table, state, 0, call->kind == WG_OPEN_ANY,
		    with_bit(content, call->cloexec), call->ret);
}

/* Of a dup, without a look at its source. */
static bool make_dup(const struct wg_table *table, struct wg_state *state,
		     const struct wg_call *call, wg_number content)
{
	int min = call->kind == WG_DUP ? 0 : call->b;

	if (call->kind == WG_DUPFD && (min < 0 || min >= table->limit))
		return call->ret == -EINVAL;
	return take(table, state, min, false, with_bit(content, call->cloexec),
		    call->ret);
}

static bool make_dup2(const struct wg_table *table, struct wg_state *state,
		      const struct wg_call *call)
{
	if (call->kind == WG_DUP3 && call->a == call->b)
		return call->ret == -EINVAL;
	if (call->b < 0 || call->b >= table->limit || !finds(state, call->a))
		return call->ret == -EBADF;
	if (call->a != call->b) {
		if (state->number[call->b] == WG_RESERVED)
			return call->ret == -EBUSY;
		state->number[call->b] =
			with_bit(state->number[call->a], call->cloexec);
	}
	return call->ret == call->b;
}

/* Numbers that are reserved are free in a copy. */
static bool is_copy(const struct wg_state *state, const struct wg_state *copy)
{
	int fd;

	for (fd = 0; fd < WG_NUMBERS; fd++)
		if (copy->number[fd] !=
		    (finds(state, fd) ? state->number[fd] : 0))
			return false;
	return true;
}

/* The calls on one number that changes at most its own. */
static bool make_on_number(struct wg_state *state, const struct wg_call *call)
{
	bool open = finds(state, call->a);
	wg_number content = open ? state->number[call->a] : 0;

	switch (call->kind) {
	case WG_GET:
		return call->object == (content & ~WG_CLOEXEC);
	case WG_GETFD:
		return call->ret == (!open		    ? -EBADF
				     : content & WG_CLOEXEC ? FD_CLOEXEC
							    : 0);
	case WG_SETFD:
		if (open)
			state->number[call->a] =
				with_bit(content, call->cloexec);
		return call->ret == (open ? 0 : -EBADF);
	default: /* WG_CLOSE */
		if (open)
			state->number[call->a] = 0;
		return call->ret == (open ? 0 : -EBADF);
	}
}

/* Make a call that has but one step. */
static bool make_whole(const struct wg_table *table, struct wg_state *state,
		       const struct wg_call *call)
{
	switch (call->kind) {
	case WG_OPEN:
	case WG_OPEN_ANY:
		return make_open(table, state, call, call->object);
	case WG_DUP:
	case WG_DUPFD:
		if (!finds(state, call->a))
			return call->ret == -EBADF;
		return make_dup(table, state, call, state->number[call->a]);
	case WG_DUP2:
	case WG_DUP3:
		return make_dup2(table, state, call);
	case WG_COPY:
		return is_copy(state, &call->copy);
	default:
		return make_on_number(state, call);
	}
}

/* ---- The search ---- */

/* How far it has come: what each call has done, and what that led to. */
struct place {
	struct wg_state state;
	uint8_t done[WG_CALLS];	    /* steps */
	wg_number source[WG_CALLS]; /* what a dup has looked up */
};

struct search {
	const struct wg_table *table;
	const struct wg_call *calls;
	unsigned int count;
};

/* Places that lead nowhere. */
enum {
	TRIED = 1 << 11,
};

static struct place tried[TRIED];
static unsigned int nr_tried;

static uint64_t hash_of(const struct place *place)
{
	const unsigned char *p = (const unsigned char *)place;
	uint64_t hash = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < sizeof(*place); i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

/* Was it tried before?  It is now.  (When the memory is full it begins anew.) */
static bool was_tried(const struct place *place)
{
	static const struct place none;
	uint64_t i = hash_of(place);

	if (nr_tried > TRIED / 2) {
		memset(tried, 0, sizeof(tried));
		nr_tried = 0;
	}
	for (; memcmp(&tried[i % TRIED], &none, sizeof(none)) != 0; i++)
		if (!memcmp(&tried[i % TRIED], place, sizeof(*place)))
			return true;
	tried[i % TRIED] = *place;
	nr_tried++;
	return false;
}

/* The next step of a call of several. */
static bool make_step(const struct search *search, struct place *place,
		      unsigned int i)
{
	const struct wg_call *call = &search->calls[i];
	bool looks_up = is_dup(call->kind) && place->done[i] == 0;
	bool last = place->done[i] + 1u == steps_of(search->table, call);

	if (looks_up) {
		if (!finds(&place->state, call->a))
			return false;
		place->source[i] = place->state.number[call->a];
		return true;
	}
	if (!last || call->ret < 0)
		return is_dup(call->kind)
			       ? make_dup(search->table, &place->state, call,
					  WG_RESERVED)
			       : make_open(search->table, &place->state, call,
					   WG_RESERVED);
	place->state.number[call->ret] =
		with_bit(is_dup(call->kind) ? place->source[i] : call->object,
			 place->state.number[call->ret] & WG_CLOEXEC);
	return true;
}

/* A dup whose source is not open has one step, whatever the table. */
static unsigned int steps_left(const struct search *search,
			       const struct place *place, unsigned int i)
{
	const struct wg_call *call = &search->calls[i];
	unsigned int steps = steps_of(search->table, call);

	if (is_dup(call->kind) && call->ret == -EBADF)
		steps = 1;
	return steps - place->done[i];
}

static bool make(const struct search *search, struct place *place,
		 unsigned int i)
{
	const struct wg_call *call = &search->calls[i];

	if (steps_of(search->table, call) == 1 ||
	    (is_dup(call->kind) && call->ret == -EBADF)) {
		if (!make_whole(search->table, &place->state, call))
			return false;
	} else if (!make_step(search, place, i)) {
		return false;
	}
	place->done[i]++;
	return true;
}

static bool search_from(const struct search *search, const struct place *place)
{
	uint64_t first_end = UINT64_MAX;
	unsigned int i, left = 0;
	struct place next;

	for (i = 0; i < search->count; i++)
		if (steps_left(search, place, i)) {
			left++;
			if (search->calls[i].end < first_end)
				first_end = search->calls[i].end;
		}
	if (!left)
		return true;
	if (was_tried(place))
		return false;
	for (i = 0; i < search->count; i++) {
		if (!steps_left(search, place, i) ||
		    search->calls[i].begin >= first_end)
			continue;
		next = *place;
		if (make(search, &next, i) && search_from(search, &next))
			return true;
	}
	return false;
}

bool wg_linearizable(const struct wg_table *table, const struct wg_call *calls,
		     unsigned int count)
{
	const struct search search = { table, calls, count };
	struct place start;

	check(count <= WG_CALLS && table->limit <= WG_NUMBERS);
	memset(&start, 0, sizeof(start));
	if (nr_tried)
		memset(tried, 0, sizeof(tried));
	nr_tried = 0;
	return search_from(&search, &start);
}

/* ---- The history for people ---- */

static void print_state(FILE *out, const struct wg_state *state)
{
	int fd;

	for (fd = 0; fd < WG_NUMBERS; fd++)
		if (state->number[fd])
			fprintf(out, " %d:%u%s", fd,
				state->number[fd] & ~WG_CLOEXEC,
				state->number[fd] & WG_CLOEXEC ? "c" : "");
}

static void print_call(FILE *out, const struct wg_call *call)
{
	static const char *const names[WG_KINDS] = {
		"open", "open_any", "close", "dup", "dupfd", "dup2",
		"dup3", "getfd",    "setfd", "get", "copy",
	};

	fprintf(out, "%s(", names[call->kind]);
	if (is_open_call(call->kind))
		fprintf(out, "object %u", call->object);
	else if (call->kind != WG_COPY)
		fprintf(out, "%d", call->a);
	if (call->kind == WG_DUPFD || call->kind == WG_DUP2 ||
	    call->kind == WG_DUP3)
		fprintf(out, ", %d", call->b);
	fprintf(out, "%s)", call->cloexec ? ", cloexec" : "");
	if (call->kind == WG_GET)
		fprintf(out, " found %u", call->object);
	else if (call->kind == WG_COPY)
		print_state(out, &call->copy);
	else
		fprintf(out, " = %d", call->ret);
}

static int by_begin(const void *a, const void *b)
{
	const struct wg_call *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

void wg_print(FILE *out, const struct wg_call *calls, unsigned int count)
{
	struct wg_call sorted[WG_CALLS];
	unsigned int i;

	memcpy(sorted, calls, count * sizeof(*calls));
	qsort(sorted, count, sizeof(*sorted), by_begin);
	for (i = 0; i < count; i++) {
		fprintf(out, "%6llu to %6llu %*s",
			(unsigned long long)sorted[i].begin,
			(unsigned long long)sorted[i].end,
			(int)sorted[i].thread * 30, "");
		print_call(out, &sorted[i]);
		fputc('\n', out);
	}
}
