/* Spells, as the table of that name tells them: a state of a thread, since when, how long; and as
 * shares of pixels. */
#ifndef CLIENTS_VIEWER_ANALYSIS_STATE_INTERVALS_H
#define CLIENTS_VIEWER_ANALYSIS_STATE_INTERVALS_H

#include "clients/connection/result_table.h"

#include <cairo.h>

enum interval_state {
    INTERVAL_CREATED,
    INTERVAL_RUNNABLE,
    INTERVAL_RUNNING,
    INTERVAL_BLOCKED,
    INTERVAL_OFF_CPU,
    INTERVAL_EXITED,
    INTERVAL_UNKNOWN,
    INTERVAL_STATES
};

struct state_interval {
    uint32_t line, object; /* the thread; what it waits for, 0 nothing */
    unsigned state;
    int64_t from_ns, took_ns;
    struct table_place where; /* it began */
    const char
        *uncertain_because; /* why it is not known who ended a wait; NULL: it is; of the table */
    const char *cpu; /* running: on which processor, where that is known; the table's, or NULL */
    struct event_id event; /* with which it began */
};

const char *state_interval_state_name(unsigned state); /* "running" */
const char *state_interval_state_key(unsigned state);  /* the same without blanks, for tests */
bool state_interval_read_row(const struct result_table *table, uint32_t row,
                             struct state_interval *spell); /* false: it is none */
/* "running since 1.250 ms, for 3.100 ms, from main (x.c:5) on"; new memory. */
char *state_interval_describe(const struct table_names *names, const struct state_interval *spell);

/* Adds a stretch of a state to the shares of pixels 0 .. width - 1, INTERVAL_STATES of each. */
void state_interval_add_share(float *shares, int width, unsigned state, double from_px,
                              double to_px);
bool state_interval_same_pixels(const float *shares, int one,
                                int other); /* do two pixels look the same? */
/* One above the other, as high as their shares; what is left is left out. */
void state_interval_paint_shares(cairo_t *cr, const float *shares, double x, double y, double wide,
                                 double high, bool grey);
/* What colours stand for; returns how wide that is. */
double state_interval_draw_key(cairo_t *cr, double x, double y, bool dark, bool grey);

#endif
