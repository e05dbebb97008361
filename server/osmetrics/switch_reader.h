/* The switches of one program's threads, as the kernel tells them (perf_event_open(2)): who went on
 * a processor and off it, and whether that was taken from it.
 *
 * Nothing runs in the program for it.  Where that is not permitted there is none of it: the
 * kernel's setting perf_event_paranoid, a seccomp filter, another user, or POET_PERF=off in the
 * server's environment. */
#ifndef SERVER_OSMETRICS_SWITCH_READER_H
#define SERVER_OSMETRICS_SWITCH_READER_H

#include "wire/message.h"

#include <stdbool.h>
#include <sys/types.h>

struct switch_reader;

/* Of a program, by its number here, and of all threads that its first one makes from now on.  NULL:
 * *why, a constant or what strerror says, says why not. */
struct switch_reader *switch_reader_new(pid_t pid, const char **why);
void switch_reader_free(struct switch_reader *switches); /* of NULL nothing */

/* A thread of its number in the system is what has this code: its own line's. */
void switch_reader_thread(struct switch_reader *switches, pid_t tid, uint32_t code);

/* Takes what came out of the kernel's hands, which hold some thousand; often. */
void switch_reader_poll(struct switch_reader *switches);
/* Appends the body of a SWITCHES (wire/context_switches.h) with what came, or nothing.  A little is
 * held back, so that threads are known by then; all: nothing is. */
void switch_reader_read(struct switch_reader *switches, bool all, struct encoder *body);

/* Appends a body that says why there are none. */
void switch_reader_refused(const char *why, struct encoder *body);

#endif
