/* SPDX-License-Identifier: MIT */
/*
 * Runs all pairs, or with the word "quick" only those of the first two lines,
 * and prints what `report` makes readable.
 */
#include <string.h>

#include "pairs.h"

int main(int argc, char **argv)
{
	bool quick = argc > 1 && !strcmp(argv[1], "quick");

	run_pairs(tables_domain(), quick);
	run_pairs(files_domain(), quick);
	return 0;
}
