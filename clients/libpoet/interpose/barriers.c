/* Barriers. Each thread arrives before the call and passes after it; the passes of one round are
 * one synchronization point. The rounds are counted by arrivals. A thread that is counted before
 * another one may still arrive after it at the real barrier, and swap rounds with it; but not once
 * some thread has returned from the previous round. So a round is known if no thread had arrived
 * for the next one when its first thread returned; always so if no more threads use the barrier
 * than it waits for. After an unknown round all are unknown, until no thread is in the barrier any
 * more. */
#define _GNU_SOURCE
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/hidden_uses.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/fork_reset.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/program_messages.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const char SERIAL[] = "serial";
static const char NOT_KNOWN[] = "other participants are unknown: more threads use the barrier";

struct rounds {
    latch lock;
    _Atomic unsigned keepers; /* references: the barrier, and all waiters */
    struct rounds *next_free;
    uint64_t serial;
    pid_t owner;
    uint64_t arrivals, returns;
    uint64_t from, sure; /* of the rounds from `from` on, those below `sure` are known */
    bool crowded; /* a round is not known */
    unsigned size;
    _Atomic uint32_t declared; /* the line for which the server knows the size */
};

static latch pool_lock;
static struct rounds *pool;
static _Atomic uint64_t next_serial;

static struct rounds *rounds_new(unsigned size)
{
    if (size < 1 || size > LIMIT_GROUP)
        return NULL;
    latch_lock(&pool_lock);
    struct rounds *r = pool;
    if (r)
        pool = r->next_free;
    latch_unlock(&pool_lock);
    if (!r)
        r = tracer_arena_alloc(sizeof *r);
    if (r)
        *r = (struct rounds){.keepers = 1,
                             .size = size,
                             .owner = getpid(),
                             .serial = atomic_fetch_add(&next_serial, 1)};
    return r;
}

static void rounds_release(struct rounds *r)
{
    if (!r || atomic_fetch_sub(&r->keepers, 1) != 1)
        return;
    latch_lock(&pool_lock);
    r->next_free = pool;
    pool = r;
    latch_unlock(&pool_lock);
}

void barriers_forked(void)
{
    pool = NULL;
    latch_reset(&pool_lock);
}

/* Returns the round that a thread arrives for. */
static uint64_t barrier_arrive(struct rounds *r, bool by_recorded)
{
    latch_lock(&r->lock);
    if (r->arrivals == r->returns && r->crowded) { /* all have left: known again */
        r->crowded = false;
        r->from = r->sure = r->arrivals / r->size;
    }
    uint64_t round = r->arrivals++ / r->size;
    if (!by_recorded)
        r->crowded = true;
    latch_unlock(&r->lock);
    return round;
}

/* A thread returns from a round. Returns whether all that pass it will be recorded. */
static bool barrier_return(struct rounds *r, uint64_t round)
{
    latch_lock(&r->lock);
    r->returns++;
    if (!r->crowded && round >= r->sure) { /* the first thread of the round */
        r->crowded = round > r->sure || r->arrivals > (round + 1) * r->size;
        r->sure = r->crowded ? r->sure : round + 1;
    }
    bool sure = r->size == 1 || (round >= r->from && round < r->sure);
    latch_unlock(&r->lock);
    return sure;
}

/* A group event has one member on each line, and a read-write lock may be held by several of
 * them. */
static struct trace_line *barrier_thread_place(struct traced_thread *t)
{
    struct trace_line *place = thread_place(t);
    const struct object_hold *top =
        t->hold_stack.count ? &t->hold_stack.holds[t->hold_stack.count - 1] : NULL;
    return top && top->object && top->object->kind == SYNC_RWLOCK ? t->own : place;
}

/* serial: this thread got PTHREAD_BARRIER_SERIAL_THREAD. */
static void barrier_record_passed(struct traced_thread *t, struct trace_line *barrier,
                                  struct rounds *r, uint64_t round, bool sure, bool serial,
                                  uintptr_t site)
{
    bool group = sure && r->size > 1;
    const char *text = !sure ? NOT_KNOWN : group && serial ? SERIAL : "";
    record_write(
        t,
        &(struct record){.shape = TYPE_PASSED,
                         .flags = (uint16_t)((group ? RELATION_GROUP | SLOT_KEYED : 0) |
                                             (*text ? SLOT_TEXT : 0) |
                                             (sure ? 0 : SLOT_DOUBT(UNTRACED_BARRIER))),
                         .a = barrier_thread_place(t),
                         .take_a = 1,
                         .about = atomic_load(&barrier->index),
                         .site = site,
                         .key = group ? tracer.process.instance ^ 0xba77135ba77135 : 0,
                         .partner = {0, group ? r->serial << 40 | (round & 0xffffffffffu) : 0},
                         .count = group ? r->size : 0,
                         .payload = text,
                         .payload_bytes = (uint32_t)strlen(text)},
        NULL);
    record_mark_nonempty();
}

static struct rounds *rounds_of(struct sync_object *o)
{
    struct rounds *r = o ? atomic_load(&o->rounds) : NULL;
    /* state from the time of the fork */
    if (r && r->owner != getpid())
        return NULL;
    if (r)
        atomic_fetch_add(&r->keepers, 1);
    return r;
}

/* Tells the server how many threads a round has, once for each line. */
static void barrier_declare_size(struct traced_thread *t, struct rounds *r, uint32_t line)
{
    uint8_t bytes[8];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    if (LIKELY(atomic_load_explicit(&r->declared, memory_order_relaxed) == line))
        return;
    atomic_store_explicit(&r->declared, line, memory_order_relaxed);
    encode_participants(&body, &(struct participants_message){line, r->size});
    message_queue_send(t, MESSAGE_PARTICIPANTS, &body);
}

ENTRY(int, pthread_barrier_wait, (pthread_barrier_t * b), b)
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct sync_object *o =
        t ? sync_object_get(b, SYNC_BARRIER) : sync_object_find(b, SYNC_BARRIER);
    int saved = errno;
    struct trace_line *line = t && o ? sync_object_line(t, o, false) : NULL;
    struct rounds *r = rounds_of(o);
    uint64_t round = r ? barrier_arrive(r, line != NULL) : 0;
    struct trace_line about = {.index = line ? atomic_load(&line->index) : 0};
    if (line && r)
        barrier_declare_size(t, r, about.index);
    if (line) {
        record_request(t, TYPE_ARRIVE, barrier_thread_place(t), about.index, site);
        instrument_wait_begin(t, TYPE_ARRIVE, site);
    }
    struct sync_object *hidden = !line ? hidden_use_object(b, SYNC_BARRIER) : NULL;
    errno = saved;
    int result = real_functions.barrier_wait(b); /* and now b may be gone */
    saved = errno;
    if (UNLIKELY(replay_is_active()) && line &&
        (result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD))
        result = thread_schedule_next_has_text(t, TYPE_PASSED, SERIAL, result != 0)
                     ? PTHREAD_BARRIER_SERIAL_THREAD
                     : 0;
    bool sure = r && barrier_return(r, round);
    if (line) {
        instrument_wait_end(t, TYPE_ARRIVE);
        barrier_record_passed(t, &about, r, round, sure, result == PTHREAD_BARRIER_SERIAL_THREAD,
                              site);
    } else if (hidden) {
        hidden_use_mark_uncertain(hidden);
    }
    rounds_release(r);
    errno = saved;
    return result;
}

static bool is_private(const pthread_barrierattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    return !attributes || (pthread_barrierattr_getpshared(attributes, &shared) == 0 &&
                           shared == PTHREAD_PROCESS_PRIVATE);
}

static void barrier_forget(pthread_barrier_t *b)
{
    struct sync_object *o = sync_object_find(b, SYNC_BARRIER);
    if (!o)
        return;
    rounds_release(atomic_exchange(&o->rounds, NULL));
    sync_object_destroy(b, SYNC_BARRIER);
}

ENTRY(int, pthread_barrier_init,
      (pthread_barrier_t * b, const pthread_barrierattr_t *attributes, unsigned count), b,
      attributes, count)
{
    real_find();
    int result = real_functions.barrier_init(b, attributes, count), saved = errno;
    if (result == 0) {
        barrier_forget(b);
        sync_object_forget_destroyed(b, SYNC_BARRIER);
        struct sync_object *o = sync_object_get(b, SYNC_BARRIER);
        if (o && is_private(attributes))
            atomic_store(&o->rounds, rounds_new(count));
    }
    (void)site;
    errno = saved;
    return result;
}

/* The real function first waits until all have passed; they hold references to the rounds, not to
 * the barrier. */
ENTRY(int, pthread_barrier_destroy, (pthread_barrier_t * b), b)
{
    real_find();
    sync_object_record_destroy(b, SYNC_BARRIER, site);
    thread_futex_begin(
        site ? thread_recording() : NULL,
        (struct futex_wait){(uintptr_t)b, site, (uintptr_t)real_functions.barrier_destroy, 0});
    int result = real_functions.barrier_destroy(b);
    thread_futex_end();
    if (result == 0)
        barrier_forget(b);
    return result;
}
