/* Clocks of several hosts, tied by all messages between them (bounds.h): a line for each that contradicts none of
 * these where there are such lines, and for certain between what bounds each of them is. */
#ifndef SERVER_RUN_TYING_H
#define SERVER_RUN_TYING_H

#include "server/run/bounds.h"

struct line_fit { /* the clock shows t + at + drift * (t - middle) at the time t of the first one */
    double at, drift;
};

struct tying {
    uint32_t clocks;
    double middle;
    struct ways *ways; /* by sender, receiver */
};

struct tied { /* to the first clock */
    bool known, uneven; /* uneven: bounds were widened */
    struct between ahead_ns, drift;
};

struct tying *tying_new(uint32_t clocks, double middle);
void tying_note(struct tying *tying, uint32_t from, uint32_t to, int64_t sent, int64_t got);
void tying_close(struct tying *tying); /* all is noted */
double line_fit_time(const struct line_fit *fit, double middle, double shown);
/* Makes fits better that are about right; the first stays. */
void tying_fit(const struct tying *tying, struct line_fit *fits);
/* How far each clock is ahead when the first one shows so much. */
void tying_bound(const struct tying *tying, double shown, struct tied *bounds);
void tying_free(struct tying *tying);

#endif
