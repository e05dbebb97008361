/* Whether the program reads through C's stdio: the C library reads then, unseen. */
#ifndef CLIENTS_TRACE_CALLS_STREAMS_H
#define CLIENTS_TRACE_CALLS_STREAMS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool stdio_use_report_reads(void); /* as its file says which calls it makes */

#pragma GCC visibility pop
#endif
