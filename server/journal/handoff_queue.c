#define _GNU_SOURCE
#include "server/journal/handoff_queue.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define BUFFERS_MOST                                                                               \
    (HANDOFF_QUEUE_BYTES / HANDOFF_BUFFER_BYTES) /* unused buffers kept for the next burst */
#define BUFFERS_LEAST                                                                              \
    3u /* memory that is new takes longer than to fill it; when all rests, so many */

static _Atomic uint64_t in_memory; /* bytes of all hands */

/* ---- buffers ---- */

static struct {
    pthread_mutex_t lock;
    uint8_t *free[BUFFERS_MOST];
    size_t count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint8_t *handoff_buffer_acquire(void)
{
    pthread_mutex_lock(&pool.lock);
    uint8_t *buffer = pool.count ? pool.free[--pool.count] : NULL;
    pthread_mutex_unlock(&pool.lock);
    return buffer ? buffer : xaligned_alloc(64, HANDOFF_BUFFER_BYTES);
}

void handoff_buffer_release(uint8_t *buffer)
{
    pthread_mutex_lock(&pool.lock);
    if (pool.count < BUFFERS_MOST) {
        pool.free[pool.count++] = buffer;
        buffer = NULL;
    }
    pthread_mutex_unlock(&pool.lock);
    free(buffer);
}

void handoff_buffers_trim(void)
{
    for (;;) {
        pthread_mutex_lock(&pool.lock);
        uint8_t *buffer = pool.count > BUFFERS_LEAST ? pool.free[--pool.count] : NULL;
        pthread_mutex_unlock(&pool.lock);
        if (!buffer)
            return;
        free(buffer);
    }
}

/* ---- stretches ---- */

void handoff_queue_begin(struct handoff_queue *hand)
{
    *hand = (struct handoff_queue){0};
    pthread_mutex_init(&hand->lock, NULL);
}

void handoff_queue_end(struct handoff_queue *hand)
{
    for (struct handoff_extent *s; (s = handoff_queue_pop(hand)) != NULL;)
        handoff_extent_free(s);
    pthread_mutex_destroy(&hand->lock);
}

static uint64_t room_of(const struct handoff_extent *s)
{
    return s->buffer ? HANDOFF_BUFFER_BYTES : s->size;
}

void handoff_extent_free(struct handoff_extent *stretch)
{
    if (stretch->bytes)
        atomic_fetch_sub(&in_memory, room_of(stretch));
    if (stretch->buffer)
        handoff_buffer_release(stretch->bytes);
    else
        free(stretch->bytes);
    free(stretch);
}

/* Keeps the bytes in memory, if there is room. */
static uint8_t *handoff_queue_keep_bytes(struct handoff_extent *s, uint8_t *bytes)
{
    s->buffer &= s->size > HANDOFF_BUFFER_BYTES / 4;
    if (atomic_fetch_add(&in_memory, room_of(s)) + room_of(s) > HANDOFF_QUEUE_BYTES &&
        !s->unwritten) {
        atomic_fetch_sub(&in_memory, room_of(s));
        s->buffer = false;
        return bytes;
    }
    s->bytes = s->buffer ? bytes : xmalloc(s->size);
    if (s->buffer)
        return handoff_buffer_acquire();
    memcpy(s->bytes, bytes, s->size);
    return bytes;
}

/* Places that lie behind each other are one. */
static bool handoff_queue_is_adjacent(const struct handoff_extent *last,
                                      const struct handoff_extent *s)
{
    return last && !last->bytes && !s->bytes && last->epoch == s->epoch &&
           last->at + last->size == s->at && last->size + s->size <= HANDOFF_BUFFER_BYTES;
}

void handoff_queue_push_written(struct handoff_queue *hand, struct handoff_extent stretch)
{
    struct handoff_extent *s = xmalloc(sizeof *s);
    *s = stretch;
    s->next = NULL;
    atomic_fetch_add(&hand->ahead, s->size);
    pthread_mutex_lock(&hand->lock);
    if (handoff_queue_is_adjacent(hand->last, s)) {
        hand->last->size += s->size;
        free(s);
    } else {
        if (hand->last)
            hand->last->next = s;
        else
            hand->first = s;
        hand->last = s;
    }
    pthread_mutex_unlock(&hand->lock);
}

uint8_t *handoff_queue_push(struct handoff_queue *hand, struct handoff_extent stretch,
                            uint8_t *bytes)
{
    bytes = handoff_queue_keep_bytes(&stretch, bytes);
    handoff_queue_push_written(hand, stretch);
    return bytes;
}

struct handoff_extent *handoff_queue_pop(struct handoff_queue *hand)
{
    pthread_mutex_lock(&hand->lock);
    struct handoff_extent *s = hand->first;
    if (s)
        hand->first = s->next;
    if (!hand->first)
        hand->last = NULL;
    pthread_mutex_unlock(&hand->lock);
    return s;
}

void handoff_queue_mark_delivered(struct handoff_queue *hand, uint64_t bytes)
{
    atomic_fetch_sub(&hand->ahead, bytes);
}

uint64_t handoff_queue_lag(const struct handoff_queue *hand) { return atomic_load(&hand->ahead); }

uint64_t handoff_queue_oldest_ns(struct handoff_queue *hand)
{
    pthread_mutex_lock(&hand->lock);
    uint64_t since = hand->first ? hand->first->taken_ns : 0;
    pthread_mutex_unlock(&hand->lock);
    return since;
}
