/* The course of a run: in which state each line was from when to when.
 *
 * It is found in one pass over the log, when it is first asked for, and goes on from there; the descriptions say
 * what an event does to the thread that acts.  Of each line its stretches of one state are kept; where there are too
 * many, some in a row are kept as one, with the share of each state. */
#ifndef SERVER_RUN_COURSE_H
#define SERVER_RUN_COURSE_H

#include "server/run/run.h"
#include "wire/strip.h"

struct course;

/* Looks at what is new, about `budget` events of it; true once all is known. */
bool course_learn(const struct run *run, uint64_t *budget);
uint64_t course_known(const struct run *run); /* so many positions */

/* A piece of a line's course: what part of it was spent how, by time or by positions. */
struct course_piece {
    int64_t from_ns, to_ns;
    uint64_t from, to; /* positions */
    double by_time[STRIP_CLASSES], by_position[STRIP_CLASSES]; /* of 1 */
    uint32_t about; /* the line that it was in, or waited for, longest; 0 none */
};

/* Calls visit for each piece of a line that touches a stretch, by time (ns) or by positions. */
void course_visit(const struct run *run, uint32_t line, bool by_time, int64_t from, int64_t to,
                  void (*visit)(void *context, const struct course_piece *piece), void *context);

#endif
