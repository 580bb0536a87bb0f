/* SPDX-License-Identifier: MIT */
/* The words after -o of berth mount. */
#ifndef FRONT_MOUNT_OPTIONS_H
#define FRONT_MOUNT_OPTIONS_H

#include <argp.h>

#include "front/fuse/server.h"

/* What they are without any: as of the kernel's tmpfs. */
void mount_options_default(struct server_options *options);

/* Read the words of one -o; a wrong one ends the program. */
void mount_options_parse(struct server_options *options, const char *words,
			 const struct argp_state *state);

#endif
