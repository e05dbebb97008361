/* Turns: when one thread went on a processor and off it, as the kernel switched it. */
#ifndef SERVER_TIMING_CPU_TURNS_H
#define SERVER_TIMING_CPU_TURNS_H

#include "server/timing/cpu_states.h"

#include <stddef.h>
#include <stdint.h>

#define LOOP_TURN_NO_CPU UINT16_MAX /* which processor is not known */

/* Zero-initialised: none. */
struct cpu_turns {
    struct cpu_turn {
        int64_t at_ns;
        uint16_t cpu; /* of one to a processor; LOOP_TURN_NO_CPU */
        uint8_t what; /* an enum switch_kind (cpu_states.h) */
    } *items;
    size_t count, room;
};

void cpu_turns_free(struct cpu_turns *turns); /* what is in them */
void cpu_turns_add(struct cpu_turns *turns, struct cpu_turn turn);

/* What they say of a time in which the order says that the thread ran: as cpu_states_visit, which
 * it is for.  There is one at least. */
void cpu_turns_visit(
    const struct cpu_turns *turns, struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
    void (*visit)(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns), void *context);
/* The same of a task, by its stays. */
void cpu_turns_visit_placements(const struct placements *stays, uint32_t task,
                                struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
                                void (*visit)(void *context, enum cpu_state is, int64_t from_ns,
                                              int64_t to_ns),
                                void *context);

#endif
