/* Fits lines to clocks that are tied by messages: each line is put into the middle of the region
 * that the others leave it (Duda et al. 1987), and lines that then violate a bound are moved
 * together with their neighbors (clock_relaxation.h). */
#ifndef SERVER_RUN_CLOCK_FIT_H
#define SERVER_RUN_CLOCK_FIT_H

#include "server/run/clock_relaxation.h"

/* Improves approximate fits of closed ties; the first clock is fixed. */
void clock_fit_lines(const struct clock_ties *tying, struct line_fit *fits);

#endif
