/* Alignment of two runs of a program: which events are equal, and in which columns both can be
 * drawn.
 *
 * Lines are matched as in a replay: threads by their creator, and the index of the creating event;
 * objects by the first thread that uses them, among those of the same name; threads without a
 * creator by their names. An event is equal to one of the other run if it has the same index in the
 * same thread, is on the same line with the same number, and all its predecessors are equal,
 * too.
 *
 * Not thread-safe. */
#ifndef CLIENTS_SCHEDULE_TRACE_ALIGNMENT_H
#define CLIENTS_SCHEDULE_TRACE_ALIGNMENT_H

#include "wire/trace_view.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_alignment;

struct trace_alignment *alignment_new(void);
void alignment_free(struct trace_alignment *beside);
/* Adds an event of run 0 or 1, in the order of its log. type: its name, which must outlive the
 * alignment. Returns false if a predecessor on its line is missing, or it is not ordered; it is
 * omitted, and so are its successors on its line. */
bool alignment_event(struct trace_alignment *beside, unsigned run, const struct event_info *event,
                     const char *type);
/* Sets the name of a thread, which must outlive the alignment. Ignored for a thread with a known
 * creator. */
void alignment_name(struct trace_alignment *beside, unsigned run, uint32_t thread,
                    const char *name);
/* Sets the name of any other line, which must outlive the alignment: lines with different names,
 * except for a number after #, are never matched. */
void alignment_rename_line(struct trace_alignment *beside, unsigned run, uint32_t line,
                           const char *label);
/* Call once, after all of these; the functions below are valid from then on. */
void align_traces(struct trace_alignment *beside);

/* Returns the matching line of the other run; 0: none. */
uint32_t alignment_line(const struct trace_alignment *beside, unsigned run, uint32_t line);
/* Returns the column of an event, from 0: greater than those of all its predecessors, equal for
 * simultaneous events, and equal in both runs if the events are equal. -1: there is no such
 * event. */
int32_t alignment_column(const struct trace_alignment *beside, unsigned run, struct event_id at);
bool alignment_equal(const struct trace_alignment *beside, unsigned run, struct event_id at);
uint64_t alignment_equal_count(const struct trace_alignment *beside); /* number of equal events */
/* Returns the first event in the order of the log that has no equal in the other run; of a
 * synchronization point the half on its thread's own line; line 0: all are equal. */
struct event_id alignment_first_divergence(const struct trace_alignment *beside, unsigned run);
/* Returns whether it has no equal, but all its predecessors have. */
bool alignment_may_diverge_at(const struct trace_alignment *beside, unsigned run,
                              struct event_id at);
/* Returns the event with the same index in the same thread of the other run; line 0: none. */
struct event_id divergent_event(const struct trace_alignment *beside, unsigned run,
                                struct event_id at);

#endif
