/* SPDX-License-Identifier: MIT */
/*
 * Long random sequences of calls, by seed, on berth and on the kernel's tmpfs
 * side by side.
 *
 * All happens among a few names, three directories deep, so that calls meet
 * each other.  What each call gave is compared, and every so often the whole
 * tree: names, types, modes, owners, link counts, sizes, contents, the times
 * that were set.  A sequence on which the sides differ is made shorter as long
 * as they still do, and then shown.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fsops.h"
#include "harness.h"

enum {
	STEPS = 250,	   /* of the longest sequence */
	STEPS_A_TREE = 25, /* roughly */
	NUMBERS = 5,	   /* of descriptors that are tried */
	PATH = 32,	   /* bytes of the longest path */
};

#define PAGE INT64_C(4096)

enum step_kind {
	CALL,
	LIST, /* the entries of a directory */
	TREE, /* everything */
};

struct step {
	enum step_kind kind;
	struct op op;
	char path[PATH], path2[PATH];
};

struct sequence {
	struct fs_options options;
	bool allocates; /* keeps room, so where data is cannot be compared */
	struct step *steps[STEPS];
	size_t count;
};

/* What the steps gave: text, and where that of each step ends. */
struct record {
	const struct sequence *sequence;
	char *text;
	size_t size;
	size_t ends[STEPS];
};

/* Set by main() or the first run, the same for both sides. */
static bool hardlinks_are_protected;
static bool ids_can_change;

/* ---- Making sequences ---- */

static unsigned int one_of(struct random *random, const unsigned int *values,
			   size_t count)
{
	return values[random_below(random, (unsigned int)count)];
}

#define ONE_OF(random, ...)                                    \
	one_of(random, (const unsigned int[]){ __VA_ARGS__ },  \
	       sizeof((const unsigned int[]){ __VA_ARGS__ }) / \
		       sizeof(unsigned int))

static void random_path(struct random *random, char path[PATH])
{
	static const char *const odd[] = { "",	   ".",	   "..",    "/",
					   "a/..", "./b",  "../a",  "b/../b",
					   "//c",  "a//a", "c/././" };
	static const char *const ends[] = { "/", "/.", "/..", "//", "/" };
	unsigned int depth = ONE_OF(random, 1, 1, 1, 1, 1, 2, 2, 2, 3);
	char *at = path;

	if (random_once_in(random, 25)) {
		strcpy(path, odd[random_below(random, 11)]);
		return;
	}
	if (random_once_in(random, 12))
		*at++ = '/';
	while (depth--) {
		*at++ = (char)('a' + random_below(random, 3));
		*at++ = '/';
	}
	at[-1] = '\0';
	if (random_once_in(random, 12))
		strcpy(at - 1, ends[random_below(random, 5)]);
}

static unsigned int open_flags(struct random *random)
{
	static const unsigned int more[] = {
		O_CREAT,    O_EXCL,    O_TRUNC, O_APPEND,   O_CLOEXEC,
		O_NOFOLLOW, O_NOATIME, O_PATH,	O_DIRECTORY
	};
	static const unsigned int rarity[] = { 2, 8, 5, 5, 9, 12, 15, 20, 15 };
	unsigned int flags = ONE_OF(random, O_RDONLY, O_WRONLY, O_RDWR, O_RDWR);
	size_t i;

	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (random_once_in(random, rarity[i]))
			flags |= more[i];
	if (flags & O_CREAT) /* old kernels made a file of both */
		flags &= ~(unsigned int)O_DIRECTORY;
	else if (random_once_in(random, 25))
		flags |= O_TMPFILE;
	if (random_once_in(random, 200))
		flags |= O_ACCMODE;
	return flags;
}

/*
 * None is sticky and writable for all: further sysctls would have a say.  Root
 * in a name space of his own may not keep set-id bits as the real one may.
 */
static mode_t random_mode(struct random *random)
{
	mode_t mode =
		ONE_OF(random, 0777, 0777, 0755, 0755, 0700, 0644, 0666, 0555,
		       0333, 0, 01755, 02777, 02755, 06755, 04711, 07775);

	return ids_can_change ? mode : mode & 01777;
}

static int64_t random_offset(struct random *random)
{
	static const int64_t edges[] = { 0,	   0,	     1,
					 PAGE - 1, PAGE,     PAGE + 1,
					 2 * PAGE, 3 * PAGE, -1 };

	if (random_once_in(random, 300))
		return (int64_t)random_next(random);
	if (random_once_in(random, 100))
		return INT64_C(1) << random_below(random, 36);
	if (random_once_in(random, 2))
		return edges[random_below(random, 9)];
	return random_below(random, 5 * PAGE);
}

static size_t random_size(struct random *random)
{
	if (random_once_in(random, 20))
		return 0;
	if (random_once_in(random, 2))
		return random_below(random, 100) + 1;
	return ONE_OF(random, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 10000);
}

static const struct timespec *random_times(struct random *random)
{
	static const struct timespec choices[][2] = {
		{ { 5, 6 }, { 7, 8 } },
		{ { 0, 0 }, { 999, 999999999 } },
		{ { 0, BERTH_UTIME_NOW }, { 0, BERTH_UTIME_NOW } },
		{ { 0, BERTH_UTIME_OMIT }, { 9, 9 } },
		{ { 10, 11 }, { 0, BERTH_UTIME_OMIT } },
		{ { 0, BERTH_UTIME_OMIT }, { 0, BERTH_UTIME_OMIT } },
		{ { 0, BERTH_UTIME_NOW }, { 12, 13 } },
		{ { 0, 1000000000 }, { 0, 0 } },
	};
	unsigned int i = random_below(random, 9);

	return i < 8 ? choices[i] : NULL;
}

static enum op_kind random_kind(struct random *random)
{
	static const struct {
		unsigned char kind, weight;
	} weights[] = {
		{ OP_OPEN, 30 },    { OP_CLOSE, 5 },   { OP_DUP, 2 },
		{ OP_DUP2, 2 },	    { OP_DUP3, 1 },    { OP_FCNTL, 5 },
		{ OP_READ, 6 },	    { OP_WRITE, 10 },  { OP_PREAD, 4 },
		{ OP_PWRITE, 8 },   { OP_LSEEK, 9 },   { OP_FTRUNCATE, 6 },
		{ OP_TRUNCATE, 4 }, { OP_STAT, 6 },    { OP_FSTAT, 4 },
		{ OP_ACCESS, 3 },   { OP_CHMOD, 5 },   { OP_FCHMOD, 3 },
		{ OP_CHOWN, 5 },    { OP_FCHOWN, 2 },  { OP_UTIMENS, 4 },
		{ OP_MKDIR, 20 },   { OP_MKNOD, 5 },   { OP_SYMLINK, 7 },
		{ OP_LINK, 10 },    { OP_UNLINK, 10 }, { OP_RENAME, 24 },
		{ OP_READLINK, 3 }, { OP_CHDIR, 5 },   { OP_FCHDIR, 2 },
		{ OP_GETCWD, 2 },   { OP_UMASK, 1 },   { OP_CRED, 6 },
		{ OP_READV, 4 },    { OP_WRITEV, 5 },  { OP_FALLOCATE, 8 },
		{ OP_FSYNC, 1 },    { OP_OPEN2, 8 },   { OP_SYNC_RANGE, 1 },
		{ OP_STATFS, 3 },
	};
	const size_t kinds = sizeof(weights) / sizeof(weights[0]);
	unsigned int total = 0, at;
	size_t i;

	for (i = 0; i < kinds; i++)
		total += weights[i].weight;
	at = random_below(random, total);
	for (i = 0; at >= weights[i].weight; i++)
		at -= weights[i].weight;
	return weights[i].kind;
}

/* Flags of the calls that take some, by kind. */
static unsigned int random_flags(struct random *random, enum op_kind kind)
{
	switch (kind) {
	case OP_OPEN:
	case OP_OPEN2:
		return open_flags(random);
	case OP_FALLOCATE:
		return ONE_OF(random, 0, 0, BERTH_FALLOC_KEEP_SIZE,
			      BERTH_FALLOC_KEEP_SIZE | BERTH_FALLOC_PUNCH_HOLE,
			      BERTH_FALLOC_KEEP_SIZE | BERTH_FALLOC_PUNCH_HOLE,
			      BERTH_FALLOC_ZERO_RANGE);
	case OP_READV:
	case OP_WRITEV:
		return ONE_OF(random, 0, 0, BERTH_RWF_APPEND, BERTH_RWF_DSYNC);
	case OP_DUP3:
		return ONE_OF(random, 0, O_CLOEXEC);
	case OP_STAT:
	case OP_CHOWN:
	case OP_UTIMENS:
		return ONE_OF(random, 0, BERTH_AT_SYMLINK_NOFOLLOW,
			      BERTH_AT_EMPTY_PATH);
	case OP_LINK:
		return ONE_OF(random, 0, 0, BERTH_AT_SYMLINK_FOLLOW,
			      BERTH_AT_EMPTY_PATH);
	case OP_UNLINK:
		return ONE_OF(random, 0, 0, BERTH_AT_REMOVEDIR);
	case OP_RENAME:
		return ONE_OF(random, 0, 0, 0, BERTH_RENAME_NOREPLACE,
			      BERTH_RENAME_EXCHANGE, BERTH_RENAME_WHITEOUT);
	default:
		return 0;
	}
}

static void random_command(struct random *random, struct op *op)
{
	static const int commands[] = { F_GETFL, F_SETFL, F_GETFD,
					F_SETFD, F_DUPFD, F_DUPFD_CLOEXEC };

	switch (op->kind) {
	case OP_FCNTL:
		op->cmd = commands[random_below(random, 6)];
		op->pos = op->cmd == F_SETFL
				  ? ONE_OF(random, 0, O_APPEND, O_NOATIME,
					   O_NONBLOCK | O_TRUNC)
				  : random_below(random, NUMBERS);
		break;
	case OP_LSEEK:
		op->cmd = (int)random_below(random, SEEK_HOLE + 1);
		break;
	case OP_ACCESS:
		op->cmd = (int)random_below(random, 8);
		break;
	case OP_READV:
	case OP_WRITEV:
		op->cmd = (int)random_below(random, 6);
		if (random_once_in(random, 2))
			op->pos = -1;
		break;
	case OP_FALLOCATE:
		/* The kernel has no mercy on large ranges. */
		op->pos = random_below(random, 6 * PAGE);
		break;
	case OP_FSYNC:
		op->cmd = (int)random_below(random, 3);
		break;
	case OP_OPEN2:
		if (under_valgrind()) { /* it does not know the call */
			op->kind = OP_OPEN;
			break;
		}
		op->resolve = ONE_OF(
			random, 0, BERTH_RESOLVE_BENEATH, BERTH_RESOLVE_IN_ROOT,
			BERTH_RESOLVE_NO_SYMLINKS,
			BERTH_RESOLVE_IN_ROOT | BERTH_RESOLVE_NO_SYMLINKS);
		if (!(op->flags & O_CREAT) && random_below(random, 8))
			op->mode = 0;
		break;
	default:
		break;
	}
}

static void random_ids(struct random *random, struct op *op)
{
	op->uid = ONE_OF(random, 0, 1000, 1001);
	op->gid = ONE_OF(random, 0, 1000, 1001);
	if (op->kind == OP_CRED) {
		op->groups[0] = 1001;
		op->ngroups = random_below(random, 2);
		if (!ids_can_change)
			op->uid = op->gid = op->ngroups = 0;
	} else {
		if (random_once_in(random, 3))
			op->uid = (uid_t)-1;
		if (random_once_in(random, 3) || !ids_can_change)
			op->gid = (gid_t)-1;
		if (!ids_can_change)
			op->uid = 0;
	}
}

/* Where a path starts: mostly in the working directory. */
static int random_start(struct random *random)
{
	return random_once_in(random, 8) ? (int)random_below(random, NUMBERS)
					 : BERTH_AT_FDCWD;
}

static bool is_of_a_number(enum op_kind kind)
{
	switch (kind) {
	case OP_OPEN:
	case OP_OPEN2:
	case OP_STAT:
	case OP_ACCESS:
	case OP_CHMOD:
	case OP_CHOWN:
	case OP_UTIMENS:
	case OP_MKDIR:
	case OP_MKNOD:
	case OP_LINK:
	case OP_UNLINK:
	case OP_RENAME:
	case OP_READLINK:
		return false;
	default:
		return true;
	}
}

static void random_call(struct random *random, struct step *step)
{
	struct op *op = &step->op;

	op->kind = random_kind(random);
	op->path = step->path;
	op->path2 = step->path2;
	random_path(random, step->path);
	random_path(random, step->path2);
	op->flags = random_flags(random, op->kind);
	op->mode = random_mode(random);
	op->pos = random_offset(random);
	op->size = random_size(random);
	op->fill = (unsigned char)('a' + random_below(random, 26));
	op->times = random_times(random);
	op->fd = is_of_a_number(op->kind) ? (int)random_below(random, NUMBERS)
					  : random_start(random);
	op->fd2 = op->kind == OP_DUP2 || op->kind == OP_DUP3
			  ? (int)random_below(random, NUMBERS)
			  : random_start(random);
	random_command(random, op);
	random_ids(random, op);
	if (op->kind == OP_MKNOD) {
		op->mode |= ONE_OF(random, 0, S_IFREG, S_IFSOCK);
		op->pos = 0;
	}
	if (op->kind == OP_UMASK)
		op->mode = ONE_OF(random, 0, 022, 027, 077);
	if (op->kind == OP_UTIMENS && !op->flags && random_once_in(random, 5))
		op->path = NULL;
}

/* Something for the others to find. */
static void first_step(struct random *random, struct step *step)
{
	do {
		memset(step, 0, sizeof(*step));
		random_call(random, step);
	} while (step->op.kind != OP_MKDIR && step->op.kind != OP_OPEN &&
		 step->op.kind != OP_SYMLINK);
	step->op.fd = step->op.fd2 = BERTH_AT_FDCWD;
	if (step->op.kind == OP_OPEN)
		step->op.flags = O_CREAT | O_RDWR;
}

static void random_step(struct random *random, struct step *step)
{
	memset(step, 0, sizeof(*step));
	if (random_once_in(random, STEPS_A_TREE)) {
		step->kind = TREE;
	} else if (random_once_in(random, STEPS_A_TREE)) {
		step->kind = LIST;
		random_path(random, step->path);
	} else {
		random_call(random, step);
	}
}

static void random_sequence(struct random *random, bool limited,
			    struct step *steps, struct sequence *sequence)
{
	size_t i;

	memset(sequence, 0, sizeof(*sequence));
	sequence->options.switches_ids = ids_can_change;
	if (limited) {
		sequence->options.size = PAGE * (4 + random_below(random, 12));
		sequence->options.nr_inodes = 5 + random_below(random, 10);
	}
	sequence->count = 30 + random_below(random, STEPS - 30);
	for (i = 0; i < sequence->count; i++) {
		if (i < 8)
			first_step(random, &steps[i]);
		else
			random_step(random, &steps[i]);
		sequence->steps[i] = &steps[i];
	}
	steps[i - 1].kind = TREE;
	sequence->allocates = random_once_in(random, 2);
}

/* ---- Running them ---- */

static bool is_directory(struct fs *fs, const struct op *stat)
{
	struct outcome outcome;

	return !fs_do(fs, stat, &outcome) && S_ISDIR(outcome.st.mode);
}

static bool is_open_directory(struct fs *fs, int fd)
{
	const struct op op = { .kind = OP_FSTAT, .fd = fd };

	return is_directory(fs, &op);
}

static bool is_named_directory(struct fs *fs, int fd, const char *path)
{
	const struct op op = { .kind = OP_STAT, .fd = fd, .path = path };

	return is_directory(fs, &op);
}

/*
 * Where the sides may differ.  On the kernel's side a removed directory keeps
 * its place under nr_inodes while a file that was in it is open.
 */
static bool is_left_out(struct fs *fs, const struct op *op,
			const struct op *cred, const struct sequence *sequence)
{
	bool few_inodes = sequence->options.nr_inodes != 0;

	switch (op->kind) {
	case OP_FALLOCATE:
		return !sequence->allocates;
	case OP_STATFS:
		return !few_inodes;
	case OP_LSEEK:
		if (sequence->allocates && op->cmd > SEEK_END)
			return true;
		/* Positions in a directory are each side's own. */
		return is_open_directory(fs, op->fd) &&
		       (op->cmd != SEEK_SET || op->pos);
	case OP_LINK:
		/* The kernel asks who opened the file, too. */
		return cred->uid && (hardlinks_are_protected ||
				     (op->flags & BERTH_AT_EMPTY_PATH));
	case OP_UNLINK:
		return few_inodes && op->flags;
	case OP_RENAME:
		return few_inodes && !op->flags &&
		       is_named_directory(fs, op->fd2, op->path2);
	default:
		return false;
	}
}

/*
 * The kernel has taken set-id bits and moved times when it finds that there is
 * no space for what it is to write; berth does nothing by halves.  So make both
 * the same.
 */
static void forget_failed_write(struct fs *fs, int fd, const struct op *cred)
{
	const struct timespec now_and_not[2] = { { 0, BERTH_UTIME_OMIT },
						 { 0, BERTH_UTIME_NOW } };
	const struct op root = { .kind = OP_CRED };
	const struct op chmod = { .kind = OP_FCHMOD, .fd = fd, .mode = 0644 };
	const struct op touch = { .kind = OP_UTIMENS,
				  .fd = fd,
				  .times = now_and_not };
	struct outcome outcome;

	fs_do(fs, &root, &outcome);
	fs_do(fs, &chmod, &outcome);
	fs_do(fs, &touch, &outcome);
	fs_do(fs, cred, &outcome);
}

/* As root, who may see everything. */
static void print_all(FILE *out, struct fs *fs, const struct op *cred)
{
	const struct op root = { .kind = OP_CRED };
	struct outcome outcome;

	fs_do(fs, &root, &outcome);
	fputc('\n', out);
	fs_print_tree(out, fs);
	fs_do(fs, cred, &outcome);
}

static void run_steps(struct fs *fs, void *arg)
{
	struct record *record = arg;
	const struct sequence *sequence = record->sequence;
	FILE *out = open_memstream(&record->text, &record->size);
	struct op cred = { .kind = OP_CRED };
	struct outcome outcome;
	size_t i;

	for (i = 0; i < sequence->count; i++) {
		const struct step *step = sequence->steps[i];

		switch (step->kind) {
		case TREE:
			print_all(out, fs, &cred);
			break;
		case LIST:
			fs_print_listing(out, fs, step->path);
			break;
		case CALL:
			if (is_left_out(fs, &step->op, &cred, sequence)) {
				fputs("left out", out);
				break;
			}
			fs_do(fs, &step->op, &outcome);
			fs_print_outcome(out, &step->op, &outcome);
			if (step->op.kind == OP_CRED)
				cred = step->op;
			if (outcome.ret == -ENOSPC &&
			    (step->op.kind == OP_WRITE ||
			     step->op.kind == OP_WRITEV ||
			     step->op.kind == OP_PWRITE))
				forget_failed_write(fs, step->op.fd, &cred);
			break;
		}
		fflush(out);
		record->ends[i] = record->size;
	}
	fclose(out);
}

static size_t start_of(const struct record *record, size_t i)
{
	return i ? record->ends[i - 1] : 0;
}

static bool same_outcome(const struct record *a, const struct record *b,
			 size_t i)
{
	size_t start = start_of(a, i);

	/* All before is the same, and so are the starts. */
	return a->ends[i] == b->ends[i] &&
	       !memcmp(a->text + start, b->text + start, a->ends[i] - start);
}

/* The two records of a sequence, until they are freed. */
struct comparison {
	struct record berth, kernel;
	const char *why;   /* a side could not be had */
	size_t difference; /* the first step on which they differ, or the count */
};

static void compare(const struct sequence *sequence, struct comparison *result)
{
	memset(result, 0, sizeof(*result));
	result->berth.sequence = result->kernel.sequence = sequence;
	if (fs_on_kernel(&sequence->options, run_steps, &result->kernel,
			 &result->why) ||
	    fs_on_berth(&sequence->options, run_steps, &result->berth,
			&result->why))
		return;
	result->why = NULL;
	while (result->difference < sequence->count &&
	       same_outcome(&result->berth, &result->kernel,
			    result->difference))
		result->difference++;
}

static void finish(struct comparison *result)
{
	free(result->berth.text);
	free(result->kernel.text);
}

static bool sides_differ(const struct sequence *sequence)
{
	struct comparison result;
	bool differ;

	compare(sequence, &result);
	differ = result.why || result.difference < sequence->count;
	finish(&result);
	return differ;
}

/* ---- Shortening and showing them ---- */

/* @from without the @count steps from @at. */
static struct sequence without(const struct sequence *from, size_t at,
			       size_t count)
{
	struct sequence rest = *from;

	memmove(rest.steps + at, rest.steps + at + count,
		(from->count - at - count) * sizeof(rest.steps[0]));
	rest.count -= count;
	return rest;
}

/* Drop steps, many at first, as long as the sides differ. */
static void shorten(struct sequence *sequence)
{
	size_t piece, at;

	for (piece = sequence->count / 2; piece; piece /= 2)
		for (at = 0; at + piece <= sequence->count;) {
			struct sequence rest = without(sequence, at, piece);

			if (rest.count && sides_differ(&rest))
				*sequence = rest;
			else
				at += piece;
		}
}

static void print_step(FILE *out, const struct step *step)
{
	switch (step->kind) {
	case CALL:
		fs_print_op(out, &step->op);
		break;
	case LIST:
		fprintf(out, "the entries of \"%s\"", step->path);
		break;
	case TREE:
		fputs("the whole tree", out);
		break;
	}
}

static void print_outcome(FILE *out, const struct record *record, size_t i)
{
	size_t start = start_of(record, i);

	if (record->text)
		fprintf(out, "%.*s\n", (int)(record->ends[i] - start),
			record->text + start);
}

static void show(const struct sequence *sequence)
{
	struct comparison result;
	size_t i;

	compare(sequence, &result);
	fprintf(stderr, "On a file system of size %llu, nr_inodes %llu:\n",
		(unsigned long long)sequence->options.size,
		(unsigned long long)sequence->options.nr_inodes);
	for (i = 0; i < sequence->count && i <= result.difference; i++) {
		print_step(stderr, sequence->steps[i]);
		if (i < result.difference) {
			fputs(" = ", stderr);
			print_outcome(stderr, &result.berth, i);
		}
	}
	if (result.why) {
		fprintf(stderr, "\n%s\n", result.why);
	} else if (result.difference < sequence->count) {
		fputs("\nberth:  ", stderr);
		print_outcome(stderr, &result.berth, result.difference);
		fputs("kernel: ", stderr);
		print_outcome(stderr, &result.kernel, result.difference);
	}
	finish(&result);
}

/* ---- The cases ---- */

/* Can the kernel's side be had?  If not, there is nothing to compare with. */
static bool find_kernel_side(bool limited)
{
	struct sequence nothing = { .options = { .switches_ids = true } };
	struct record record = { .sequence = &nothing };
	const char *why;

	if (limited)
		nothing.options.size = nothing.options.nr_inodes = 1 << 20;
	ids_can_change =
		!fs_on_kernel(&nothing.options, run_steps, &record, &why);
	free(record.text);
	if (ids_can_change)
		return true;
	nothing.options.switches_ids = false;
	record.text = NULL;
	if (!fs_on_kernel(&nothing.options, run_steps, &record, &why)) {
		free(record.text);
		return true;
	}
	print_message("nothing to compare with: %s\n", why);
	return false;
}

static void run_sequences(bool limited)
{
	struct step *steps = calloc(STEPS, sizeof(*steps));
	unsigned long sequences = 0, calls = 0;
	double end = now() + test_seconds();
	uint64_t seed = test_seed();

	if (!find_kernel_side(limited)) {
		free(steps);
		skip();
		return;
	}
	hardlinks_are_protected = fs_protected_hardlinks();
	for (; now() < end; seed++, sequences++) {
		struct random random = random_of(seed, limited);
		struct sequence sequence;

		repeat_with_seed(seed);
		random_sequence(&random, limited, steps, &sequence);
		calls += sequence.count;
		if (!sides_differ(&sequence))
			continue;
		shorten(&sequence);
		show(&sequence);
		check_failed(__FILE__, __LINE__, "the sides agree");
	}
	fprintf(stderr, "%lu sequences, %lu calls\n", sequences, calls);
	free(steps);
	assert_true(sequences > 0);
}

static void without_limits(void **state)
{
	(void)state;
	run_sequences(false);
}

static void full_file_systems(void **state)
{
	(void)state;
	run_sequences(true);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(without_limits),
		cmocka_unit_test(full_file_systems),
	};

	fs_prepare();
	return run_cases(argc, argv, cases);
}
