/* Stays: which carrier each task of a runtime was on, from when to when; a carrier is a thread of
 * the system that runs tasks of the program's own (wire/task_placement.h).
 *
 * Where something of it was lost, or found no room, stays are missing, and are counted.  Times are
 * ns of the run, tasks are named by their lines, carriers by numbers from 1 in the order in which
 * they were met. */
#ifndef SERVER_TIMING_PLACEMENTS_H
#define SERVER_TIMING_PLACEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_OPEN INT64_MAX

struct task_stay {
    int64_t from_ns, to_ns; /* PLACEMENT_OPEN: it had not ended when it was told */
    uint32_t on; /* carrier */
};

struct placement_carrier {
    uint32_t session, number; /* of whose program the how manieth */
    uint32_t tid; /* 0 unknown */
    uint32_t task; /* the code of the one that is on it, 0 none */
    int64_t until_ns; /* when it was told of last */
    uint64_t crossed; /* how often something on it began before what was there had ended, */
    int64_t crossed_is, crossed_should; /* the first time: when, and when not before */
    uint32_t crossed_line; /* the task that began, 0 unknown */
    char *name, *cluster; /* "": the program calls it nothing */
};

/* One carrier goes from one task to another; told in the order of its own switches. */
struct placement_switch {
    uint32_t session, on;
    uint32_t ends, begins; /* codes of tasks, 0: none */
    uint32_t ends_line, begins_line; /* 0: not known yet */
    int64_t since_ns, at_ns; /* since when there was what it ends */
    uint64_t lost; /* switches before it */
};

struct placements;

struct placements *placements_new(void);
void placements_free(struct placements *stays); /* NULL: nothing */

/* ---- filling ---- */

/* Made on first use; 0: there are too many. */
uint32_t placements_carrier(struct placements *stays, uint32_t session, uint32_t number);
void placements_name_carrier(struct placements *stays, uint32_t on, uint32_t tid, const char *name,
                             const char *cluster); /* copies */
void placements_switched(struct placements *stays, struct placement_switch told);
/* A task's line, where it is announced later than its stays. */
void placements_set_task_line(struct placements *stays, uint32_t session, uint32_t code,
                              uint32_t line);

/* ---- looking: of stays NULL there is nothing ---- */

/* A task's stays by when they begin. */
const struct task_stay *placements_for_task(const struct placements *stays, uint32_t task,
                                            size_t *count);
const struct placement_carrier *placements_carrier_at(const struct placements *stays,
                                                      uint32_t on); /* NULL: none */
/* Index of the first stay, from one on, that begins before the one before it ends; the count, if
 * none does. */
size_t placements_overlap(const struct task_stay *stays, size_t count, size_t from);
uint32_t placements_carriers(const struct placements *stays);
uint64_t placements_lost(const struct placements *stays); /* switches that are not there */
uint64_t
placements_limit(const struct placements
                     *stays); /* all that are kept, of all tasks, where that is why; else 0 */

/* Calls visit for what of a time the task was on a carrier, and (on 0) on none, one after the
 * other; *near: an index, 0 at first. */
void placements_visit(const struct task_stay *stays, size_t count, size_t *near, int64_t from_ns,
                      int64_t to_ns,
                      void (*visit)(void *context, uint32_t on, int64_t from_ns, int64_t to_ns),
                      void *context);

#endif
