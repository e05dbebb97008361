/* The texts of /proc (proc(5)) that say what a process or a thread uses.
 *
 * Each reads the text of one file into figures, and returns how many there are: fewer where the
 * text is cut or is of another form.  Nothing is believed of a text but that it has `size`
 * bytes. */
#ifndef SERVER_OSMETRICS_PROC_FILES_H
#define SERVER_OSMETRICS_PROC_FILES_H

#include "wire/os_usage.h"

#include <stddef.h>

struct proc_units {
    uint64_t tick_ns; /* of a clock tick, sysconf(_SC_CLK_TCK) */
    uint64_t page_bytes;
};

/* /proc/PID/stat */
size_t proc_stat(const char *text, size_t size, struct proc_units units, struct usage_figure *to,
                 size_t room);
/* /proc/PID/status: the peak of its memory; *filtered: its system calls are (Seccomp is not 0, or
 * is not said). */
size_t proc_status(const char *text, size_t size, bool *filtered, struct usage_figure *to,
                   size_t room);
/* Returns whether a /proc/PID/status shows only one process id: the process is in the PID name
 * space of this /proc, not in one within that. */
bool proc_same_numbers(const char *text, size_t size);
/* /proc/PID/io */
size_t proc_io(const char *text, size_t size, struct usage_figure *to, size_t room);
/* /proc/PID/task/TID/schedstat */
size_t proc_schedstat(const char *text, size_t size, struct usage_figure *to, size_t room);

#endif
