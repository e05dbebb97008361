/* File locks: what other calls mean for them. */
#ifndef CLIENTS_TRACE_PROCESS_LOCKS_H
#define CLIENTS_TRACE_PROCESS_LOCKS_H

#include <sys/stat.h>

#pragma GCC visibility push(hidden)

void locks_closing(int fd, const struct stat *st, const void *site);
void locks_duplicated(int from, int to);
void locks_end(const void *site); /* of the process */
void locks_forked(void);

#pragma GCC visibility pop
#endif
