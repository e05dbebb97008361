/* Trace lines that the program opened, by their codes. */
#ifndef CLIENTS_LIBPOET_USER_LINES_H
#define CLIENTS_LIBPOET_USER_LINES_H

#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/poet.h"

#pragma GCC visibility push(hidden)

struct trace_line *user_line_find(poet_line_t index); /* Returns NULL if there is none. */

#pragma GCC visibility pop
#endif
