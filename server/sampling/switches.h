/* The switches of one program's threads, as the kernel tells them (perf_event_open(2)): who went on a processor and off
 * it, and whether that was taken from it.
 *
 * Nothing runs in the program for it.  Where that is not permitted there is none of it: the kernel's setting
 * perf_event_paranoid, a seccomp filter, another user, or POET_PERF=off in the server's environment. */
#ifndef SERVER_SAMPLING_SWITCHES_H
#define SERVER_SAMPLING_SWITCHES_H

#include "wire/message.h"

#include <stdbool.h>
#include <sys/types.h>

struct switches;

/* Of a program, by its number here, and of all threads that its first one makes from now on.  NULL: *why, a constant or
 * what strerror says, says why not. */
struct switches *switches_new(pid_t pid, const char **why);
void switches_free(struct switches *switches); /* of NULL nothing */

/* A thread of its number in the system is what has this code: its own line's. */
void switches_thread(struct switches *switches, pid_t tid, uint32_t code);

/* Takes what came out of the kernel's hands, which hold some thousand; often. */
void switches_look(struct switches *switches);
/* Appends the body of a SWITCHES (wire/switched.h) with what came, or nothing.  A little is held back, so that threads
 * are known by then; all: nothing is. */
void switches_read(struct switches *switches, bool all, struct out *body);

/* Appends a body that says why there are none. */
void switches_refused(const char *why, struct out *body);

#endif
