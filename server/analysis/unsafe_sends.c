/* Sends that return only since their messages are buffered: cycles in which each thread would wait
 * for ever if a send returned when its message is received.
 *
 * The messages of the run are exchanged again in the recorded pairs, with sends that wait until the
 * receiver requests the message.  Receives from any source, and those that do not block, are taken
 * as requested from the beginning: with them the pairs or their order could differ. */
#include "base/alloc.h"
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>

#define UNSAFE_ITEMS_MOST 1000000u

struct unsafe_send_item {
    uint64_t position; /* of the send; of the request of a receive */
    uint32_t thread; /* index */
    uint32_t about; /* the line to which the message is sent */
    uint32_t place;
    uint32_t with; /* 1 + index of the receive of a send, or of the send of a receive; 0: unknown */
    uint32_t next; /* 1 + index of the next one of the thread; 0: none */
    bool sends;
    bool blocks; /* a receive that is requested no earlier than the thread comes to it */
    bool reached; /* the thread has come to it */
};

struct unsafe_send_thread {
    uint32_t line, first, last, at; /* 1 + index of items; at: 0: the thread is done */
    uint32_t seen; /* the search for a cycle that came to it last */
};

struct unsafe_sends {
    struct unsafe_send_item *items; /* sends and receives, in the order of the log */
    size_t count, room;
    struct unsafe_send_thread *threads;
    size_t thread_count, thread_room;
    struct map thread_of, item_of; /* line -> 1 + thread; position of a send -> 1 + item */
    struct map found; /* hash of call sites -> 1 + index of findings */
};

/* ---- messages ---- */

static uint32_t unsafe_send_thread_of(struct unsafe_sends *u, uint32_t line)
{
    return (uint32_t)MAP_INDEX(&u->thread_of, line, 0, u->threads, u->thread_count, u->thread_room,
                               (struct unsafe_send_thread){.line = line});
}

/* Returns 1 + the index of the new item. */
static uint32_t unsafe_send_add(struct unsafe_sends *u, struct unsafe_send_item item)
{
    u->items = array_reserve(u->items, &u->room, u->count + 1, sizeof *u->items);
    u->items[u->count++] = item;
    struct unsafe_send_thread *t = &u->threads[item.thread];
    if (t->last)
        u->items[t->last - 1].next = (uint32_t)u->count;
    else
        t->first = (uint32_t)u->count;
    return t->last = (uint32_t)u->count;
}

/* Takes a blocking send, or a receive, into account; ignores other operations. */
static void unsafe_sends_feed(void *predictor, const struct sync_op *d)
{
    struct unsafe_sends *u = predictor;
    bool sends = d->is == SYNC_OP_SEND;
    if ((!sends && d->is != SYNC_OP_MESSAGE) || u->count == UNSAFE_ITEMS_MOST)
        return;
    struct unsafe_send_item item = {.position = sends || d->any ? d->position : d->began,
                                    .thread = unsafe_send_thread_of(u, d->thread),
                                    .about = d->about,
                                    .place = d->place,
                                    .sends = sends,
                                    .blocks = !sends && !d->any};
    if (!sends) {
        item.with = (uint32_t)(uintptr_t)map_get(&u->item_of, d->sent, 0);
        uint32_t probe = item.with ? u->items[item.with - 1].with : 0;
        item.blocks &= !probe || u->items[probe - 1].blocks; /* it receives what was found */
    }
    uint32_t i = unsafe_send_add(u, item);
    if (sends)
        map_put(&u->item_of, d->position, 0, (void *)(uintptr_t)i);
    else if (item.with)
        u->items[item.with - 1].with = i; /* that of the receive, if it was probed before */
}

/* ---- the run with sends that wait ---- */

static bool unsafe_send_may_continue(const struct unsafe_sends *u, const struct unsafe_send_item *i)
{
    const struct unsafe_send_item *with = i->with ? &u->items[i->with - 1] : NULL;
    return !with || with->reached || (i->sends && !with->blocks);
}

/* Advances a thread, and those that it unblocks. */
static void unsafe_send_advance(struct unsafe_sends *u, uint32_t *queue, uint32_t thread)
{
    uint32_t count = 0;
    queue[count++] = thread;
    while (count) {
        struct unsafe_send_thread *t = &u->threads[queue[--count]];
        while (t->at) {
            struct unsafe_send_item *i = &u->items[t->at - 1];
            bool first = !i->reached;
            i->reached = true;
            const struct unsafe_send_item *with = first && i->with ? &u->items[i->with - 1] : NULL;
            if (with && u->threads[with->thread].at == i->with && with->thread != i->thread) {
                /* continue with this thread when that one is blocked again */
                queue[count++] = i->thread;
                t = &u->threads[with->thread];
                continue;
            }
            if (!unsafe_send_may_continue(u, i))
                break;
            t->at = i->next;
        }
    }
}

/* Returns the thread for which a blocked thread waits. */
static uint32_t unsafe_send_awaited(const struct unsafe_sends *u, uint32_t thread)
{
    return u->items[u->items[u->threads[thread].at - 1].with - 1].thread;
}

static uint64_t unsafe_send_cycle_hash(const struct unsafe_sends *u, uint32_t first)
{
    uint64_t sum = 0;
    uint32_t t = first;
    do {
        uint64_t place = u->items[u->threads[t].at - 1].place;
        sum += (place + 1) * 0x9e3779b97f4a7c15u ^ place << 32;
        t = unsafe_send_awaited(u, t);
    } while (t != first);
    return sum;
}

static void unsafe_send_add_finding(struct unsafe_sends *u, uint32_t first,
                                    struct findings *findings)
{
    uint64_t hash = unsafe_send_cycle_hash(u, first);
    if (findings_count_again(findings, &u->found, hash, 0))
        return;
    struct finding *f = findings_add(findings, FINDING_UNSAFE_SEND);
    uint32_t t = first;
    do {
        const struct unsafe_send_item *i = &u->items[u->threads[t].at - 1],
                                      *with = &u->items[i->with - 1];
        finding_add_participant(f, (struct finding_participant){
                                       .thread = u->threads[t].line,
                                       .lock = i->sends ? i->about : u->threads[with->thread].line,
                                       .position = i->position,
                                       .then = i->sends ? with->position : NO_POSITION,
                                       .begin = NO_POSITION});
        t = unsafe_send_awaited(u, t);
    } while (t != first);
    findings_remember_last(findings, &u->found, hash, 0);
}

/* Resolves the cycle to which a blocked thread leads, as buffers do. */
static void unsafe_send_resolve(struct unsafe_sends *u, uint32_t *queue, uint32_t thread,
                                uint32_t search, struct findings *findings)
{
    uint32_t first = thread, freed = thread;
    bool sends = false;
    while (u->threads[first].seen != search) {
        u->threads[first].seen = search;
        first = unsafe_send_awaited(u, first);
    }
    uint32_t t = first;
    do {
        bool one = u->items[u->threads[t].at - 1].sends;
        freed = one || t == first ? t : freed;
        sends |= one;
        t = unsafe_send_awaited(u, t);
    } while (t != first);
    if (sends)
        unsafe_send_add_finding(u, first, findings);
    u->items[u->threads[freed].at - 1].with = 0;
    unsafe_send_advance(u, queue, freed);
}

static bool unsafe_sends_step(void *predictor, struct findings *findings, uint64_t *budget)
{
    struct unsafe_sends *u = predictor;
    uint32_t *queue = xcalloc(u->count + u->thread_count + 1, sizeof *queue), search = 0;
    for (size_t i = 0; i < u->thread_count; i++)
        u->threads[i].at = u->threads[i].first;
    for (uint32_t i = 0; i < u->thread_count; i++)
        unsafe_send_advance(u, queue, i);
    for (uint32_t i = 0; i < u->thread_count; i++)
        while (u->threads[i].at)
            unsafe_send_resolve(u, queue, i, ++search, findings);
    findings->cut |= u->count == UNSAFE_ITEMS_MOST;
    free(queue);
    return true;
}

static void unsafe_sends_free(void *predictor)
{
    struct unsafe_sends *u = predictor;
    free(u->items);
    free(u->threads);
    map_free(&u->thread_of);
    map_free(&u->item_of);
    map_free(&u->found);
    free(predictor);
}

const struct predictor predictor_unsafe_sends = {.size = sizeof(struct unsafe_sends),
                                                 .feed = unsafe_sends_feed,
                                                 .step = unsafe_sends_step,
                                                 .free = unsafe_sends_free};
