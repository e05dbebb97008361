/* Files of /proc, read whole. */
#ifndef CLIENTS_SNAPSHOT_PROC_FILE_H
#define CLIENTS_SNAPSHOT_PROC_FILE_H

#include "clients/snapshot/proc_text.h"

/* Reads /proc/NAME, whose name is formatted, into at most `room` bytes with a NUL. Returns the
 * number of bytes without it; 0 with errno if it cannot be read. */
size_t proc_file_read(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads the link /proc/NAME likewise. */
size_t proc_file_link(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Calls a function with each number that is the name of an entry of /proc/NAME. Returns false with
 * errno if it cannot be read. */
bool proc_file_each(const char *name, void (*visit)(void *user, uint32_t number), void *user);
/* Reads /proc/PID/status; all zero if there is no such process. */
struct proc_status proc_file_status(uint32_t pid);

#endif
