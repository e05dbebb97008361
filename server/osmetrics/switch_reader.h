/* Reads the context switches of one program's threads from the kernel (perf_event_open(2)): which
 * thread was switched in or out on which CPU, and whether it was preempted.
 *
 * Nothing runs in the program for it.  It is unavailable if the kernel's setting
 * perf_event_paranoid, a seccomp filter, a different user of the program, or POET_PERF=off in
 * the server's environment forbids it. */
#ifndef SERVER_OSMETRICS_SWITCH_READER_H
#define SERVER_OSMETRICS_SWITCH_READER_H

#include "wire/message.h"

#include <stdbool.h>
#include <sys/types.h>

struct switch_reader;

/* Opens an event of the calling thread that never counts.  While one event of a thread is open
 * anywhere, switch_reader_new() takes microseconds; without one the kernel first changes its own
 * code, for which it waits for all CPUs, 5 to 8 ms.  Returns a descriptor, which the caller closes,
 * or -1: switches cannot be recorded. */
int switch_reader_keep_ready(void);

/* Opens a reader for a process, by its PID in the server's name space, and all threads that its
 * first one creates from now on.  Returns NULL with the reason in *why, a constant or the text
 * of strerror. */
struct switch_reader *switch_reader_new(pid_t pid, const char **why);
void switch_reader_free(struct switch_reader *switches); /* of NULL nothing */

/* A thread of its number in the system is what has this code: its own line's. */
void switch_reader_thread(struct switch_reader *switches, pid_t tid, uint32_t code);

/* Takes what came out of the kernel's hands, which hold some thousand; often. */
void switch_reader_poll(struct switch_reader *switches);
/* Appends the body of a SWITCHES (wire/context_switches.h) with what came, or nothing.  Records
 * that are younger than 100 ms are held back, unless `all`; records of threads that are not
 * known yet are kept, and appended once they are. */
void switch_reader_read(struct switch_reader *switches, bool all, struct encoder *body);

/* Appends a body that says why there are none. */
void switch_reader_refused(const char *why, struct encoder *body);

#endif
