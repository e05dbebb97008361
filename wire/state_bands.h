/* A run from far away, told by states: which share of each pixel of a row its line spent how.
 *
 * What the order alone tells is told here: a thread runs, waits, is in a line of something else (a
 * monitor), or has ended; in other lines somebody is, or only those who wait.  What is left of a
 * pixel is nothing: the line is not there. */
#ifndef WIRE_STATE_BANDS_H
#define WIRE_STATE_BANDS_H

#include "wire/message.h"

/* clang-format off */
#define BAND_STATES(S)                                                           \
    S(RUNS, "runs")          /* a thread, on its own line */                      \
    S(INSIDE, "is in")       /* a thread, in another line; or somebody is in it */ \
    S(WAITS, "waits")        /* a thread; or only blocked threads are in it */    \
    S(ENDED, "has ended")    /* a thread that nobody has joined */
/* clang-format on */

enum band_state {
#define S(NAME, text) BAND_##NAME,
    BAND_STATES(S)
#undef S
        BAND_CLASSES
};

/* What was measured tells more of threads, and of them alone. */
enum band_thread_state {
    BAND_LIVING_START, /* made, and not begun */
    BAND_LIVING_READY, /* let go, and not gone on; or it had no processor */
    BAND_LIVING_RUNNING,
    BAND_LIVING_MEETING, /* blocked: the other could have come earlier */
    BAND_LIVING_EXCLUSION, /* blocked: somebody had what it wants */
    BAND_LIVING_TIMER, /* blocked: only the clock let it go on */
    BAND_LIVING_UNKNOWN, /* blocked, and nobody knows by whom */
    BAND_LIVING_TERMINATE, /* ended, and not joined */
    BAND_LIVING_SYSTEM, /* not blocked, and it had no processor and wanted none */
    BAND_LIVINGS
};

#define BAND_MOST 9u /* classes of a strip of either kind */

struct state_band_cell {
    uint8_t share[BAND_MOST]; /* of 255; what is left is nothing */
    uint32_t about; /* the line that it waited for, or was in, longest; 0 none */
};

struct state_bands {
    bool by_time;
    uint8_t classes; /* BAND_CLASSES, or BAND_LIVINGS */
    int64_t from, to; /* positions, or ns */
    uint64_t known, count; /* so far the run is looked at; less than its length: more comes */
    uint32_t pixels, row_count;
    uint32_t *rows; /* lines; the first, of a cluster */
    struct state_band_cell *cells; /* by row, then pixel */
};

void encode_state_bands(struct encoder *out, const struct state_bands *strip);
void decode_state_bands(struct decoder *in, struct state_bands *strip);
void state_bands_free(struct state_bands *strip);

#endif
