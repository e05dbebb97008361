/* How each thread spent its life: made and not begun, ready to go on, running, blocked, in the system, ended and not gone
 * yet.  The states of a life follow each other without a gap, so they add up to it.
 *
 * Blocked is what a wait took until somebody let the thread go on; ready, from then until it did, and where it could have
 * run and had no processor; running, where it had one; system, what no event accounts for and it had none: asleep, or in a
 * call.  Where only the order is known (server/measure/spans.h) all that no wait accounts for is running, an upper bound. */
#ifndef SERVER_MEASURE_STATES_H
#define SERVER_MEASURE_STATES_H

#include "server/measure/spans.h"

#include <stdbool.h>
#include <stdint.h>

enum life_state {
    STATE_START, /* made, and did nothing yet */
    STATE_READY,
    STATE_RUNNING,
    STATE_BLOCKED,
    STATE_SYSTEM, /* of the order alone there is none */
    STATE_TERMINATE, /* ended, and nobody took note */
    STATES
};

const char *states_word(unsigned state); /* "start" */

/* A time in one state, from one change to the next. */
struct spell {
    int64_t from_ns, to_ns;
    uint64_t
        position; /* of the event that it begins with, or of the last before it; or UINT64_MAX */
    uint32_t place; /* where in the code that was (steps.h), 0 unknown */
    uint32_t about; /* blocked: the line that it waits for, 0 unknown */
    uint8_t state; /* an enum life_state */
    uint8_t unexplained; /* blocked: an enum unexplained */
    uint32_t on; /* running: where, as spans_walk has it (spans.h); 0 not known */
    bool active; /* of the order alone it would be running */
};

/* What is looked at. */
struct lives {
    const struct intervals *all;
    const struct wait *open; /* that have not ended, by thread; a thread has one at most */
    size_t open_count;
    const struct spans *spans; /* NULL: the order alone is known */
    enum spans_source source; /* no better one is to be used; SPANS_ORDER: the best */
};

/* The life of a thread, as far as it is known; false: nothing is known of it. */
bool states_life(const struct lives *lives, const struct course_of *course, int64_t *from_ns,
                 int64_t *to_ns);

/* Calls visit for each spell of a thread that lies between two times, one after the other; those at the ends are cut. */
void states_visit(const struct lives *lives, const struct course_of *course, int64_t from_ns,
                  int64_t to_ns, void (*visit)(void *context, const struct spell *spell),
                  void *context);

/* A time at which a spell begins, some `most` of its intervals after from_ns; INT64_MAX: there is none.  looked: at so
 * many intervals. */
int64_t states_cut(const struct course_of *course, int64_t from_ns, uint64_t most, size_t *looked);

/* What they add up to. */
struct states {
    struct state_sum {
        int64_t total_ns, least_ns, most_ns;
        uint64_t count;
    } of[STATES];
    int64_t life_ns;
    int64_t active_ns, let_go_ns; /* as the order alone tells it: running, ready */
    int64_t unexplained_ns; /* of what is blocked and went on: who ended it is not known */
    uint64_t unexplained;
};

void states_sum(const struct lives *lives, const struct course_of *course, int64_t from_ns,
                int64_t to_ns, struct states *states);
void states_add(struct states *to, const struct states *states);

#endif
