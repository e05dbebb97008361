/* Turns: when one thread went on a processor and off it, as the kernel switched it. */
#ifndef SERVER_MEASURE_TURNS_H
#define SERVER_MEASURE_TURNS_H

#include "server/measure/spans.h"

#include <stddef.h>
#include <stdint.h>

#define TURN_NO_CPU UINT16_MAX /* which processor is not known */

/* Zero-initialised: none. */
struct turns {
    struct turn {
        int64_t at_ns;
        uint16_t cpu; /* of one to a processor; TURN_NO_CPU */
        uint8_t what; /* an enum switched (spans.h) */
    } *items;
    size_t count, room;
};

void turns_free(struct turns *turns); /* what is in them */
void turns_add(struct turns *turns, struct turn turn);

/* What they say of a time in which the order says that the thread ran: as spans_visit, which it is for.  There is one at
 * least. */
void turns_visit(const struct turns *turns, struct spans_walk *walk, int64_t from_ns, int64_t to_ns,
                 void (*visit)(void *context, enum span_is is, int64_t from_ns, int64_t to_ns),
                 void *context);
/* The same of a task, by its stays. */
void turns_visit_stays(const struct stays *stays, uint32_t task, struct spans_walk *walk,
                       int64_t from_ns, int64_t to_ns,
                       void (*visit)(void *context, enum span_is is, int64_t from_ns,
                                     int64_t to_ns),
                       void *context);

#endif
