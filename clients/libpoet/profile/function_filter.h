/* Filter of functions: which are measured or only counted, by POET_PROFILE_INCLUDE,
 * POET_PROFILE_EXCLUDE, POET_PROFILE_COUNT_ONLY and the notes of units that were compiled with
 * poetcc -count or -ignore. */
#ifndef CLIENTS_LIBPOET_PROFILE_FUNCTION_FILTER_H
#define CLIENTS_LIBPOET_PROFILE_FUNCTION_FILTER_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A way of measuring the calls of a function. */
enum function_measurement {
    MEASUREMENT_DEFAULT,
    MEASUREMENT_FULL,
    MEASUREMENT_EXCLUDED, /* nor are its callees: its time is its caller's */
    MEASUREMENT_SKIPPED, /* but its callees are */
    MEASUREMENT_COUNTED /* but its callees are, and its calls are counted */
};

/* Reads the lists, once; reports what is wrong with them. */
void function_filter_begin(void);
/* Reads the functions of a loaded program or library from its file at `path`. */
struct dl_phdr_info;
void function_filter_add_module(const char *path, const struct dl_phdr_info *info, uintptr_t start,
                                uintptr_t end);

#pragma GCC visibility pop

#endif
