/* Which functions are measured, or counted only, where the user names some: POET_PROFILE_INCLUDE,
 * POET_PROFILE_EXCLUDE and POET_PROFILE_COUNT_ONLY, and what units were compiled with (poetcc -count
 * and -ignore, which leave notes in them). */
#ifndef CLIENTS_LIBPOET_PROFILE_FUNCTION_FILTER_H
#define CLIENTS_LIBPOET_PROFILE_FUNCTION_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Reads the lists, once; says what is wrong with them. */
void function_filter_begin(void);
/* The functions of a program or library that was found in memory, whose file is at `path`. */
struct dl_phdr_info;
void function_filter_add_module(const char *path, const struct dl_phdr_info *info, uintptr_t start,
                                uintptr_t end);

#pragma GCC visibility pop
#endif
