/* Context switches of one thread: when it got a CPU and lost it, as the kernel reported. */
#ifndef SERVER_TIMING_CPU_TURNS_H
#define SERVER_TIMING_CPU_TURNS_H

#include "server/timing/cpu_states.h"

#include <stddef.h>
#include <stdint.h>

#define LOOP_TURN_NO_CPU UINT16_MAX /* the CPU is not known */

/* A zero-initialized struct is empty. */
struct cpu_turns {
    struct cpu_turn {
        int64_t at_ns;
        uint16_t cpu; /* of a switch to a CPU; LOOP_TURN_NO_CPU: unknown */
        uint8_t what; /* an enum switch_kind (cpu_states.h) */
    } *items;
    size_t count, room;
};

void cpu_turns_free(struct cpu_turns *turns); /* frees the items */
void cpu_turns_add(struct cpu_turns *turns, struct cpu_turn turn);

/* Visits the states in a time in which the order says that the thread ran; helper of
 * cpu_states_visit().  There must be at least one switch. */
void cpu_turns_visit(
    const struct cpu_turns *turns, struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
    void (*visit)(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns), void *context);
/* Does the same for a task, by its placements. */
void cpu_turns_visit_placements(const struct placements *all, uint32_t task,
                                struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
                                void (*visit)(void *context, enum cpu_state is, int64_t from_ns,
                                              int64_t to_ns),
                                void *context);

#endif
