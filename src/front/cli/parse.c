/* SPDX-License-Identifier: MIT */
/*
 * What all command lines have in common: --help, --usage and the way an error
 * is told.
 *
 * argp on its own tells an error in two lines, the second one being where to
 * find help.  Here one line says both, so argp is kept silent and the options
 * that it would add are added by hand.
 */
#include "front/cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/cli/message.h"
#include "front/cli/nearest.h"

#define KEY_USAGE 1

static const struct argp_option options[] = {
	{ "help", '?', NULL, 0, "Give this help list", -1 },
	{ "usage", KEY_USAGE, NULL, 0, "Give a short usage message", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

void cli_refuse(const struct argp_state *state, const char *format, ...)
{
	char text[512];
	va_list words;

	va_start(words, format);
	vsnprintf(text, sizeof(text), format, words);
	va_end(words);

	message("%s; see: %s --help", text, state->name);
	exit(CLI_USAGE);
}

/*
 * The word that the parser stumbled over.  It has passed a word that is done
 * with, and stays at one of several short options until the last of them.
 */
static const char *culprit(const struct argp_state *state)
{
	const char *word = NULL;

	if (state->next > 1)
		word = state->argv[state->next - 1];
	if (word && strlen(word) > 1 && word[0] == '-')
		return word;
	if (state->next < state->argc)
		return state->argv[state->next];
	return word ? word : "?";
}

static void try_options(struct nearest *nearest,
			const struct argp_option *option)
{
	for (; option->name || option->key; option++) {
		if (option->name)
			nearest_try(nearest, option->name);
	}
}

static _Noreturn void refuse_option(const struct argp_state *state)
{
	const char *word = culprit(state);
	const char *name = word + strspn(word, "-");
	struct nearest nearest = nearest_to(name, strcspn(name, "="));
	char guess[NEAREST_SIZE];

	/* Of one letter there is nothing to guess. */
	if (strncmp(word, "--", 2) == 0) {
		if (state->root_argp->options)
			try_options(&nearest, state->root_argp->options);
		try_options(&nearest, options);
	}
	cli_refuse(state, "'%s' is no option here, or wants a value%s", word,
		   nearest_text(&nearest, "--", guess));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case '?':
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP,
			  state->name);
		exit(fflush(stdout) ? CLI_FAILED : 0);
	case KEY_USAGE:
		argp_help(state->root_argp, stdout, ARGP_HELP_USAGE,
			  state->name);
		exit(fflush(stdout) ? CLI_FAILED : 0);
	case ARGP_KEY_ERROR:
		refuse_option(state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp common = { .options = options, .parser = parse };

const struct argp_child cli_children[] = {
	{ &common, 0, NULL, -1 },
	{ NULL, 0, NULL, 0 },
};

void cli_parse(const struct argp *argp, int argc, char **argv,
	       unsigned int flags, void *input)
{
	if (argp_parse(argp, argc, argv, flags | ARGP_NO_HELP | ARGP_NO_ERRS,
		       NULL, input) == 0)
		return;
	/* An error of the words was told by parse(); this is lack of memory. */
	message("cannot read the command line: out of memory");
	exit(CLI_FAILED);
}
