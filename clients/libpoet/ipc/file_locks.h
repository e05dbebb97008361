/* File locks: effects of other calls on them. */
#ifndef CLIENTS_LIBPOET_IPC_FILE_LOCKS_H
#define CLIENTS_LIBPOET_IPC_FILE_LOCKS_H

#include <sys/stat.h>

#pragma GCC visibility push(hidden)

void file_locks_closing(int fd, const struct stat *st, const void *site);
void file_locks_duplicated(int from, int to);
void file_locks_end(const void *site); /* Called at the end of the process. */
void file_locks_forked(void);

#pragma GCC visibility pop
#endif
