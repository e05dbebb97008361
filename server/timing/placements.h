/* Placements: on which worker thread each task of a runtime was, from when to when.  A worker
 * thread (carrier) is a thread of the operating system that runs tasks of the program
 * (wire/task_placement.h).
 *
 * If records were lost or exceeded the limit, placements are missing, and are counted.  Times are
 * ns of the run.  Tasks are identified by their lines, worker threads by numbers from 1 in the
 * order of their first use. */
#ifndef SERVER_TIMING_PLACEMENTS_H
#define SERVER_TIMING_PLACEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_OPEN INT64_MAX

struct placement_interval {
    int64_t from_ns, to_ns; /* PLACEMENT_OPEN: its end has not been recorded */
    uint32_t on; /* worker thread */
    uint32_t left; /* 1 + the call context in which it left, within its thread; 0: unknown */
};

struct placement_carrier {
    uint32_t session, number; /* the program's session, and its number in that program */
    uint32_t tid; /* 0 unknown */
    uint32_t task; /* the code of its current task, 0 none */
    int64_t until_ns; /* time of its last record */
    uint64_t crossed; /* number of tasks that began on it before the previous one had ended, */
    /* the first case: when it began, and when it should have begun at the earliest */
    int64_t crossed_is, crossed_should;
    uint32_t crossed_line; /* the task that began then, 0 unknown */
    char *name, *cluster; /* "": the program names none */
};

/* A switch of a worker thread from one task to another.  Switches of one worker thread must be
 * added in their order. */
struct placement_switch {
    uint32_t session, on;
    uint32_t ends, begins; /* codes of tasks, 0: none */
    uint32_t ends_line, begins_line; /* 0: not known yet */
    int64_t since_ns, at_ns; /* since_ns: begin of the task that it ends */
    uint64_t lost; /* switches lost before it */
    uint32_t left; /* of the task that it ends: as in struct placement_interval */
};

struct placements;

struct placements *placements_new(void);
void placements_free(struct placements *all); /* NULL: does nothing */

/* ---- filling ---- */

/* Returns a worker thread, made on first use; 0 if there are too many. */
uint32_t placements_carrier(struct placements *all, uint32_t session, uint32_t number);
/* Copies the names. */
void placements_name_carrier(struct placements *all, uint32_t on, uint32_t tid, const char *name,
                             const char *cluster);
void placements_switched(struct placements *all, struct placement_switch record);
/* Sets the line of a task that is declared later than its placements. */
void placements_set_task_line(struct placements *all, uint32_t session, uint32_t code,
                              uint32_t line);

/* ---- reading: NULL has no placements ---- */

/* Returns a task's placements, sorted by their begin. */
const struct placement_interval *placements_for_task(const struct placements *all, uint32_t task,
                                                     size_t *count);
/* Returns NULL if there is none. */
const struct placement_carrier *placements_carrier_at(const struct placements *all, uint32_t on);
/* Returns the index of the first placement, from `from` on, that begins before the previous one
 * ends; the count if there is none. */
size_t placements_overlap(const struct placement_interval *items, size_t count, size_t from);
uint32_t placements_carriers(const struct placements *all);
uint64_t placements_lost(const struct placements *all); /* returns the number of lost switches */
/* Returns the maximum number of placements, of all tasks, if some were dropped because of it; else
 * 0. */
uint64_t placements_limit(const struct placements *all);

/* Calls `visit` for each part of a range in which the task was on a worker thread, and (with on 0)
 * on none, in ascending order. left: where the task was when it left its worker thread before, as
 * in struct placement_interval. *near: an index, initially 0. */
void placements_visit(const struct placement_interval *items, size_t count, size_t *near,
                      int64_t from_ns, int64_t to_ns,
                      void (*visit)(void *context, uint32_t on, uint32_t left, int64_t from_ns,
                                    int64_t to_ns),
                      void *context);

#endif
