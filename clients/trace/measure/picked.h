/* Which functions are measured, where the user names some (POET_CALLS_ONLY, POET_CALLS_IGNORE). */
#ifndef CLIENTS_TRACE_MEASURE_PICKED_H
#define CLIENTS_TRACE_MEASURE_PICKED_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Reads the lists, once; says what is wrong with them. */
void picked_begin(void);
/* The functions of a program or library that was found in memory, whose file is at `path`. */
void picked_module(const char *path, uintptr_t bias, uintptr_t start, uintptr_t end);

#pragma GCC visibility pop
#endif
