/* Replay schedules: what each thread of a run did, event by event, for a program that repeats it.
 *
 * One file, for this host only: the head, an entry for each line of the run, the events of each
 * thread in turn, and the names of their types. `poet replay` creates it; every program of the
 * replayed run maps it, and writes the members marked as the programs': the progress of each line,
 * and the number of threads that wait for it. Lines are those of the original run, from 1.
 *
 * Some lines have no events of their own but many that are about them, such as condition variables:
 * those events are numbered in sequence, too, and their numbers are tickets. */
#ifndef WIRE_REPLAY_SCHEDULE_H
#define WIRE_REPLAY_SCHEDULE_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_MAGIC 0x74706972636f7070u
#define SCHEDULE_VERSION 1u
#define SCHEDULE_CHOICE "choose" /* the type of choices */
#define SCHEDULE_NAME_BYTES 64u /* of a type's name, including its NUL */

struct schedule_event {
    uint32_t line, number;
    uint32_t about, ticket; /* ticket 0: `about` has no tickets */
    /* the send that it receives, or an order edge from another thread; 0: none. For a choice: the
     * number of alternatives, and the index chosen; of a nondeterministic result: which request,
     * and what it got */
    uint32_t after_line, after_number;
    uint16_t type; /* index of its name */
    uint16_t text; /* schedule_text_hash of its text; 0: none */
    uint32_t after_ms; /* since its thread's previous event */
};
static_assert(sizeof(struct schedule_event) == 32, "as it lies in the file");

/* A hash of a text: FNV-1a (Fowler, Noll, Vo), folded to 16 bits, never 0. */
static inline uint16_t schedule_text_hash(const char *text, size_t size)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    h = (h ^ h >> 16) & 0xffff;
    return (uint16_t)(h ? h : 1);
}

struct schedule_line {
    uint64_t first, count; /* its own events, if it is a thread's */
    /* written by the programs */
    /* the corresponding line of the replayed run: a process, and its code there; 0: none yet */
    _Atomic uint64_t bound;
    uint32_t last; /* its last number, or ticket, in the schedule */
    _Atomic uint32_t done; /* the last number or ticket reached (futex) */
    _Atomic uint32_t waiting; /* number of threads that wait for that */
    _Atomic uint64_t at; /* of a thread: number of its events that are done */
    /* of a blocked thread: the line, and the number that it must reach; 0: not blocked */
    _Atomic uint32_t waits_line, waits_for;
    /* of a thread that is not known to be created by another: schedule_text_hash of its name; else
     * 0 */
    uint16_t named;
    uint16_t spare;
    /* number of the message by which a new process finds this line, set by the thread that creates
     * the process; 0: none */
    _Atomic uint32_t claimed;
};
static_assert(sizeof(struct schedule_line) == 64, "as it lies in the file");

/* A breakpoint of a thread: while it is set, the thread makes no event from `before` on. */
struct schedule_breakpoint {
    /* written by the debugger */
    _Atomic uint64_t before; /* 1 + the index of an event of the thread; 0: no breakpoint */
    _Atomic uint32_t awaited; /* an enum schedule_awaited */
    /* written by the programs */
    /* PID and TID of the thread that executes this schedule; 0: none yet */
    _Atomic uint32_t process, id;
    uint32_t spare;
    _Atomic uint64_t at; /* 1 + the index of the event that it is held before; 0: not held */
    uint64_t spares[4];
};
static_assert(sizeof(struct schedule_breakpoint) == 64, "as it lies in the file");

/* the first process that maps it, which stores its PID there */
#define SCHEDULE_ANY_PROCESS UINT32_MAX

enum schedule_breakpoint_mode { /* when the debugger is notified */
                                SCHEDULE_BREAKPOINT_NEVER,
                                /* once all awaited threads have arrived, or the replay has
                                 * diverged */
                                SCHEDULE_BREAKPOINT_REACHED,
                                SCHEDULE_BREAKPOINT_LEFT /* once the replay has diverged */
};

enum schedule_awaited {
    SCHEDULE_NOT_AWAITED,
    SCHEDULE_DONE, /* until all events before `before` are done */
    SCHEDULE_HELD, /* the same, and it has arrived at the next event */
};

enum schedule_state { SCHEDULE_ACTIVE, SCHEDULE_LEFT };

enum schedule_end_type {
    SCHEDULE_END_OTHER_EVENT, /* a thread made a different event */
    /* a thread waits for what no thread is scheduled to do, or only the waiting threads */
    SCHEDULE_END_NO_WAKER,
    /* timeout: a thread waits for another one that does not reach its next event */
    SCHEDULE_END_TIMEOUT,
    /* a thread got a different number on a line: a thread without a schedule used it */
    SCHEDULE_END_FOREIGN_THREAD,
    /* a thread made another call than the one with the recorded input: did, with argument `by`; the
     * recorded call is `line` (wire/recorded_input.h), with argument `number` */
    SCHEDULE_END_INPUT,
    /* a thread received what that line sent as that number, instead of the recorded message */
    SCHEDULE_END_RECEIVED
};

/* Why the replay diverged. */
struct schedule_end {
    uint32_t why; /* an enum schedule_end_type */
    uint32_t thread; /* its line */
    /* index of the expected event, from the first one of the thread */
    uint64_t event;
    /* that it waited for; of FOREIGN_THREAD, that it got; of OTHER_EVENT the line that it used,
     * 0: not in the schedule */
    uint32_t line, number;
    uint32_t by; /* the thread that was scheduled to do that; 0: none */
    char did[SCHEDULE_NAME_BYTES]; /* OTHER_EVENT: the type of the event made */
};

struct schedule_head {
    uint64_t magic;
    uint32_t version;
    uint32_t line_count, type_count;
    uint32_t main; /* the line of the first program's main thread */
    uint64_t event_count;
    /* from the start of the file; lines: line_count + 1 entries */
    uint64_t lines_at, events_at, types_at;
    uint64_t stops_at; /* schedule_breakpoint of each line, including line 0 */
    /* the thread (uint32_t) of each event, in an order that agrees with all successions */
    uint64_t order_at;
    uint64_t bytes;
    uint32_t remote; /* 1: it has byte streams to other hosts */
    /* written by the programs */
    _Alignas(64) _Atomic uint32_t state; /* an enum schedule_state */
    _Atomic uint32_t claimed; /* a thread is writing the end */
    _Atomic uint32_t processes; /* number of processes counted */
    struct schedule_end end; /* valid once state says so */
    /* the process under the debugger, or SCHEDULE_ANY_PROCESS; 0: none. While set, there are no
     * timeouts, and all threads check breakpoints */
    _Alignas(64) _Atomic uint32_t debugged;
    _Atomic uint32_t stop; /* an enum schedule_breakpoint_mode; 0 once the debugger was notified */
    /* events not in the schedule: after the last event of a thread, or of threads without a
     * schedule, as long as the schedule is active */
    _Atomic uint64_t more;
};

#endif
