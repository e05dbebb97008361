/* Counters of the processor and the kernel for one program and each of its threads
 * (perf_event_open(2)): cycles, instructions, cache and branch misses, CPU time, page faults,
 * context switches, migrations.
 *
 * Nothing runs in the program for them. The program's counters include all threads that are created
 * after the reader, also those that have ended. A thread's own begin when the reader learns of it.
 * Counters that the machine, its virtualization or a permission (perf_event_paranoid) excludes are
 * reported as missing, with the reason. If the processor has too few counters, they take turns, and
 * their values are scaled. */
#ifndef SERVER_OSMETRICS_COUNTER_READER_H
#define SERVER_OSMETRICS_COUNTER_READER_H

#include "wire/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct counter_reader;

/* Begins to count for a process, by its PID in the server's name space. */
struct counter_reader *counter_reader_new(pid_t pid);
void counter_reader_free(struct counter_reader *counters); /* of NULL nothing */
/* Begins to count for a thread with that code of its own line; known ones are ignored. */
void counter_reader_thread(struct counter_reader *counters, pid_t tid, uint32_t code);

/* Appends the body of a USAGE (wire/program_messages.h) with what has changed, or nothing. It
 * counts less often the longer it has counted, except where `all` is set: then values are final. */
void counter_reader_read(struct counter_reader *counters, uint64_t now_ns, bool all,
                         struct encoder *body);

#endif
