/* Lines of the program's own, by their codes. */
#ifndef CLIENTS_TRACE_OWN_H
#define CLIENTS_TRACE_OWN_H

#include "clients/trace/core/line.h"
#include "clients/trace/poet.h"

#pragma GCC visibility push(hidden)

struct trace_line *user_line_find(poet_line_t index); /* NULL: there is none */

#pragma GCC visibility pop
#endif
