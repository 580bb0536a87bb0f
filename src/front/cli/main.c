/* SPDX-License-Identifier: MIT */
/*
 * The program `berth`: finds the subcommand and hands over.
 */
#include "front/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/cli/message.h"
#include "front/cli/nearest.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "mount", cmd_mount },
	{ "umount", cmd_umount },
	{ "bench", cmd_bench },
	{ "help", cmd_help },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* The command line as far as it is the program's own. */
struct words {
	int command; /* its place in argv, 0 when there is none */
};

static const struct argp_option options[] = {
	{ "version", 'V', NULL, 0, "Print the version", -1 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct words *words = state->input;

	(void)arg;
	switch (key) {
	case 'V':
		printf("berth %s\n", BERTH_VERSION);
		exit(fflush(stdout) ? CLI_FAILED : 0);
	case ARGP_KEY_ARG:
		/* What follows is the subcommand's. */
		words->command = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		cli_refuse(state, "a command is missing");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "COMMAND [ARG...]",
	.doc = "The file layer of an operating system, as a library.\n"
	       "\n"
	       "  berth mount DIR        serve an in-memory file system at DIR\n"
	       "  berth umount DIR       end that\n"
	       "  berth bench WORKLOAD   measure berth beside the kernel\n"
	       "  berth help [COMMAND]   tell more about a command\n"
	       "\v"
	       "Exit status: 0; 1 when it failed; 2 when the command line is "
	       "wrong.",
	.children = cli_children,
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static int refuse_command(const char *name)
{
	struct nearest nearest = nearest_to(name, strlen(name));
	char guess[NEAREST_SIZE];

	for (size_t i = 0; i < NR_COMMANDS; i++)
		nearest_try(&nearest, commands[i].name);
	message("'%s' is no command%s; there are mount, umount, bench and "
		"help; see: berth --help",
		name, nearest_text(&nearest, "", guess));
	return CLI_USAGE;
}

static int run_command(int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);
	char name[32];

	if (!command && strcmp(argv[0], "exec") == 0) {
		message("'exec' is planned and not there yet; mount a "
			"directory instead: berth mount DIR");
		return CLI_USAGE;
	}
	if (!command)
		return refuse_command(argv[0]);
	snprintf(name, sizeof(name), "berth %s", command->name);
	argv[0] = name;
	return command->run(argc, argv);
}

int cmd_help(int argc, char **argv)
{
	char help[] = "--help";
	char berth[] = "berth";
	char *words[] = { berth, help, NULL };

	if (argc > 2) {
		message("help is given for one command at a time; see: "
			"berth --help");
		return CLI_USAGE;
	}
	if (argc == 2 && argv[1][0] != '-') {
		words[0] = argv[1];
		return run_command(2, words);
	}
	cli_parse(&argp, 2, words, 0, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct words words = { 0 };
	char berth[] = "berth";

	/* Not the path by which it was called: messages begin with it. */
	if (argc > 0)
		argv[0] = berth;
	cli_parse(&argp, argc, argv, ARGP_IN_ORDER, &words);
	return run_command(argc - words.command, argv + words.command);
}
