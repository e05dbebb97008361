/* State of the calling thread between the accesses that are examined: the interval that it is in,
 * its stack, and the conflicts that it has recorded. Only the thread itself accesses it. */
#ifndef CLIENTS_LIBPOET_RACES_RACE_THREAD_H
#define CLIENTS_LIBPOET_RACES_RACE_THREAD_H

#include "clients/libpoet/poet.h"
#include "clients/libpoet/races/access_shadow.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define RACE_RECENT_BITS 9u
#define RACE_RECENT_MOST (1u << RACE_RECENT_BITS) /* direct-mapped */

/* A pair of places, one of the other thread, with a conflict that was recorded. */
struct race_recent {
    uint32_t site, then_site; /* 0: none */
    poet_line_t thread;
    uint32_t interval; /* the latest one of the other thread that a conflict was recorded for */
    uint8_t flags, then_flags;
    uint16_t count; /* of those that were recorded */
};

struct race_thread {
    volatile bool inside; /* within this library: a handler's accesses are not examined */
    bool accessed; /* the shadow memory has an access of this interval */
    poet_position_t position;
    uint16_t system_thread; /* its number; 0: there are too many */
    uint32_t interval; /* the one that begins with `position.last`; 0: none yet */
    uintptr_t stack, stack_end; /* of the thread of the system; 0: not known */
    uint32_t lifetime; /* in which `recent` is valid, and what is not examined was reported */
    struct race_recent recent[RACE_RECENT_MOST];
};

extern __thread struct race_thread *race_thread_mine __attribute__((tls_model("initial-exec")));

/* The interval of the calling thread, as long as `poet_progress` is the same. */
struct race_now {
    uint64_t progress;
    uint32_t interval;
};
extern __thread struct race_now race_now __attribute__((tls_model("initial-exec")));

/* Returns the state of a thread that has none yet. */
struct race_thread *race_thread_begin(void);
/* Returns the state of the calling thread. */
static inline struct race_thread *race_thread_get(void)
{
    struct race_thread *t = race_thread_mine;
    return __builtin_expect(t != NULL, 1) ? t : race_thread_begin();
}

/* Returns the number of the interval that the thread is in; 0: its accesses are not examined. */
uint32_t race_thread_interval(struct race_thread *thread);

/* Returns how many conflicts at the same places are recorded with this one, which is an access of
 * another thread and one of this thread; 0: it adds nothing to them, since the order is the same,
 * or follows from theirs. */
unsigned race_thread_count(struct race_thread *thread, shadow_record_t earlier,
                           shadow_record_t later);

/* Counts an access or a conflict that is not examined, and reports the number now and then. why: an
 * enum unexamined of wire/program_messages.h. */
enum { UNEXAMINED_NO_MEMORY, UNEXAMINED_MEMORY, UNEXAMINED_INTERVALS, UNEXAMINED_CONFLICTS };
void race_thread_note_unexamined(struct race_thread *thread, unsigned why);

/* Finds the thread of the stack that has an address; 0: none. */
poet_line_t race_thread_of_stack(uintptr_t address);

#pragma GCC visibility pop
#endif
