/* State bands, the overview of a run by states: the share of each pixel of a row that its line
 * spent in each state.
 *
 * These states follow from the order alone: a thread runs, waits, is in another line (a monitor),
 * or has ended; another line has a thread in it, or only blocked threads, that is, it is held by a
 * blocked thread. The rest of a pixel is empty: the line does not exist then, or is free, also if
 * threads are in it that have released it, as those that wait for a condition variable. */
#ifndef WIRE_STATE_BANDS_H
#define WIRE_STATE_BANDS_H

#include "wire/message.h"
#include "wire/thread_state_names.h"

enum band_state {
    BAND_RUNS, /* a thread, on its own line, as far as the order tells */
    BAND_INSIDE, /* a thread, in another line; or a thread is in it */
    BAND_WAITS, /* a thread; or only blocked threads are in it, and one of them holds it */
    BAND_ENDED, /* a thread that was not joined */
    BAND_CLASSES
};

/* Measured states, of threads only. */
enum band_thread_state {
    BAND_LIVING_START, /* created, not yet started */
    BAND_LIVING_READY, /* unblocked, not yet resumed; or without a CPU */
    BAND_LIVING_RUNNING,
    BAND_LIVING_MEETING, /* blocked: the awaited thread could have arrived earlier */
    BAND_LIVING_EXCLUSION, /* blocked: another thread held the requested object */
    BAND_LIVING_TIMER, /* blocked until a timeout */
    BAND_LIVING_UNKNOWN, /* blocked; no traced event ended the wait */
    BAND_LIVING_TERMINATE, /* ended, not yet joined */
    BAND_LIVING_SYSTEM, /* off-CPU, but not blocked in a traced call */
    BAND_LIVINGS
};

/* Returns the state of a thread of which this is a class. */
enum thread_state_code band_thread_state_code(enum band_thread_state class);

/* Says for how many threads running and off-CPU time are known apart. */
enum band_measurement { BAND_MEASURED_NONE, BAND_MEASURED_SOME, BAND_MEASURED_ALL };

#define BAND_MOST 9u /* classes of state bands of either kind */

struct state_band_cell {
    uint8_t share[BAND_MOST]; /* of 255; the rest is empty */
    /* the line that it waited for, or was in, longest; the thread that held it longest; 0: none */
    uint32_t about;
};

struct state_bands {
    bool by_time;
    uint8_t classes; /* BAND_CLASSES or BAND_LIVINGS */
    uint8_t measured; /* an enum band_measurement, of the threads in its rows */
    int64_t from, to; /* positions, or ns */
    uint64_t known, count; /* events examined, of the length of the run; if less, more follows */
    uint32_t pixels, row_count;
    uint32_t *rows; /* lines; the first one, of a line group */
    struct state_band_cell *cells; /* by row, then pixel */
};

void encode_state_bands(struct encoder *out, const struct state_bands *strip);
void decode_state_bands(struct decoder *in, struct state_bands *strip);
void state_bands_free(struct state_bands *strip);

#endif
