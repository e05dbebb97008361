/* Who plays which part of a script, and which line of it is which of this process: inside part.c, which asks what comes
 * next, and play.c, which compares what is done. */
#ifndef CLIENTS_TRACE_REPLAY_CAST_H
#define CLIENTS_TRACE_REPLAY_CAST_H

#include "clients/trace/replay/part.h"

#pragma GCC visibility push(hidden)

/* A thread's, found when it is first asked for; NULL: it has none, or the script is left. */
struct part *cast_part(struct thread *thread);
/* The k-th event that is not met; NULL: there is none. */
const struct script_event *cast_ahead(const struct part *part, unsigned k);
/* Is an event of that type of ours, or of the program's own? */
bool cast_is(const struct script_event *event, uint16_t type);
/* Its type as one of ours; TYPE_NONE: it is of the program's own, or NULL. */
enum trace_type cast_type(const struct script_event *event);
/* A line of this run is that one of the script from here on; false: it is another one. */
bool cast_takes(struct line *line, uint32_t as);
/* The code of a line of the script in this process, and the other way; 0: it has none here, as far as is known. */
uint32_t cast_code(uint32_t as);
uint32_t cast_line(uint32_t code);
/* The thread is about to do that: to make a process, or another program of this one, which will say that it comes from
 * the message of that number (0: it will not). */
void cast_birth(const struct script_event *event, uint64_t message);
/* The script is left: a thread did something else, at that line. */
void cast_differ(const struct part *part, uint16_t type, uint32_t line);

#pragma GCC visibility pop
#endif
