/* State of the calling thread between its atomic operations, in the sense of C11: with what its
 * next fences and operations synchronize, and what it is known to be after. Only the thread itself
 * accesses it. */
#ifndef CLIENTS_LIBPOET_ATOMICS_ATOMIC_THREAD_H
#define CLIENTS_LIBPOET_ATOMICS_ATOMIC_THREAD_H

#include "clients/libpoet/atomics/atomic_objects.h"
#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define ATOMIC_SEEN_MOST 64u /* objects, direct-mapped */
#define ATOMIC_LOADED_MOST 16u /* objects, direct-mapped */
#define ATOMIC_ACQUIRED_MOST 64u /* threads, direct-mapped */
#define ATOMIC_PENDING_MOST 32u /* threads */

struct atomic_thread {
    volatile bool inside; /* within this library: a handler's operations are not traced */
    poet_position_t position;
    const volatile void *loaded[ATOMIC_LOADED_MOST]; /* what it has read lately, direct-mapped */
    uint64_t stamp; /* of `position.last` among the events of the thread */
    poet_event_t stamped;
    /* the last event of a release operation on an object that has one */
    poet_event_t sent;
    const struct atomic_object *sent_about;
    /* where the last release fence was; thread 0: none */
    struct release_head fence;
    /* heads that relaxed loads have read, for an acquire fence */
    struct release_head pending[ATOMIC_PENDING_MOST];
    unsigned pending_count;
    bool pending_lost;
    /* what the thread is after; an entry that another one displaces costs an event */
    struct {
        poet_line_t thread;
        uint64_t stamp;
    } acquired[ATOMIC_ACQUIRED_MOST];
    /* objects of which all heads at that sequence were acquired, or are pending */
    struct {
        const struct atomic_object *object;
        uint64_t sequence;
        bool acquired;
    } seen[ATOMIC_SEEN_MOST];
};

/* Finds out where the calling thread is. Returns NULL if the operation is not traced: no server
 * records the process, or a signal handler has interrupted the thread within this library. */
struct atomic_thread *atomic_thread_get(void);
/* Returns the position of the thread, as a head without an event of its own. */
struct release_head atomic_thread_head(struct atomic_thread *thread);
bool atomic_thread_is_after(const struct atomic_thread *thread, const struct release_head *head);
void atomic_thread_acquired(struct atomic_thread *thread, const struct release_head *head);
/* Keeps a head for the next acquire fence. */
void atomic_thread_add_pending(struct atomic_thread *thread, const struct release_head *head);

static inline const volatile void **atomic_thread_loaded(struct atomic_thread *t,
                                                         const volatile void *address)
{
    return &t->loaded[(uintptr_t)address / sizeof(uint32_t) % ATOMIC_LOADED_MOST];
}

static inline bool atomic_thread_has_seen(const struct atomic_thread *t,
                                          const struct atomic_object *o, uint64_t sequence,
                                          bool acquires)
{
    unsigned i = (unsigned)((uintptr_t)o / sizeof *o % ATOMIC_SEEN_MOST);
    return t->seen[i].object == o && t->seen[i].sequence == sequence &&
           (t->seen[i].acquired || !acquires);
}

static inline void atomic_thread_note_seen(struct atomic_thread *t, const struct atomic_object *o,
                                           uint64_t sequence, bool acquires)
{
    unsigned i = (unsigned)((uintptr_t)o / sizeof *o % ATOMIC_SEEN_MOST);
    t->seen[i].object = o;
    t->seen[i].sequence = sequence;
    t->seen[i].acquired = acquires;
}

#pragma GCC visibility pop
#endif
