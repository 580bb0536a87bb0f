/* SPDX-License-Identifier: MIT */
/* See steps.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../harness.h"
#include "steps.h"

/* ---- On a table ---- */

bool step_is_offered(const struct step *step)
{
	switch (step->call) {
	case OPEN_ANY:
		return table_adapter.open_any;
	case CLOSE_RANGE:
		return table_adapter.close_range;
	case LIMIT:
		return table_adapter.set_limit;
	case COPY:
		return table_adapter.copy;
	default:
		return true;
	}
}

bool step_opens(const struct step *step)
{
	return step->call == OPEN || step->call == OPEN_ANY;
}

static int become_a_copy(void **table)
{
	void *copy = table_adapter.copy(*table);

	if (!copy)
		return -ENOMEM;
	table_adapter.destroy(*table);
	*table = copy;
	return 0;
}

int step_on_table(const struct step *step, void **table, struct object *object)
{
	const struct table_adapter *t = &table_adapter;
	bool cloexec = step->flags & O_CLOEXEC;

	switch (step->call) {
	case OPEN:
		return t->open(*table, object, cloexec);
	case OPEN_ANY:
		return t->open_any(*table, object, cloexec);
	case CLOSE:
		return t->close(*table, step->a);
	case DUP:
		return t->dup(*table, step->a);
	case DUP2:
		return t->dup2(*table, step->a, step->b);
	case DUP3:
		return t->dup3(*table, step->a, step->b, step->flags);
	case DUPFD:
		return t->dupfd(*table, step->a, step->b, cloexec);
	case GETFD:
		return t->getfd(*table, step->a);
	case SETFD:
		return t->setfd(*table, step->a, (int)step->flags);
	case CLOSE_RANGE:
		return t->close_range(table, (unsigned int)step->a,
				      (unsigned int)step->b, step->flags);
	case LIMIT:
		return t->set_limit(*table, (unsigned int)step->a);
	default:
		return become_a_copy(table);
	}
}

/* ---- On the kernel ---- */

static int set_kernel_limit(int limit)
{
	struct rlimit rlimit;

	check(!getrlimit(RLIMIT_NOFILE, &rlimit));
	rlimit.rlim_cur = (rlim_t)limit;
	return setrlimit(RLIMIT_NOFILE, &rlimit);
}

static int kernel_call(const struct step *step)
{
	bool cloexec = step->flags & O_CLOEXEC;

	switch (step->call) {
	case OPEN:
	case OPEN_ANY:
		return memfd_create("suite", cloexec ? MFD_CLOEXEC : 0);
	case CLOSE:
		return close(step->a);
	case DUP:
		return dup(step->a);
	case DUP2:
		return dup2(step->a, step->b);
	case DUP3:
		return dup3(step->a, step->b, (int)step->flags);
	case DUPFD:
		return fcntl(step->a, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD,
			     step->b);
	case GETFD:
		return fcntl(step->a, F_GETFD);
	case SETFD:
		return fcntl(step->a, F_SETFD, (int)step->flags);
	case CLOSE_RANGE:
		return close_range((unsigned int)step->a, (unsigned int)step->b,
				   (int)step->flags);
	case LIMIT:
		return set_kernel_limit(step->a);
	default:
		return 0;
	}
}

int step_on_kernel(const struct step *step)
{
	int ret = kernel_call(step);

	return ret < 0 ? -errno : ret;
}

/* ---- In print ---- */

const char *result_name(int result)
{
	static char text[2][32];
	static unsigned int turn;
	const char *name = result < 0 ? strerrorname_np(-result) : NULL;
	char *to = text[turn++ % 2];

	if (result == NO_RESULT)
		return "none";
	if (name)
		snprintf(to, sizeof(text[0]), "-%s", name);
	else
		snprintf(to, sizeof(text[0]), "%d", result);
	return to;
}

static const char *cloexec_or(unsigned int flags, const char *other)
{
	static char text[16];

	if (flags == O_CLOEXEC)
		return "O_CLOEXEC";
	if (!flags)
		return other;
	snprintf(text, sizeof(text), "%#x", flags);
	return text;
}

void step_print(FILE *out, const struct step *step)
{
	static const char *const names[] = {
		[CLOSE] = "close",
		[DUP] = "dup",
		[GETFD] = "F_GETFD",
		[LIMIT] = "set limit",
	};

	switch (step->call) {
	case OPEN:
	case OPEN_ANY:
		fprintf(out, "open%s(%s)", step->call == OPEN ? "" : " any",
			cloexec_or(step->flags, ""));
		break;
	case DUP2:
		fprintf(out, "dup2(%d, %d)", step->a, step->b);
		break;
	case DUP3:
		fprintf(out, "dup3(%d, %d, %s)", step->a, step->b,
			cloexec_or(step->flags, "0"));
		break;
	case DUPFD:
		fprintf(out, "%s(%d, %d)",
			step->flags ? "F_DUPFD_CLOEXEC" : "F_DUPFD", step->a,
			step->b);
		break;
	case SETFD:
		fprintf(out, "F_SETFD(%d, %u)", step->a, step->flags);
		break;
	case CLOSE_RANGE:
		fprintf(out, "close_range(%u, %u, %#x)", (unsigned int)step->a,
			(unsigned int)step->b, step->flags);
		break;
	case COPY:
		fprintf(out, "fork copy");
		break;
	default:
		fprintf(out, "%s(%d)", names[step->call], step->a);
	}
}

void step_print_c(FILE *out, const struct step *step)
{
	static const char *const names[] = {
		[CLOSE] = "close",
		[DUP] = "dup",
		[GETFD] = "getfd",
		[LIMIT] = "set_limit",
	};
	const char *truth = step->flags & O_CLOEXEC ? "true" : "false";

	switch (step->call) {
	case OPEN:
	case OPEN_ANY:
		fprintf(out, "open%s(t, object_create(), %s);",
			step->call == OPEN ? "" : "_any", truth);
		break;
	case DUP2:
		fprintf(out, "dup2(t, %d, %d);", step->a, step->b);
		break;
	case DUP3:
		fprintf(out, "dup3(t, %d, %d, %s);", step->a, step->b,
			cloexec_or(step->flags, "0"));
		break;
	case DUPFD:
		fprintf(out, "dupfd(t, %d, %d, %s);", step->a, step->b, truth);
		break;
	case SETFD:
		fprintf(out, "setfd(t, %d, %u);", step->a, step->flags);
		break;
	case CLOSE_RANGE:
		fprintf(out, "close_range(&t, %u, %u, %#x);",
			(unsigned int)step->a, (unsigned int)step->b,
			step->flags);
		break;
	case COPY:
		fprintf(out, "copy(t); /* go on with the copy */");
		break;
	default:
		fprintf(out, "%s(t, %d);", names[step->call], step->a);
	}
}
