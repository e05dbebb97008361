/* Lines of clocks, all of them at once, so that no message is there before it went.
 *
 * A line is a correction of what its clock shows, x after the middle: by a + d * u, where u = (x -
 * own) / scale, and `own` is about what the clock shows in the middle.  Then what a message says is
 * linear: its send is corrected to no later than its receive.  Whatever contradicts that moves both
 * lines until it does not any more; where there are lines that nothing contradicts, that comes to
 * such ones (the relaxation of Agmon 1954, and of Motzkin and Schoenberg 1954). */
#ifndef SERVER_RUN_CLOCK_RELAXATION_H
#define SERVER_RUN_CLOCK_RELAXATION_H

#include "server/run/clock_ties.h"

struct line_fit { /* the clock shows t + at + drift * (t - middle) at the time t of the first one */
    double at, drift;
};

double line_fit_time(const struct line_fit *fit, double middle, double shown);

/* Of lines that are about right, of a tying that is closed; the first one stays.  False: they are
 * contradicted still. */
bool clock_relaxation_run(const struct clock_ties *tying, struct line_fit *fits);

#endif
