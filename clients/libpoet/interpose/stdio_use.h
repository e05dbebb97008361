/* Detects whether the program reads by C's stdio, whose reads within the C library are not
 * traced. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_STDIO_USE_H
#define CLIENTS_LIBPOET_INTERPOSE_STDIO_USE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool stdio_use_report_reads(void); /* Reports it if the program's file imports such calls. */

#pragma GCC visibility pop
#endif
