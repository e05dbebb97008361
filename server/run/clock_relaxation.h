/* Lines of clocks, all of them at once, so that no message is there before it went.
 *
 * A line is a correction of what its clock shows, x after the middle: by a + d * u, where u = (x
 * - own) / scale, and `own` is about what the clock shows in the middle.  Then a message is a
 * linear constraint: its corrected send is no later than its corrected receive.  A violated
 * constraint moves both lines until it holds; if there are lines that satisfy all constraints,
 * this converges to such lines (the relaxation of Agmon 1954, and of Motzkin and Schoenberg
 * 1954). */
#ifndef SERVER_RUN_CLOCK_RELAXATION_H
#define SERVER_RUN_CLOCK_RELAXATION_H

#include "server/run/clock_ties.h"

struct line_fit { /* the clock shows t + at + drift * (t - middle) at the time t of the first one */
    double at, drift;
};

double line_fit_time(const struct line_fit *fit, double middle, double shown);

/* Adjusts approximate line fits to the bounds of closed ties; the first clock is fixed.  Returns
 * false if the fits still violate bounds. */
bool clock_relaxation_run(const struct clock_ties *tying, struct line_fit *fits);

#endif
