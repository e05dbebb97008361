/* Lines of clocks that are tied by messages: each goes into the middle of what the others leave it
 * (Duda et al. 1987), and what is contradicted then is moved together with its neighbours
 * (clock_relaxation.h). */
#ifndef SERVER_RUN_CLOCK_FIT_H
#define SERVER_RUN_CLOCK_FIT_H

#include "server/run/clock_relaxation.h"

/* Makes fits better that are about right, of a tying that is closed; the first stays. */
void clock_fit_lines(const struct clock_ties *tying, struct line_fit *fits);

#endif
