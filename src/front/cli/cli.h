/* SPDX-License-Identifier: MIT */
/*
 * The program `berth`: its subcommands, and how they talk to the user.
 *
 * Exit status: 0, CLI_FAILED, or CLI_USAGE for a command line that is wrong.
 * Every complaint is one line that begins with "berth: ", names what is wrong
 * and says what would be right.
 */
#ifndef FRONT_CLI_H
#define FRONT_CLI_H

#include <argp.h>

#define CLI_FAILED 1
#define CLI_USAGE  2

/* Subcommands.  argv[0] is the whole name, such as "berth mount".  They return
 * the exit status. */
int cmd_mount(int argc, char **argv);
int cmd_umount(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_help(int argc, char **argv);

/**
 * cli_parse() - argp_parse(), but an error is one line and ends the program.
 * @argp: the options; cli_children has to be among its children.
 * @flags: ARGP_IN_ORDER or 0.
 * @input: handed to the parser.
 *
 * `--help` and `--usage` are answered.
 */
void cli_parse(const struct argp *argp, int argc, char **argv,
	       unsigned int flags, void *input);

extern const struct argp_child cli_children[];

/* Refuse the command line, with one line, and end the program. */
_Noreturn void cli_refuse(const struct argp_state *state, const char *format,
			  ...) __attribute__((format(printf, 2, 3)));

#endif
