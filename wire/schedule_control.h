/* Schedule control: steers a run towards an interleaving that did not occur by itself, by holding
 * threads.
 *
 * One file, for this host only, which every program of the run maps: hold points, each a type of
 * event at a call site. A thread that arrives at a hold point may be held there until other threads
 * are in position, but never longer than the head says. Time in which those threads could not run,
 * since no CPU was free, does not count, up to STEER_STARVED times as much. `poet confirm` creates
 * it, libpoet reads it (clients/libpoet/replay/held_points.h). */
#ifndef WIRE_SCHEDULE_CONTROL_H
#define WIRE_SCHEDULE_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#define SCHEDULE_CONTROL_MAGIC 0x7265657473707070u
#define SCHEDULE_CONTROL_VERSION 1u
#define SCHEDULE_CONTROL_POINTS 32u
#define SCHEDULE_CONTROL_TYPE_BYTES 64u
#define SCHEDULE_CONTROL_FILE_BYTES 256u

enum hold_until {
    HOLD_UNTIL_NOT_HELD, /* no thread is held: arrivals and departures are counted */
    HOLD_UNTIL_CYCLE, /* until the held threads hold what the next one requests, in a cycle */
    HOLD_UNTIL_DONE, /* until the events of `others` were done `count` times */
    HOLD_UNTIL_DONE_SINCE_HELD, /* the same, counted from when it is held */
    HOLD_UNTIL_WAITING, /* until `count` threads did the events of `others`, and nothing since */
    HOLD_AFTERWARDS, /* like HOLD_UNTIL_DONE, but after the thread's own event */
    /* the same after it acquired a lock, and signal handlers may run meanwhile */
    HOLD_INTERRUPTIBLE,
    /* until `count` threads came there; only those that did the events of `others` before */
    HOLD_UNTIL_MET
};

struct hold_point {
    char type[SCHEDULE_CONTROL_TYPE_BYTES];
    char file[SCHEDULE_CONTROL_FILE_BYTES]; /* the last component of the path */
    uint64_t address; /* in the file, as linked */
    uint32_t thread; /* its line in the schedule that is replayed first; 0: any thread */
    uint32_t until; /* an enum hold_until */
    uint32_t others; /* bits of points */
    uint32_t count;
    uint32_t at_times; /* 1: not in each attempt */
    uint32_t skip; /* number of arrivals that are not held */
    uint32_t most; /* number of arrivals held after those; 0: all */
    /* written by the programs */
    _Atomic uint32_t came, done, inside;
    _Atomic uint32_t freed; /* held, and unblocked because the condition was met */
    _Atomic uint32_t late; /* held until the timeout */
};

struct schedule_control {
    uint64_t magic;
    uint32_t version;
    uint32_t point_count;
    uint32_t hold_ms; /* the maximum */
    uint32_t late_most; /* maximum timeouts of a point: then no thread is held there any more */
    struct hold_point points[SCHEDULE_CONTROL_POINTS];
};

#define SCHEDULE_CONTROL_HOLD_MS 1000u /* larger values are rejected */
#define STEER_STARVED 10u

#endif
