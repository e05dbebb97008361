/* Lines of the program's own, by their codes. */
#ifndef CLIENTS_LIBPOET_USER_LINES_H
#define CLIENTS_LIBPOET_USER_LINES_H

#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/poet.h"

#pragma GCC visibility push(hidden)

struct trace_line *user_line_find(poet_line_t index); /* NULL: there is none */

#pragma GCC visibility pop
#endif
