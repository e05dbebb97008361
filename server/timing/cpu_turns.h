/* Context switches of one thread: when it got a CPU and lost it, as the kernel reported. For the
 * files that implement cpu_states.h. */
#ifndef SERVER_TIMING_CPU_TURNS_H
#define SERVER_TIMING_CPU_TURNS_H

#include "server/timing/cpu_states.h"

#include <stddef.h>
#include <stdint.h>

#define CPU_TURN_NO_CPU UINT16_MAX /* the CPU is not known */

struct cpu_turns {
    struct cpu_turn {
        int64_t at_ns;
        uint16_t cpu; /* of a switch to a CPU; CPU_TURN_NO_CPU: unknown */
        uint8_t what; /* an enum switch_kind (cpu_states.h) */
    } *items;
    size_t count, room;
};

/* Receives the states of a thread, one after the other. */
struct cpu_state_visitor {
    void (*visit)(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns);
    void *context;
};

/* Adds a switch, which is not before the last one. */
void cpu_turns_add(struct cpu_turns *turns, struct cpu_turn turn);
/* Visits the states in a time in which the order says that the thread ran. There must be at least
 * one switch. */
void cpu_turns_visit(const struct cpu_turns *turns, struct cpu_state_walk *walk, int64_t from_ns,
                     int64_t to_ns, struct cpu_state_visitor visitor);
/* Returns how long in a range the thread had no CPU after it was preempted. */
int64_t cpu_turns_preempted_ns(const struct cpu_turns *turns, int64_t from_ns, int64_t to_ns);
/* Returns how much of that time another thread ran on the CPU that this one had. This one has at
 * least one switch. */
int64_t cpu_turns_displaced_ns(const struct cpu_turns *turns, const struct cpu_turns *other,
                               int64_t from_ns, int64_t to_ns);

#endif
