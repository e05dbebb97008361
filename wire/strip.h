/* A run from far away, told by states: which share of each pixel of a row its line spent how.
 *
 * What the order alone tells is told here: a thread runs, waits, is in a line of something else (a monitor),
 * or has ended; in other lines somebody is, or only those who wait.  What is left of a pixel is nothing: the line is
 * not there. */
#ifndef WIRE_STRIP_H
#define WIRE_STRIP_H

#include "wire/message.h"

/* clang-format off */
#define STRIP_STATES(S)                                                           \
    S(RUNS, "runs")          /* a thread, on its own line */                      \
    S(INSIDE, "is in")       /* a thread, in another line; or somebody is in it */ \
    S(WAITS, "waits")        /* a thread; or only blocked threads are in it */    \
    S(ENDED, "has ended")    /* a thread that nobody has joined */
/* clang-format on */

enum strip_state {
#define S(NAME, text) STRIP_##NAME,
    STRIP_STATES(S)
#undef S
        STRIP_CLASSES
};

/* What was measured tells more of threads, and of them alone. */
enum strip_living {
    STRIP_LIVING_START, /* made, and not begun */
    STRIP_LIVING_READY, /* let go, and not gone on; or it had no processor */
    STRIP_LIVING_RUNNING,
    STRIP_LIVING_MEETING, /* blocked: the other could have come earlier */
    STRIP_LIVING_EXCLUSION, /* blocked: somebody had what it wants */
    STRIP_LIVING_TIMER, /* blocked: only the clock let it go on */
    STRIP_LIVING_UNKNOWN, /* blocked, and nobody knows by whom */
    STRIP_LIVING_TERMINATE, /* ended, and not joined */
    STRIP_LIVING_SYSTEM, /* not blocked, and it had no processor and wanted none */
    STRIP_LIVINGS
};

#define STRIP_MOST 9u /* classes of a strip of either kind */

struct strip_cell {
    uint8_t share[STRIP_MOST]; /* of 255; what is left is nothing */
    uint32_t about; /* the line that it waited for, or was in, longest; 0 none */
};

struct shown_strip {
    bool by_time;
    uint8_t classes; /* STRIP_CLASSES, or STRIP_LIVINGS */
    int64_t from, to; /* positions, or ns */
    uint64_t known, count; /* so far the run is looked at; less than its length: more comes */
    uint32_t pixels, row_count;
    uint32_t *rows; /* lines; the first, of a cluster */
    struct strip_cell *cells; /* by row, then pixel */
};

void put_strip(struct out *out, const struct shown_strip *strip);
void get_strip(struct in *in, struct shown_strip *strip);
void shown_strip_free(struct shown_strip *strip);

#endif
