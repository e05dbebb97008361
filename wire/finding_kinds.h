/* Table of the kinds of findings about a run: one row each with its name, its texts and, for a
 * prediction, what each thread did.  The server, all commands, the viewer and all formats use these
 * rows.  The findings of `poet report` about time have theirs in finding_rows.c of the server. */
#ifndef WIRE_FINDING_KINDS_H
#define WIRE_FINDING_KINDS_H

#include "wire/heap_region.h"

#include <stddef.h>

/* The groups of findings: what a command may report. */
enum finding_group {
    FINDINGS_OF_HANGS = 1,
    FINDINGS_OF_PREDICTION = 2,
    FINDINGS_OF_MEMORY = 4,
    FINDINGS_OF_CHECK = 8,
    FINDINGS_OF_PROGRESS = 16, /* of poet record --hang-timeout */
    FINDINGS_OF_ORDERS = 32, /* predictions of orders that are often intended */
    FINDINGS_OF_RULES = 64, /* broken rules of the program's environment */
    FINDINGS_OF_ASSERTIONS = 128, /* of a file that the user names */
    FINDINGS_OF_RACES = 256, /* of accesses of memory (poetcc -trace=races) */
    FINDINGS_PREDICTED = FINDINGS_OF_PREDICTION | FINDINGS_OF_ORDERS
};

/* In the order in which they are reported: the most severe prediction first. */
enum finding_kind {
    FINDING_DEADLOCK,
    FINDING_ABANDONED_LOCK,
    FINDING_HANG,
    FINDING_RULE_VIOLATION, /* the program breaks a rule of its environment */
    FINDING_DATA_RACE, /* two threads access the same memory, unordered, one by a write */
    FINDING_NO_PROGRESS,
    FINDING_LOCK_ORDER_INVERSION, /* each holds what the next one requests */
    FINDING_READ_RECURSION, /* it waits for a writer that waits for it */
    FINDING_WAIT_WITH_LOCK, /* what it waits for requests what it holds */
    FINDING_NESTED_TASK, /* a task of a pool waits for another task of the pool */
    FINDING_FORK_WITH_LOCK, /* the child requests what another thread can hold */
    FINDING_HANDLER_LOCK, /* a handler requests what its thread can hold */
    FINDING_DESTROY_IN_USE, /* it is destroyed while or before a thread uses it */
    FINDING_UNSAFE_SEND, /* it waits for a receive unless the message is buffered */
    FINDING_LOST_WAKEUP, /* a signal before the wait for it, which is not received */
    FINDING_UNCHECKED_WAIT, /* it waits even if the signal was sent before */
    FINDING_SIGNAL_NOT_BROADCAST, /* a signal wakes one of several waiters */
    FINDING_MESSAGE_RACE, /* another message for a receive from any */
    FINDING_EARLY_SIGNAL, /* the signaling critical section precedes the wait */
    FINDING_ATOMICITY, /* a critical section between two of one thread */
    FINDING_ORDER_VIOLATION, /* two critical sections of a lock, reversed */
    FINDING_LEAK,
    FINDING_DOUBLE_FREE,
    FINDING_INVALID_FREE,
    FINDING_MISMATCHED_FREE,
    FINDING_ASSERTION, /* the run violates an assertion about its events */
    FINDING_INCONSISTENT_TRACE,
    FINDING_INVALID_DESCRIPTION,
    FINDING_KIND_COUNT
};

struct finding_kind_row {
    const char *name; /* "deadlock": in --fail-on, --kinds, tables and formats */
    unsigned group; /* an enum finding_group */
    /* The meaning of the kind, and the text of one finding: sentences without a period.  NULL
     * where each finding has a text of its own. */
    const char *headline, *explanation;
    /* Texts for the first, the second and each later thread of a prediction: %T is the thread, %L
     * and %M its two objects, %l and %m its two locations.  NULL: as the thread before it. */
    const char *participants[3];
    /* The text for a thread with one event only, unless it is the first of several texts; NULL: as
     * for two events. */
    const char *single;
};

/* A row for each enum finding_kind, and one with a NULL name. */
extern const struct finding_kind_row finding_kinds[FINDING_KIND_COUNT + 1];

/* The texts of heap errors in tables, and their kinds; NULL: HEAP_NULL is not an error. */
struct heap_fault_row {
    const char *text;
    enum finding_kind kind;
};

extern const struct heap_fault_row heap_faults[HEAP_FAULTS];

/* Returns the row of a kind of these groups (~0u: of any) by its name, of which the first `bytes`
 * count; or NULL. */
const struct finding_kind_row *finding_kind_named(const char *name, size_t bytes, unsigned groups);

#endif
