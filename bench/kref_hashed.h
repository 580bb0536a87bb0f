/* SPDX-License-Identifier: MIT */
/*
 * Reference counts by hashed locks, whatever the library has: the calls of
 * <berth/kref.h> under other names, given them by the build.
 */
#ifndef BENCH_KREF_HASHED_H
#define BENCH_KREF_HASHED_H

#include <berth/kref.h>

void hashed_kref_init(struct berth_kref *kref);
void hashed_kref_get(struct berth_kref *kref);
bool hashed_kref_put_last(struct berth_kref *kref);

#endif
