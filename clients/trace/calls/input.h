/* Input: what calls of the program bring from outside (wire/input.h). */
#ifndef CLIENTS_TRACE_CALLS_INPUT_H
#define CLIENTS_TRACE_CALLS_INPUT_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Before signals come: finds what we stand before. */
void input_find(void);
/* Reads POET_INPUT, and POET_REPLAY_INPUT.  first: of the run, its pipes are from outside. */
void input_begin(bool first);
void input_handler(int enters); /* the calling thread is in a signal handler, or leaves it (-1) */

#pragma GCC visibility pop
#endif
