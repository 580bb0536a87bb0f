/* SPDX-License-Identifier: MIT */
/*
 * What leaves the library: all that the public headers declare, and nothing
 * else.  The build includes this before the first line of each source file of
 * the library, and hides every name that is declared elsewhere.
 */
#ifndef VISIBLE_H
#define VISIBLE_H

#pragma GCC visibility push(default)
#include <berth/berth.h>
#pragma GCC visibility pop

#endif
