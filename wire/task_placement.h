/* Spans: which task of a runtime is on which carrier, a thread of the system that runs tasks of the
 * program's own: the ring that a program shares with the server, and what the server makes of it,
 * as bytes (a SPANS chunk of a trace file).
 *
 * A ring is sealed memory, made by the carrier when it is to run a task first and handed over with
 * the message SPAN.  A carrier writes a switch whenever another task, or none, is on it from then
 * on, and moves `written` on; the server takes it and moves `taken` on.  So nothing is lost where
 * the program is killed, and nobody waits: what finds no room is counted, and a switch of task
 * PLACEMENT_LOST says so, whose time is how many it stands for. */
#ifndef WIRE_TASK_PLACEMENT_H
#define WIRE_TASK_PLACEMENT_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_MAGIC 0x50535450u /* "PTSP" */
#define PLACEMENT_VERSION 1u
#define PLACEMENT_HEAD_BYTES 4096u
#define PLACEMENT_SWITCHES (1u << 14) /* of a ring: a power of two */
#define PLACEMENT_MAP_BYTES                                                                        \
    (PLACEMENT_HEAD_BYTES + (size_t)PLACEMENT_SWITCHES * sizeof(struct task_switch))
#define PLACEMENT_NAME_BYTES 63u /* at most, of a carrier's name, and of its cluster's */
#define PLACEMENT_LOST UINT32_MAX

struct task_switch {
    uint64_t time; /* as the ring's clock has it */
    uint64_t task; /* code of its own line; 0: none is on it from now on; PLACEMENT_LOST */
};

struct task_placement_head {
    uint32_t magic, version;
    uint32_t carrier; /* its number in the program, from 1 */
    uint32_t clock; /* QUEUE_CLOCK_* */
    _Alignas(64) _Atomic uint64_t written; /* switches, since the begin: the carrier's */
    _Atomic uint32_t done; /* nothing more comes: the thread has ended */
    _Alignas(64) _Atomic uint64_t taken; /* likewise: the server's */
};
static_assert(sizeof(struct task_placement_head) <= PLACEMENT_HEAD_BYTES, "the head fits its page");

static inline struct task_switch *placement_switches(struct task_placement_head *head)
{
    return (struct task_switch *)(void *)((char *)head + PLACEMENT_HEAD_BYTES);
}

#endif
