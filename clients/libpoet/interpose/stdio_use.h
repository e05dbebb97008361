/* Whether the program reads through C's stdio: the C library reads then, unseen. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_STDIO_USE_H
#define CLIENTS_LIBPOET_INTERPOSE_STDIO_USE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool stdio_use_report_reads(void); /* as its file says which calls it makes */

#pragma GCC visibility pop
#endif
