/* Table of the atomic objects of the process, by address and size: which store wrote the value that
 * is there, and with which events a reader of it synchronizes. It holds up to 2^19 objects, in
 * memory that is only touched as it is used; entries are never removed.
 *
 * A traced writer holds the object's lock, an odd `sequence`, from before the real operation until
 * the entry says what it wrote. Readers take no lock: what they have read is valid if `sequence`
 * was even and has not changed. Each wait is bounded. A child of fork begins with an empty
 * table. */
#ifndef CLIENTS_LIBPOET_ATOMICS_ATOMIC_OBJECTS_H
#define CLIENTS_LIBPOET_ATOMICS_ATOMIC_OBJECTS_H

#include "clients/libpoet/poet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define ATOMIC_HEADS 4u /* in an entry, */
#define ATOMIC_HEADS_MORE 60u /* and beside it, if it needs more */
#define ATOMIC_HEADS_MOST (ATOMIC_HEADS + ATOMIC_HEADS_MORE)
#define ATOMIC_SHARED UINT32_MAX /* as `owner`: several threads have used the object */

/* With what an acquire operation that reads from a release sequence synchronizes: a thread up to
 * an event. Positions of one thread are ordered by `stamp`. */
struct release_head {
    poet_line_t thread;
    poet_line_t line; /* HEAD_SENDS set: the event is of a message, else any event */
    uint64_t number, stamp;
};
#define HEAD_SENDS 0x80000000u

/* A value of up to 16 bytes. */
struct atomic_value {
    uint64_t low, high;
};

struct atomic_object {
    _Atomic uint64_t key; /* address and size; 0: free */
    _Atomic uint64_t sequence; /* how often it changed, times 2; odd: a writer is at work */
    _Atomic uint32_t owner; /* the line of the one thread that has used it, ATOMIC_SHARED, or 0 */
    uint32_t lifetime; /* in which its lines and events are valid */
    _Atomic poet_line_t line; /* 0: not opened yet */
    uint8_t known; /* `value` is what the last traced operation left there */
    uint8_t count; /* of heads */
    _Atomic uint8_t overlaps; /* there are entries of other sizes for the same bytes, */
    _Atomic uint8_t prevails; /*   and this is the size of the last access */
    _Atomic uint8_t given_up; /* an operation was made without the lock: the heads are void */
    struct atomic_value value;
    struct release_head heads[ATOMIC_HEADS];
    struct release_head *more; /* ATOMIC_HEADS_MORE; NULL: not needed yet */
    /* the sequence for which a thread has waited too long: no thread waits again, since the writer
     * may have been canceled, or have left by a longjmp of a handler */
    _Atomic uint64_t stuck;
    _Atomic uint32_t switches; /* how often the size of its accesses changed */
} __attribute__((aligned(64)));

/* Returns the object, or NULL if there is none. */
struct atomic_object *atomic_object_find(const volatile void *address, size_t bytes);
/* Returns whether there is an object of another size with some of these bytes. */
bool atomic_object_has_overlapping(const volatile void *address, size_t bytes);
/* Returns the object, created if needed, or NULL if the table is full: that is reported. */
struct atomic_object *atomic_object_get(const volatile void *address, size_t bytes);
/* Returns false if the lock could not be had within a bound. */
bool atomic_object_lock(struct atomic_object *object);
void atomic_object_unlock(struct atomic_object *object);
/* Waits, bounded, until no writer is at work. Returns the sequence; odd: one still is. */
uint64_t atomic_object_await(struct atomic_object *object);
static inline struct release_head *atomic_object_head(struct atomic_object *o, unsigned i)
{
    return i < ATOMIC_HEADS ? &o->heads[i] : &o->more[i - ATOMIC_HEADS];
}
/* The following need the lock. Adds a head, in place of an older one of its thread. */
void atomic_object_add_head(struct atomic_object *object, const struct release_head *head);
/* Removes all heads, except those of that thread (0: none). */
void atomic_object_remove_heads(struct atomic_object *object, poet_line_t except);
/* From now on another object is there. */
void atomic_object_renew(struct atomic_object *object, uint32_t lifetime);
/* The bytes were last accessed in this size: what is known of other sizes is void. */
void atomic_object_prevail(struct atomic_object *object);

#pragma GCC visibility pop
#endif
