/* Placements: which task of a runtime runs on which worker thread, a system thread that runs the
 * program's tasks. The ring that a program shares with the server, and the bytes that the server
 * makes of it (a SPANS chunk of a trace file).
 *
 * A ring is sealed memory. The worker thread creates it before it first runs a task, and passes it
 * with the message CARRIER. It writes a switch whenever another task, or none, runs on it from then
 * on, and advances `written`; the server takes the switch and advances `taken`. Therefore nothing
 * is lost if the program is killed, and no thread blocks: switches for which there is no space are
 * counted, and a switch with the task PLACEMENT_LOST gives their number in its time. */
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
/* maximum length of a worker thread's name, and of its cluster's */
#define PLACEMENT_NAME_BYTES 63u
#define PLACEMENT_LOST UINT32_MAX

struct task_switch {
    uint64_t time; /* by the ring's clock */
    uint32_t task; /* code of its line; 0: none runs from now on; PLACEMENT_LOST */
    /* 1 + the call context (wire/profile_region.h) in which the task before it left; 0: unknown */
    uint32_t left;
};

struct task_placement_head {
    uint32_t magic, version;
    uint32_t carrier; /* its number in the program, from 1 */
    uint32_t clock; /* QUEUE_CLOCK_* */
    /* switches since the start: written by the worker thread */
    _Alignas(64) _Atomic uint64_t written;
    _Atomic uint32_t done; /* nothing follows: the thread has ended */
    _Alignas(64) _Atomic uint64_t taken; /* switches since the start: written by the server */
};
static_assert(sizeof(struct task_placement_head) <= PLACEMENT_HEAD_BYTES, "the head fits its page");

static inline struct task_switch *placement_switches(struct task_placement_head *head)
{
    return (struct task_switch *)(void *)((char *)head + PLACEMENT_HEAD_BYTES);
}

#endif
