/* Fits lines to clocks that are tied by messages: each line is put into the middle of the region
 * that the others leave it (Duda et al. 1987), and lines that then violate a bound are moved
 * together with their neighbors, until no message is received before it was sent. */
#ifndef SERVER_RUN_CLOCK_FIT_H
#define SERVER_RUN_CLOCK_FIT_H

#include "server/run/clock_bounds.h"

struct line_fit { /* the clock shows t + at + drift * (t - middle) at the time t of the first one */
    double at, drift;
};

/* Returns the time of the first clock at which this one shows `shown`. */
double line_fit_time(const struct line_fit *fit, double middle, double shown);

/* Improves approximate fits of closed ties; the first clock is fixed. */
void clock_fit_lines(const struct clock_ties *tying, struct line_fit *fits);

#endif
