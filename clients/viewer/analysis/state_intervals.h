/* State intervals from the table of that name: a state of a thread, its start and duration; and
 * shares of pixels. */
#ifndef CLIENTS_VIEWER_ANALYSIS_STATE_INTERVALS_H
#define CLIENTS_VIEWER_ANALYSIS_STATE_INTERVALS_H

#include "clients/connection/result_table.h"
#include "wire/thread_state_names.h"

#include <cairo.h>

struct state_interval {
    uint32_t line, object; /* the thread; what it waits for, 0: nothing */
    unsigned state;
    int64_t from_ns, took_ns;
    struct table_place where; /* where it began */
    /* why it is unknown which thread ended a wait; NULL: it is known; owned by the table */
    const char *uncertain_because;
    const char *cpu; /* running: the processor, if known; owned by the table; or NULL */
    struct event_id event; /* with which it began */
};

/* Returns "running"; "unknown" for a state that is none of enum thread_state_code. */
const char *state_interval_state_name(unsigned state);
bool state_interval_read_row(const struct result_table *table, uint32_t row,
                             /* returns false if the row is not an interval */
                             struct state_interval *spell);
/* Returns "running since 1.250 ms, for 3.100 ms, from main (x.c:5) on" in new memory. */
char *state_interval_describe(const struct table_names *names, const struct state_interval *spell);

/* Adds an interval to the shares of pixels 0 .. width - 1, THREAD_STATES_DRAWN for each. */
void state_interval_add_share(float *shares, int width, unsigned state, double from_px,
                              double to_px);
/* Paints the key of the colors; returns its width. */
double state_interval_draw_key(cairo_t *cr, double x, double y, bool dark, bool grey);

#endif
