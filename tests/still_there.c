/* SPDX-License-Identifier: MIT */
/* Is what tests/without.c has taken away really gone? */
#include <errno.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "without.h"

bool have_membarrier(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0) >= 0;
}

/* The arguments are wrong, but nobody looks at them. */
static bool have_rseq(void)
{
	return syscall(SYS_rseq, NULL, 0, 0, 0) == 0 || errno != ENOSYS;
}

static bool have_noreserve(void)
{
	void *map = mmap(NULL, 4096, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map != MAP_FAILED)
		munmap(map, 4096);
	return map != MAP_FAILED;
}

static bool is_beyond(int resource, rlim_t max)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur > max;
}

static bool is_without(const char *name)
{
	const char *list = getenv(WITHOUT_LIST);

	return list && (strstr(list, name) || !strcmp(list, "all"));
}

const char *still_there(void)
{
	if (is_without("membarrier") && have_membarrier())
		return "membarrier is still there";
	if (is_without("rseq") && have_rseq())
		return "rseq is still there";
	if (is_without("noreserve") && have_noreserve())
		return "MAP_NORESERVE is still there";
	if (is_without("stack") && is_beyond(RLIMIT_STACK, STACK_MAX))
		return "the stack is still large";
	if (is_without("space") && is_beyond(RLIMIT_AS, SPACE_MAX))
		return "the address space is still large";
	return NULL;
}
