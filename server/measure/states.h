/* How each thread spent its life, as far as the order tells: made and not begun, ready to go on, running, blocked, ended and
 * not gone yet.  The states of a life follow each other without a gap, so they add up to it.
 *
 * Blocked is what a wait took until somebody let the thread go on; ready, from then until it did; running, all that no
 * wait accounts for: an upper bound, for the order does not tell when the system ran somebody else.  Nothing here tells
 * what was spent in the system: server/answer/table/processor.h does, for whole lives. */
#ifndef SERVER_MEASURE_STATES_H
#define SERVER_MEASURE_STATES_H

#include "server/measure/intervals.h"

#include <stdbool.h>
#include <stdint.h>

enum life_state {
    STATE_START, /* made, and did nothing yet */
    STATE_READY,
    STATE_RUNNING,
    STATE_BLOCKED,
    STATE_SYSTEM, /* there is no source of it yet */
    STATE_TERMINATE, /* ended, and nobody took note */
    STATES
};

const char *states_word(unsigned state); /* "start" */

/* A time in one state, from one change to the next. */
struct spell {
    int64_t from_ns, to_ns;
    uint64_t position; /* of the event that it begins with, or UINT64_MAX */
    uint32_t place; /* where in the code that was (steps.h), 0 unknown */
    uint32_t about; /* blocked: the line that it waits for, 0 unknown */
    uint8_t state; /* an enum life_state */
    uint8_t unexplained; /* blocked: an enum unexplained */
};

/* What is looked at. */
struct lives {
    const struct intervals *all;
    const struct wait *open; /* that have not ended, by thread; a thread has one at most */
    size_t open_count;
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
    int64_t unexplained_ns; /* of what is blocked and went on: who ended it is not known */
    uint64_t unexplained;
};

void states_sum(const struct lives *lives, const struct course_of *course, int64_t from_ns,
                int64_t to_ns, struct states *states);
void states_add(struct states *to, const struct states *states);

#endif
