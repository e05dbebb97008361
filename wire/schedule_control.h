/* Steering: a run that is led towards an order, for a program that is to do what it did not do by
 * itself.
 *
 * One file, of this machine only, that every program of the run maps: points, each a type of event
 * at a place of the code.  A thread that comes to a point may be held there, as long as it takes
 * for others to come where they are to be, but never longer than the head says.  What those cannot
 * use, as others have their processor, does not count, up to STEER_STARVED times as much.  `poet
 * confirm` makes it, libpoet reads it (clients/libpoet/replay/held_points.h). */
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
    HOLD_UNTIL_NOT_HELD, /* nobody is held: what comes and goes is counted */
    HOLD_UNTIL_CYCLE, /* until those that are held hold what the next one asks for, in a circle */
    HOLD_UNTIL_DONE, /* until what others point at was done so often */
    HOLD_UNTIL_DONE_SINCE_HELD, /* the same, counted from when it is held */
    HOLD_UNTIL_WAITING /* until so many threads did what others point at, and nothing since */
};

struct hold_point {
    char type[SCHEDULE_CONTROL_TYPE_BYTES];
    char file[SCHEDULE_CONTROL_FILE_BYTES]; /* the last part of the path */
    uint64_t address; /* in the file, as it is linked */
    uint32_t thread; /* its line in the script that is repeated before; 0: any thread */
    uint32_t until; /* an enum hold_until */
    uint32_t others; /* bits of points */
    uint32_t count;
    uint32_t at_times; /* 1: not in each try */
    uint32_t skip; /* so many that come are not held, */
    uint32_t most; /* and so many after them are; 0: all */
    /* the programs' */
    _Atomic uint32_t came, done, inside;
    _Atomic uint32_t freed; /* held, and let go because it was as it should be */
    _Atomic uint32_t late; /* held in vain */
};

struct schedule_control {
    uint64_t magic;
    uint32_t version;
    uint32_t point_count;
    uint32_t hold_ms; /* the longest */
    uint32_t late_most; /* of a point: then nobody is held there any more */
    struct hold_point points[SCHEDULE_CONTROL_POINTS];
};

#define SCHEDULE_CONTROL_HOLD_MS 1000u /* more is not believed */
#define STEER_STARVED 10u

#endif
