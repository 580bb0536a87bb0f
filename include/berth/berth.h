/* SPDX-License-Identifier: MIT */
/* All of berth.  Each header is usable alone. */
#ifndef BERTH_BERTH_H
#define BERTH_BERTH_H

#include <berth/files.h>
#include <berth/kref.h>
#include <berth/vfs.h>

#endif
