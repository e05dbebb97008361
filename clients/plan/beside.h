/* Two runs of a program, one beside the other: which events are equal, and in which columns both can be drawn.
 *
 * Lines are matched as a replay does it: threads by who made them, as the how-manieth of their maker's events; what they
 * use by who uses it first, among what is called the same; threads that nobody made by their names.  An event is equal to one of the other run if it is
 * the same act of the same thread, on the same line with the same number, and all that is before it is equal, too. */
#ifndef CLIENTS_PLAN_BESIDE_H
#define CLIENTS_PLAN_BESIDE_H

#include "wire/shown.h"

#include <stdbool.h>

struct beside;

struct beside *beside_new(void);
void beside_free(struct beside *beside);
/* An event of run 0 or 1, in the order of its log.  type: its name, which must outlive all this.  False: what came
 * before it on its line is missing, or it is not ordered; it is left out, with what follows on its line. */
bool beside_event(struct beside *beside, unsigned run, const struct shown_event *event,
                  const char *type);
/* What a thread is called; the name must outlive all this.  Of a thread that somebody made it does not count. */
void beside_name(struct beside *beside, unsigned run, uint32_t thread, const char *name);
/* What anything else is called, likewise: what is called differently, but for a number behind #, is never matched. */
void beside_call(struct beside *beside, unsigned run, uint32_t line, const char *label);
/* Once, behind all of these; what is below is good from then on. */
void beside_align(struct beside *beside);

/* The line of the other run that it is matched with; 0: none. */
uint32_t beside_line(const struct beside *beside, unsigned run, uint32_t line);
/* The column of an event, from 0 on: greater than those of all that are before it, one for what is one point, and the
 * same in both runs if it is equal.  -1: there is no such event. */
int32_t beside_column(const struct beside *beside, unsigned run, struct ref at);
bool beside_equal(const struct beside *beside, unsigned run, struct ref at);
uint64_t beside_equals(const struct beside *beside); /* how many events are */
/* The first event in the order of the log that is not equal to any of the other run, of a point the half on its thread's own
 * line; line 0: all are. */
struct ref beside_first(const struct beside *beside, unsigned run);
/* Is it not equal, but all that is before it? */
bool beside_begins(const struct beside *beside, unsigned run, struct ref at);
/* What the same thread did in the other run as the how-manieth of its events this one is; line 0: nothing. */
struct ref beside_instead(const struct beside *beside, unsigned run, struct ref at);

#endif
