/* Implementation of the order that atomic operations make. */
#include "clients/libpoet/atomics/atomic_order.h"

#include "clients/libpoet/atomics/atomic_events.h"

#include <stdatomic.h>

/* Defined in units that are compiled by a standard in which a relaxed store always ends a release
 * sequence (atomics_standard.h). */
#pragma weak poet_unit_ends_release_sequences
extern const char poet_unit_ends_release_sequences[];

/* Defined by libpoet-races, if it is there: it examines an access; and it returns whether the
 * calling thread has made accesses since its last event, so that what is released now needs an
 * event to come after them. */
extern void poet_races_atomic(const volatile void *address, size_t bytes, int writes, int releases,
                              const void *site) __attribute__((weak, visibility("default")));
extern int poet_races_accessed(void) __attribute__((weak, visibility("default")));

static inline bool atomic_value_equal(struct atomic_value a, struct atomic_value b)
{
    return a.low == b.low && a.high == b.high;
}

/* Signal handlers of the thread do not enter from here on. */
static inline void atomic_order_enter(struct atomic_thread *t)
{
    t->inside = true;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void atomic_order_leave(struct atomic_thread *t)
{
    atomic_signal_fence(memory_order_seq_cst);
    t->inside = false;
}

static inline bool atomic_order_is_shared(const struct atomic_thread *t,
                                          const struct atomic_object *o)
{
    uint32_t owner = atomic_load_explicit(&o->owner, memory_order_acquire);
    return owner && owner != t->position.thread && o->lifetime == t->position.lifetime;
}

/* Notes under the lock that the thread uses the object. A thread without a line may be any. */
static inline void atomic_order_note_use(const struct atomic_thread *t, struct atomic_object *o)
{
    uint32_t owner = atomic_load_explicit(&o->owner, memory_order_relaxed), me = t->position.thread;
    if (!me || (owner && owner != me))
        atomic_store_explicit(&o->owner, ATOMIC_SHARED, memory_order_release);
    else if (!owner)
        atomic_store_explicit(&o->owner, me, memory_order_release);
}

/* Corrects under the lock what is known of the object, before it is used. */
static void atomic_order_correct(const struct atomic_thread *t, struct atomic_object *o,
                                 struct atomic_value found)
{
    bool other =
        o->lifetime != t->position.lifetime || (o->known && !atomic_value_equal(o->value, found));
    if (atomic_load_explicit(&o->overlaps, memory_order_relaxed) && !atomic_load(&o->prevails)) {
        atomic_object_prevail(o);
        other = true;
    }
    if (other)
        atomic_object_renew(o, t->position.lifetime);
    if (atomic_load_explicit(&o->given_up, memory_order_relaxed)) {
        atomic_store(&o->given_up, 0);
        atomic_object_remove_heads(o, 0);
    }
}

static inline bool atomic_order_has_accessed(void)
{
    return poet_races_accessed && poet_races_accessed();
}

/* Returns whether the object must be corrected, as far as can be seen without the lock. */
static inline bool atomic_order_is_wrong(const struct atomic_thread *t,
                                         const struct atomic_object *o, struct atomic_value found)
{
    return o->lifetime != t->position.lifetime ||
           (o->known && !atomic_value_equal(o->value, found)) ||
           (atomic_load_explicit(&o->overlaps, memory_order_relaxed) &&
            !atomic_load_explicit(&o->prevails, memory_order_relaxed)) ||
           atomic_load_explicit(&o->given_up, memory_order_relaxed);
}

/* ---- heads ---- */

/* Collects under the lock, or as a reader that validates it afterwards, the heads that the thread
 * is not after. */
static void atomic_order_collect(const struct atomic_thread *t, struct atomic_object *o,
                                 struct acquired_heads *heads)
{
    heads->count = 0;
    unsigned count = o->count;
    if (count > ATOMIC_HEADS && !__atomic_load_n(&o->more, __ATOMIC_RELAXED))
        count = ATOMIC_HEADS; /* (not yet visible: the reader will begin again) */
    for (unsigned i = 0; i < count && i < ATOMIC_HEADS_MOST; i++) {
        struct release_head head = *atomic_object_head(o, i);
        if (head.thread && !atomic_thread_is_after(t, &head))
            heads->heads[heads->count++] = head;
    }
}

static void atomic_order_synchronize(struct atomic_operation *operation, int order,
                                     const struct acquired_heads *heads)
{
    struct atomic_thread *t = operation->thread;
    if (!heads->count)
        return;
    if (atomic_order_acquires(order))
        atomic_event_record_acquire(t, operation->object, heads, operation->site);
    for (unsigned i = 0; i < heads->count && !atomic_order_acquires(order); i++)
        atomic_thread_add_pending(t, &heads->heads[i]);
}

/* Adds under the lock what the operation releases. */
static void atomic_order_release(struct atomic_operation *operation)
{
    struct atomic_thread *t = operation->thread;
    struct atomic_object *o = operation->object;
    struct release_head head = t->fence;
    if (atomic_order_releases(operation->order)) {
        head = atomic_thread_head(t);
        if (t->sent_about == o && t->sent.line == head.line && t->sent.number == head.number)
            head.line |= HEAD_SENDS;
    }
    if (head.thread)
        atomic_object_add_head(o, &head);
}

/* ---- stores and read-modify-writes ---- */

void atomic_order_begin_write(struct atomic_operation *operation, const volatile void *address,
                              size_t bytes, struct atomic_value found, bool update, bool writes)
{
    bool releases = writes;
    struct atomic_thread *t = operation->thread = atomic_thread_get();
    struct atomic_object *o = operation->object = NULL;
    operation->locked = false;
    if (!t) /* an object of before, if a handler writes: then its heads are void */
        o = atomic_object_find(address, bytes);
    if (o)
        atomic_store(&o->given_up, 1);
    if (!t)
        return;
    atomic_order_enter(t);
    o = operation->object = atomic_object_get(address, bytes);
    releases &= atomic_order_releases(operation->order);
    bool shared = o && atomic_order_is_shared(t, o) && !atomic_order_is_wrong(t, o, found);
    if (o && releases && (shared || atomic_order_has_accessed()))
        atomic_event_record_release(t, o, update ? ATOMIC_EVENT_UPDATE : ATOMIC_EVENT_STORE,
                                    (struct released){shared, atomic_order_has_accessed()},
                                    operation->site);
    if (poet_races_atomic)
        poet_races_atomic(address, bytes, writes, o && releases, operation->site);
    operation->locked = o && atomic_object_lock(o);
    if (!operation->locked) {
        operation->object = NULL;
        atomic_order_leave(t);
    }
}

/* Ends the part under the lock. */
static void atomic_order_unlock(struct atomic_operation *operation)
{
    struct atomic_object *o = operation->object;
    atomic_order_note_use(operation->thread, o);
    atomic_object_unlock(o);
}

void atomic_order_end_store(struct atomic_operation *operation, struct atomic_value found,
                            struct atomic_value stored)
{
    struct atomic_thread *t = operation->thread;
    struct atomic_object *o = operation->object;
    if (!o)
        return;
    atomic_order_correct(t, o, found);
    bool continues = !atomic_order_releases(operation->order) && !poet_unit_ends_release_sequences;
    atomic_object_remove_heads(o, continues ? t->position.thread : 0);
    atomic_order_release(operation);
    o->value = stored;
    o->known = 1;
    atomic_order_unlock(operation);
    atomic_order_leave(t);
}

/* Ends an operation that has read the object, with what it holds now. */
static void atomic_order_end_read(struct atomic_operation *operation, struct atomic_value found,
                                  struct atomic_value now, int order, bool updates)
{
    struct atomic_thread *t = operation->thread;
    struct atomic_object *o = operation->object;
    struct acquired_heads heads;
    if (!o)
        return;
    atomic_order_correct(t, o, found);
    atomic_order_collect(t, o, &heads);
    if (updates)
        atomic_order_release(operation);
    o->value = now;
    o->known = 1;
    atomic_order_unlock(operation);
    atomic_order_synchronize(operation, order, &heads);
    atomic_order_leave(t);
}

void atomic_order_end_update(struct atomic_operation *operation, struct atomic_value found,
                             struct atomic_value stored)
{
    atomic_order_end_read(operation, found, stored, operation->order, true);
}

void atomic_order_end_failure(struct atomic_operation *operation, struct atomic_value found,
                              int order)
{
    atomic_order_end_read(operation, found, found, order, false);
}

/* ---- loads ---- */

/* Another thread uses the object from now on, or it is another one: says so under the lock. */
static void atomic_order_correct_by_load(struct atomic_operation *operation,
                                         struct atomic_value found, bool wrong)
{
    struct atomic_object *o = operation->object;
    if (!atomic_object_lock(o)) {
        operation->passes = true;
        return;
    }
    bool unchanged =
        atomic_load_explicit(&o->sequence, memory_order_relaxed) == operation->sequence + 1;
    if (wrong && unchanged)
        atomic_order_correct(operation->thread, o, found);
    atomic_order_unlock(operation);
}

void atomic_order_begin_load(struct atomic_operation *operation, const volatile void *address,
                             size_t bytes)
{
    struct atomic_thread *t = operation->thread = atomic_thread_get();
    struct atomic_object *o = t ? atomic_object_find(address, bytes) : NULL;
    if (t && !o && atomic_object_has_overlapping(address, bytes))
        o = atomic_object_get(address, bytes);
    operation->object = o;
    operation->locked = operation->passes = false;
    operation->address = address;
    operation->bytes = bytes;
    if (t)
        *atomic_thread_loaded(t, address) = address;
    if (t && poet_races_atomic)
        poet_races_atomic(address, bytes, false, false, operation->site);
    if (!o)
        return;
    operation->sequence = atomic_object_await(o);
    operation->passes = operation->sequence & 1;
    if (operation->passes)
        poet_untraced_atomics("an atomic object, since a writer of it did not run for a second");
}

bool atomic_order_end_load(struct atomic_operation *operation, struct atomic_value found)
{
    struct atomic_thread *t = operation->thread;
    struct atomic_object *o = operation->object;
    struct acquired_heads heads;
    if (!o) /* if the first store was made meanwhile, its value may have been read */
        return !t || !atomic_object_find(operation->address, operation->bytes);
    if (operation->passes)
        return true;
    bool acquires = atomic_order_acquires(operation->order);
    bool wrong = atomic_order_is_wrong(t, o, found);
    bool alone = atomic_load_explicit(&o->owner, memory_order_relaxed) == t->position.thread;
    bool seen = atomic_thread_has_seen(t, o, operation->sequence, acquires);
    heads.count = 0;
    if (!wrong && !alone && !seen)
        atomic_order_collect(t, o, &heads);
    bool news = !atomic_order_is_shared(t, o) ? !alone : atomic_load(&o->owner) != ATOMIC_SHARED;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&o->sequence, memory_order_relaxed) != operation->sequence)
        return false;
    if (!wrong && (alone || seen))
        return true;
    atomic_order_enter(t);
    if (wrong || news)
        atomic_order_correct_by_load(operation, found, wrong);
    else
        atomic_thread_note_seen(t, o, operation->sequence, acquires);
    atomic_order_synchronize(operation, operation->order, &heads);
    atomic_order_leave(t);
    return true;
}

/* ---- futexes ---- */

/* Called by libpoet: a thread reads the word by an atomic load before it waits, and another one has
 * written it before it wakes that one. */
extern int poet_atomics_follow(const void *word) __attribute__((visibility("default")));
int poet_atomics_follow(const void *word)
{
    struct atomic_thread *t = atomic_thread_get();
    return t &&
           (*atomic_thread_loaded(t, word) == word || atomic_object_find(word, sizeof(uint32_t)));
}

/* ---- fences ---- */

void atomic_order_fence(int order, const void *site)
{
    struct atomic_thread *t = atomic_thread_get();
    struct acquired_heads heads = {0};
    if (!t)
        return;
    atomic_order_enter(t);
    for (unsigned i = 0; atomic_order_acquires(order) && i < t->pending_count; i++)
        if (!atomic_thread_is_after(t, &t->pending[i]))
            heads.heads[heads.count++] = t->pending[i];
    if (heads.count)
        atomic_event_record_acquire(t, NULL, &heads, site);
    if (atomic_order_acquires(order)) {
        t->pending_count = 0;
        if (t->pending_lost)
            poet_untraced_atomics("relaxed loads of what too many threads released");
        t->pending_lost = false;
    }
    if (atomic_order_releases(order)) {
        if (atomic_order_has_accessed())
            atomic_event_record_fence(site);
        poet_position(&t->position);
        t->fence = atomic_thread_head(t);
    }
    atomic_order_leave(t);
}
