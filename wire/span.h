/* Spans: which task of a runtime is on which carrier, a thread of the system that runs tasks of the program's own: the
 * ring that a program shares with the server, and what the server makes of it, as bytes (a SPANS chunk of a trace file).
 *
 * A ring is sealed memory, made by the carrier when it is to run a task first and handed over with the message SPAN.  A
 * carrier writes a switch whenever another task, or none, is on it from then on, and moves `written` on; the server
 * takes it and moves `taken` on.  So nothing is lost where the program is killed, and nobody waits: what finds no room
 * is counted, and a switch of task SPAN_LOST says so, whose time is how many it stands for. */
#ifndef WIRE_SPAN_H
#define WIRE_SPAN_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SPAN_MAGIC 0x50535450u /* "PTSP" */
#define SPAN_VERSION 1u
#define SPAN_HEAD_BYTES 4096u
#define SPAN_SWITCHES (1u << 14) /* of a ring: a power of two */
#define SPAN_MAP_BYTES (SPAN_HEAD_BYTES + (size_t)SPAN_SWITCHES * sizeof(struct span_switch))
#define SPAN_NAME_BYTES 63u /* at most, of a carrier's name, and of its cluster's */
#define SPAN_LOST UINT32_MAX

struct span_switch {
    uint64_t time; /* as the ring's clock has it */
    uint64_t task; /* code of its own line; 0: none is on it from now on; SPAN_LOST */
};

struct span_head {
    uint32_t magic, version;
    uint32_t carrier; /* its number in the program, from 1 */
    uint32_t clock; /* QUEUE_CLOCK_* */
    _Alignas(64) _Atomic uint64_t written; /* switches, since the begin: the carrier's */
    _Atomic uint32_t done; /* nothing more comes: the thread has ended */
    _Alignas(64) _Atomic uint64_t taken; /* likewise: the server's */
};
static_assert(sizeof(struct span_head) <= SPAN_HEAD_BYTES, "the head fits its page");

static inline struct span_switch *span_switches(struct span_head *head)
{
    return (struct span_switch *)(void *)((char *)head + SPAN_HEAD_BYTES);
}

#endif
