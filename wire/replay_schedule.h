/* Scripts: what each thread of a run did, one event after the other, for a program that is to do it
 * again.
 *
 * One file, of this machine only: the head, a place for each line of the run, the events of one
 * thread after those of the other, and the names of their types.  `poet replay` makes it; every
 * program of the repeated run maps it, and writes what is marked as theirs: how far each line has
 * come, and who waits for it.  Lines are those of the run that is repeated, from 1.
 *
 * Some lines have no events of their own but many that are about them, as conditions have: those
 * stand there one after the other, too, and their places are tickets. */
#ifndef WIRE_REPLAY_SCHEDULE_H
#define WIRE_REPLAY_SCHEDULE_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_MAGIC 0x74706972636f7070u
#define SCHEDULE_VERSION 2u
#define SCHEDULE_CHOICE "choose" /* the type of choices */
#define SCHEDULE_NAME_BYTES 64u /* of a type's name, with the 0 that ends it */

struct schedule_event {
    uint32_t line, number;
    uint32_t about, ticket; /* ticket 0: about is no line of tickets */
    uint32_t after_line,
        after_number; /* the send that it receives, or an order edge from another thread; 0: it has none.  Of a
                                * choice: among how many, and which; of what tells what an ask got: which ask, and what */
    uint16_t type; /* index of its name */
    uint16_t text; /* schedule_text_hash of its text; 0: it has none */
    uint32_t after_ms; /* since its thread's event before it */
};
static_assert(sizeof(struct schedule_event) == 32, "as it lies in the file");

/* A text in brief: FNV-1a (Fowler, Noll, Vo), folded to 16 bits, never 0. */
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
    /* the programs' */
    /* the line that it is now: a process, and its code there; 0: none yet */
    _Atomic uint64_t bound;
    uint32_t last; /* its last number, or ticket, that is in the script */
    _Atomic uint32_t done; /* the number or ticket that it has come to (futex) */
    _Atomic uint32_t waiting; /* how many threads wait for that */
    _Atomic uint64_t at; /* of a thread: so many of its events are done */
    _Atomic uint32_t waits_line,
        waits_for; /* of a thread that waits: until that line has come so far; 0: it does not */
    /* of a thread that nobody is known to have created: schedule_text_hash of its name; else 0 */
    uint16_t named;
    uint16_t spare;
    /* by the program that comes from the message of that number: it begins with it */
    _Atomic uint32_t claimed;
};
static_assert(sizeof(struct schedule_line) == 64, "as it lies in the file");

/* Of a thread, for who debugs it: it makes no event from `before` on until it is let. */
struct schedule_breakpoint {
    /* the debugger's */
    _Atomic uint64_t before; /* 1 + the index of an event of the thread; 0: it is free */
    _Atomic uint32_t awaited; /* an enum schedule_awaited */
    /* the programs' */
    _Atomic uint32_t process, id; /* who plays the part, by the system's numbers; 0: nobody yet */
    uint32_t spare;
    _Atomic uint64_t at; /* 1 + the index of the event that it is held before; 0: it is not held */
    uint64_t spares[4];
};
static_assert(sizeof(struct schedule_breakpoint) == 64, "as it lies in the file");

#define SCHEDULE_ANY_PROCESS UINT32_MAX /* the first one that maps it: it puts its number there */

enum schedule_breakpoint_mode { /* when the debugger is told */
                                SCHEDULE_BREAKPOINT_NEVER,
                                /* once all that are awaited are there, or the script is left */
                                SCHEDULE_BREAKPOINT_REACHED,
                                SCHEDULE_BREAKPOINT_LEFT /* once the script is left */
};

enum schedule_awaited {
    SCHEDULE_NOT_AWAITED,
    SCHEDULE_DONE, /* until all before `before` is done */
    SCHEDULE_HELD, /* and it has come to the next event */
};

enum schedule_state { SCHEDULE_ACTIVE, SCHEDULE_LEFT };

enum schedule_end_type {
    SCHEDULE_END_OTHER_EVENT, /* a thread did something else */
    /* a thread waits for what nobody is to do, or what those who wait are to do */
    SCHEDULE_END_NO_WAKER,
    SCHEDULE_END_TIMEOUT, /* a thread waits for one that does not come to its next event */
    /* a thread got another number on a line: somebody without a part was there */
    SCHEDULE_END_FOREIGN_THREAD,
    SCHEDULE_END_INPUT, /* a thread made another call than one whose input is recorded: did, asked for `by`; it was the call of
                  * number `line` (wire/recorded_input.h), asked for `number` */
    /* a thread received what that line sent as that number, and not what it did */
    SCHEDULE_END_RECEIVED
};

/* Why a script was left. */
struct schedule_end {
    uint32_t why; /* an enum schedule_end_type */
    uint32_t thread; /* its line */
    /* of it: the index of the event that was to be, from the first one of the thread */
    uint64_t event;
    uint32_t line,
        /* that it waited for; of STRANGER, that it got; of OTHER the line that it was at, 0: one
         * that is not in the script */
        number;
    uint32_t by; /* the thread that was to do that, 0: nobody */
    char did[SCHEDULE_NAME_BYTES]; /* OTHER: the type of what it did */
};

struct schedule_head {
    uint64_t magic;
    uint32_t version;
    uint32_t line_count, type_count;
    uint32_t main; /* the line of the first program's first thread */
    uint64_t event_count;
    uint64_t lines_at, events_at,
        types_at; /* from the file's begin; lines: line_count + 1 of them */
    uint64_t stops_at; /* script_stop of each line, line 0 has one, too */
    /* of each event its thread (uint32_t), in an order that agrees with all turns */
    uint64_t order_at;
    uint64_t bytes;
    uint32_t far; /* 1: it has streams of bytes to other machines */
    /* the programs' */
    _Alignas(64) _Atomic uint32_t state; /* an enum schedule_state */
    _Atomic uint32_t claimed; /* somebody writes the end */
    _Atomic uint32_t processes; /* that were counted */
    struct schedule_end end; /* once state says so */
    _Alignas(64) _Atomic uint32_t
        /* the process that a debugger has, or SCHEDULE_ANY_PROCESS; 0: none is.  Nobody is
         * impatient then, and all look at stops */
        debugged;
    _Atomic uint32_t stop; /* likewise: an enum schedule_breakpoint_mode; 0 once it was told */
    _Atomic uint64_t
        more; /* records that the script does not have: behind the last event of a thread, or of
                            * threads that have no part; as long as it is played */
};

#endif
