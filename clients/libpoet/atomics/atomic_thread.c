/* Implementation of the state of the calling thread. */
#include "clients/libpoet/atomics/atomic_thread.h"

#include <stdatomic.h>
#include <string.h>

static __thread struct atomic_thread atomic_thread_state;
/* It is too large for the room that the loader has for a library that is opened later; a pointer
 * to it is not, and is found faster. */
static __thread struct atomic_thread *atomic_thread_mine __attribute__((tls_model("initial-exec")));
/* Stamps increase along each thread, and along each task, whichever thread runs it. */
static _Atomic uint64_t atomic_thread_stamps;

/* Another task, another lifetime, or the child of a fork: nothing is known. */
static void atomic_thread_begin(struct atomic_thread *t)
{
    poet_position_t position = t->position;
    memset(t, 0, sizeof *t);
    t->position = position;
}

struct atomic_thread *atomic_thread_get(void)
{
    struct atomic_thread *t = atomic_thread_mine;
    if (__builtin_expect(!t, 0))
        t = atomic_thread_mine = &atomic_thread_state;
    if (t->inside) {
        poet_untraced_atomics("atomic operations of a signal handler in the midst of another one");
        return NULL;
    }
    poet_line_t thread = t->position.thread;
    uint32_t lifetime = t->position.lifetime;
    poet_position(&t->position);
    if (!t->position.lifetime)
        return NULL;
    if (!t->position.last.line && poet_busy()) { /* a handler has interrupted libpoet */
        poet_untraced_atomics("atomic operations of a signal handler");
        return NULL;
    }
    if (thread != t->position.thread || lifetime != t->position.lifetime)
        atomic_thread_begin(t);
    return t;
}

struct release_head atomic_thread_head(struct atomic_thread *t)
{
    poet_event_t last = t->position.last;
    if (!t->position.thread || !last.line)
        return (struct release_head){0};
    if (t->stamped.line != last.line || t->stamped.number != last.number) {
        t->stamp = atomic_fetch_add_explicit(&atomic_thread_stamps, 1, memory_order_relaxed) + 1;
        t->stamped = last;
    }
    return (struct release_head){
        .thread = t->position.thread, .line = last.line, .number = last.number, .stamp = t->stamp};
}

bool atomic_thread_is_after(const struct atomic_thread *t, const struct release_head *head)
{
    unsigned i = head->thread % ATOMIC_ACQUIRED_MOST;
    return head->thread == t->position.thread ||
           (t->acquired[i].thread == head->thread && t->acquired[i].stamp >= head->stamp);
}

void atomic_thread_acquired(struct atomic_thread *t, const struct release_head *head)
{
    unsigned i = head->thread % ATOMIC_ACQUIRED_MOST;
    if (t->acquired[i].thread == head->thread && t->acquired[i].stamp >= head->stamp)
        return;
    t->acquired[i].thread = head->thread;
    t->acquired[i].stamp = head->stamp;
}

void atomic_thread_add_pending(struct atomic_thread *t, const struct release_head *head)
{
    for (unsigned i = 0; i < t->pending_count; i++)
        if (t->pending[i].thread == head->thread) {
            if (t->pending[i].stamp < head->stamp)
                t->pending[i] = *head;
            return;
        }
    if (t->pending_count == ATOMIC_PENDING_MOST)
        t->pending_lost = true;
    else
        t->pending[t->pending_count++] = *head;
}
