#define _GNU_SOURCE
#include "server/taking/hand.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define BUFFERS_MOST (HAND_BYTES / BUFFER_BYTES) /* that are kept though nobody needs them: */
#define BUFFERS_LEAST                                                                              \
    3u /* memory that is new takes longer than to fill it; when all rests, so many */

static _Atomic uint64_t in_memory; /* bytes of all hands */

/* ---- buffers ---- */

static struct {
    pthread_mutex_t lock;
    uint8_t *free[BUFFERS_MOST];
    size_t count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint8_t *buffer_take(void)
{
    pthread_mutex_lock(&pool.lock);
    uint8_t *buffer = pool.count ? pool.free[--pool.count] : NULL;
    pthread_mutex_unlock(&pool.lock);
    return buffer ? buffer : memory_aligned(64, BUFFER_BYTES);
}

void buffer_give(uint8_t *buffer)
{
    pthread_mutex_lock(&pool.lock);
    if (pool.count < BUFFERS_MOST) {
        pool.free[pool.count++] = buffer;
        buffer = NULL;
    }
    pthread_mutex_unlock(&pool.lock);
    free(buffer);
}

void buffers_rest(void)
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

void hand_begin(struct hand *hand)
{
    *hand = (struct hand){0};
    pthread_mutex_init(&hand->lock, NULL);
}

void hand_end(struct hand *hand)
{
    for (struct stretch *s; (s = hand_take(hand)) != NULL;)
        stretch_free(s);
    pthread_mutex_destroy(&hand->lock);
}

static uint64_t room_of(const struct stretch *s) { return s->buffer ? BUFFER_BYTES : s->size; }

void stretch_free(struct stretch *stretch)
{
    if (stretch->bytes)
        atomic_fetch_sub(&in_memory, room_of(stretch));
    if (stretch->buffer)
        buffer_give(stretch->bytes);
    else
        free(stretch->bytes);
    free(stretch);
}

/* Keeps the bytes in memory, if there is room. */
static uint8_t *keep(struct stretch *s, uint8_t *bytes)
{
    s->buffer &= s->size > BUFFER_BYTES / 4;
    if (atomic_fetch_add(&in_memory, room_of(s)) + room_of(s) > HAND_BYTES && !s->unwritten) {
        atomic_fetch_sub(&in_memory, room_of(s));
        s->buffer = false;
        return bytes;
    }
    s->bytes = s->buffer ? bytes : memory_bytes(s->size);
    if (s->buffer)
        return buffer_take();
    memcpy(s->bytes, bytes, s->size);
    return bytes;
}

/* Places that lie behind each other are one. */
static bool joins(const struct stretch *last, const struct stretch *s)
{
    return last && !last->bytes && !s->bytes && last->epoch == s->epoch &&
           last->at + last->size == s->at && last->size + s->size <= BUFFER_BYTES;
}

void hand_put_read(struct hand *hand, struct stretch stretch)
{
    struct stretch *s = memory_bytes(sizeof *s);
    *s = stretch;
    s->next = NULL;
    atomic_fetch_add(&hand->ahead, s->size);
    pthread_mutex_lock(&hand->lock);
    if (joins(hand->last, s)) {
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

uint8_t *hand_put(struct hand *hand, struct stretch stretch, uint8_t *bytes)
{
    bytes = keep(&stretch, bytes);
    hand_put_read(hand, stretch);
    return bytes;
}

struct stretch *hand_take(struct hand *hand)
{
    pthread_mutex_lock(&hand->lock);
    struct stretch *s = hand->first;
    if (s)
        hand->first = s->next;
    if (!hand->first)
        hand->last = NULL;
    pthread_mutex_unlock(&hand->lock);
    return s;
}

void hand_told(struct hand *hand, uint64_t bytes) { atomic_fetch_sub(&hand->ahead, bytes); }

uint64_t hand_ahead(const struct hand *hand) { return atomic_load(&hand->ahead); }

uint64_t hand_since(struct hand *hand)
{
    pthread_mutex_lock(&hand->lock);
    uint64_t since = hand->first ? hand->first->taken_ns : 0;
    pthread_mutex_unlock(&hand->lock);
    return since;
}
