/* SPDX-License-Identifier: MIT */
/*
 * The words after -o of berth mount: those that the kernel's tmpfs knows, and
 * those of the kernel that mean something for any mount.  Of words that are
 * repeated or exclude each other the last one counts, as for mount(8).
 */
#include "front/cli/mount_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/cli/cli.h"
#include "front/cli/message.h"
#include "front/cli/nearest.h"

enum word {
	SIZE,
	NR_INODES,
	MODE,
	UID,
	GID,
	RO,
	RW,
	/* From here on, pairs that are handed to the kernel as they are. */
	ATIME,
	NOATIME,
	SUID,
	NOSUID,
	DEV,
	NODEV,
	EXEC,
	NOEXEC,
	SYNC,
	ASYNC,
	DIRSYNC,
	ALLOW_OTHER,
	ALLOW_ROOT,
	/* What is so anyway. */
	DEFAULTS,
	RELATIME,
	NR_WORDS,
};

static const char *const names[] = {
	[SIZE] = "size",
	[NR_INODES] = "nr_inodes",
	[MODE] = "mode",
	[UID] = "uid",
	[GID] = "gid",
	[RO] = "ro",
	[RW] = "rw",
	[ATIME] = "atime",
	[NOATIME] = "noatime",
	[SUID] = "suid",
	[NOSUID] = "nosuid",
	[DEV] = "dev",
	[NODEV] = "nodev",
	[EXEC] = "exec",
	[NOEXEC] = "noexec",
	[SYNC] = "sync",
	[ASYNC] = "async",
	[DIRSYNC] = "dirsync",
	[ALLOW_OTHER] = "allow_other",
	[ALLOW_ROOT] = "allow_root",
	[DEFAULTS] = "defaults",
	[RELATIME] = "relatime",
	[NR_WORDS] = NULL,
};

/* What a value has to look like, for the words that take one. */
static const char *const rules[NR_WORDS] = {
	[SIZE] = "bytes, or a number with k, m, g or %, such as size=64m; "
		 "0 is no limit",
	[NR_INODES] = "a number, or one with k, m or g, such as nr_inodes=10k; "
		      "0 is no limit",
	[MODE] = "permission bits in octal, such as mode=1777",
	[UID] = "the number of a user, such as uid=1000",
	[GID] = "the number of a group, such as gid=1000",
};

static uint64_t memory_bytes(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) *
	       (uint64_t)sysconf(_SC_PAGESIZE);
}

void mount_options_default(struct server_options *options)
{
	*options = (struct server_options){
		.vfs = {
			.struct_size = sizeof(options->vfs),
			/* Never more than half of the memory. */
			.size = memory_bytes() / 2,
			.nr_inodes = memory_bytes() / 2 / 4096,
			.mode = 01777,
			.uid = geteuid(),
			.gid = getegid(),
		},
		.allow = geteuid() == 0 ? "allow_other" : NULL,
	};
}

/* Digits only: none of strtoull()'s spaces and signs. */
static bool parse_number(const char *text, int base, uint64_t max,
			 uint64_t *number, char **end)
{
	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*number = strtoull(text, end, base);
	return errno == 0 && *number <= max;
}

static bool parse_plain(const char *text, int base, uint64_t max,
			uint64_t *number)
{
	char *end;

	return parse_number(text, base, max, number, &end) && *end == '\0';
}

/* A number with a unit, as tmpfs takes it. */
static bool parse_amount(const char *text, bool percent, uint64_t *amount)
{
	uint64_t number, unit = 1;
	char *end;

	if (!parse_number(text, 10, UINT64_MAX, &number, &end))
		return false;
	if (*end != '\0' && end[1] != '\0')
		return false;
	switch (tolower((unsigned char)*end)) {
	case '\0':
		break;
	case 'k':
		unit = (uint64_t)1 << 10;
		break;
	case 'm':
		unit = (uint64_t)1 << 20;
		break;
	case 'g':
		unit = (uint64_t)1 << 30;
		break;
	case '%':
		if (!percent)
			return false;
		unit = memory_bytes() / 100;
		break;
	default:
		return false;
	}
	/* File sizes are signed. */
	if (number > INT64_MAX / unit)
		return false;
	*amount = number * unit;
	return true;
}

static bool parse_value(struct server_options *options, enum word word,
			const char *value)
{
	struct berth_vfs_options *vfs = &options->vfs;
	uint64_t number = 0;
	bool good;

	switch (word) {
	case SIZE:
		return parse_amount(value, true, &vfs->size);
	case NR_INODES:
		return parse_amount(value, false, &vfs->nr_inodes);
	case MODE:
		good = parse_plain(value, 8, 07777, &number);
		vfs->mode = (mode_t)number;
		vfs->flags |= BERTH_VFS_MODE;
		return good;
	case UID:
		/* The last one means nobody at all. */
		good = parse_plain(value, 10, UINT32_MAX - 1, &number);
		vfs->uid = (uid_t)number;
		return good;
	default:
		good = parse_plain(value, 10, UINT32_MAX - 1, &number);
		vfs->gid = (gid_t)number;
		return good;
	}
}

static void set_flag(struct server_options *options, enum word word)
{
	switch (word) {
	case RO:
		options->vfs.flags |= BERTH_VFS_RDONLY;
		break;
	case RW:
		options->vfs.flags &= ~BERTH_VFS_RDONLY;
		break;
	case ALLOW_OTHER:
	case ALLOW_ROOT:
		options->allow = names[word];
		break;
	case DEFAULTS:
		break;
	case RELATIME:
		options->kernel[0] = NULL;
		break;
	default:
		/* They exclude each other by pairs; the later one counts. */
		options->kernel[(word - ATIME) / 2] = names[word];
	}
	options->noatime = options->kernel[0] == names[NOATIME];
}

static _Noreturn void refuse_word(const char *word,
				  const struct argp_state *state)
{
	struct nearest nearest = nearest_to(word, strcspn(word, "="));
	char known[256] = "", guess[NEAREST_SIZE];
	FILE *out = fmemopen(known, sizeof(known), "w");

	for (unsigned int i = 0; i < NR_WORDS; i++) {
		nearest_try(&nearest, names[i]);
		if (out)
			fprintf(out, "%s%s%s", i > 0 ? ", " : "", names[i],
				rules[i] ? "=" : "");
	}
	if (out)
		fclose(out);
	cli_refuse(state, "'%s' is no mount option%s; there are %s", word,
		   nearest_text(&nearest, "", guess), known);
}

static void parse_word(struct server_options *options, char **words,
		       const struct argp_state *state)
{
	char *value, *word = *words;
	int found = getsubopt(words, (char *const *)names, &value);

	if (found < 0) {
		if (*word != '\0')
			refuse_word(word, state);
	} else if (!rules[found]) {
		if (value)
			cli_refuse(state, "the mount option %s takes no value",
				   names[found]);
		set_flag(options, (enum word)found);
	} else if (!value || !parse_value(options, (enum word)found, value)) {
		cli_refuse(state, "%s=%s is wrong; it takes %s", names[found],
			   value ? value : "", rules[found]);
	}
}

void mount_options_parse(struct server_options *options, const char *words,
			 const struct argp_state *state)
{
	char *copy = strdup(words), *rest = copy;

	if (!copy) {
		message("cannot read the options: out of memory");
		exit(CLI_FAILED);
	}
	while (*rest != '\0')
		parse_word(options, &rest, state);
	free(copy);
}
