/* Two runs of a program, one beside the other: which events are equal, and in which columns both
 * can be drawn.
 *
 * Lines are matched as a replay does it: threads by who made them, as the how-manieth of their
 * maker's events; what they use by who uses it first, among what is called the same; threads that
 * nobody made by their names.  An event is equal to one of the other run if it is the same act of
 * the same thread, on the same line with the same number, and all that is before it is equal,
 * too. */
#ifndef CLIENTS_SCHEDULE_TRACE_ALIGNMENT_H
#define CLIENTS_SCHEDULE_TRACE_ALIGNMENT_H

#include "wire/trace_view.h"

#include <stdbool.h>

struct trace_alignment;

struct trace_alignment *alignment_new(void);
void alignment_free(struct trace_alignment *beside);
/* An event of run 0 or 1, in the order of its log.  type: its name, which must outlive all this.
 * False: what came before it on its line is missing, or it is not ordered; it is left out, with
 * what follows on its line. */
bool alignment_event(struct trace_alignment *beside, unsigned run, const struct event_info *event,
                     const char *type);
/* What a thread is called; the name must outlive all this.  Of a thread that somebody made it does
 * not count. */
void alignment_name(struct trace_alignment *beside, unsigned run, uint32_t thread,
                    const char *name);
/* What anything else is called, likewise: what is called differently, but for a number behind #, is
 * never matched. */
void alignment_rename_line(struct trace_alignment *beside, unsigned run, uint32_t line,
                           const char *label);
/* Once, behind all of these; what is below is good from then on. */
void align_traces(struct trace_alignment *beside);

/* The line of the other run that it is matched with; 0: none. */
uint32_t alignment_line(const struct trace_alignment *beside, unsigned run, uint32_t line);
/* The column of an event, from 0 on: greater than those of all that are before it, one for what is
 * one point, and the same in both runs if it is equal.  -1: there is no such event. */
int32_t alignment_column(const struct trace_alignment *beside, unsigned run, struct event_id at);
bool alignment_equal(const struct trace_alignment *beside, unsigned run, struct event_id at);
uint64_t alignment_equal_count(const struct trace_alignment *beside); /* how many events are */
/* The first event in the order of the log that is not equal to any of the other run, of a point the
 * half on its thread's own line; line 0: all are. */
struct event_id alignment_first_divergence(const struct trace_alignment *beside, unsigned run);
/* Is it not equal, but all that is before it? */
bool alignment_may_diverge_at(const struct trace_alignment *beside, unsigned run,
                              struct event_id at);
/* What the same thread did in the other run as the how-manieth of its events this one is; line 0:
 * nothing. */
struct event_id divergent_event(const struct trace_alignment *beside, unsigned run,
                                struct event_id at);

#endif
