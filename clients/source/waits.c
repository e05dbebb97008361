#include "clients/source/waits.h"

#include <stdlib.h>
#include <string.h>

static void *room(void *p, size_t count, size_t bytes)
{
    void *more = realloc(p, (count + 1) * bytes);
    if (!more)
        abort();
    return more;
}

/* The thread of a line waits if its last event, anywhere, is of a type that waits. */
static bool is_waiting(const struct book *book, const struct shown_tail *tail, struct wait *w)
{
    const struct shown_event *e = &tail->last_acted;
    const struct target_event *look = e->at.line ? book_look(book, e) : NULL;
    if (!look || !look->waits)
        return false;
    *w = (struct wait){tail->line, e->about ? e->about : e->at.line, e};
    if (w->about == w->thread)
        w->about = 0;
    return true;
}

static const struct shown_tail *tail_of(const struct waits *waits, uint32_t line)
{
    return line && line <= waits->tail_count ? &waits->tails[line - 1] : NULL;
}

/* Does the thread hold the line?  One that is blocked in it does, unless what it
 * waits by lets others in. */
static bool holds(const struct waits *waits, const struct book *book, const struct shown_inside *inside,
                  uint32_t line)
{
    const struct shown_tail *thread = tail_of(waits, inside->thread);
    const struct shown_event *e = thread ? &thread->last_acted : NULL;
    const struct target_event *look = e && e->at.line == line ? book_look(book, e) : NULL;
    return inside->presence != PRESENCE_BLOCKED || !look || !look->releases;
}

uint32_t waits_holder(const struct waits *waits, const struct book *book, const struct wait *wait,
                      uint32_t i, struct ref *since)
{
    const struct shown_tail *about = tail_of(waits, wait->about);
    for (uint32_t k = 0; about && k < about->inside_count; k++)
        if (holds(waits, book, &about->inside[k], wait->about) && i-- == 0) {
            *since = about->inside[k].since;
            return about->inside[k].thread;
        }
    return 0;
}

/* Whom a waiting thread waits for, one after the other: the holders of the object, all of which must
 * go, or, of a thread, itself.  0: no more. */
static uint32_t blocker(const struct waits *waits, const struct book *book, const struct wait *w, uint32_t i)
{
    const struct shown_tail *about = tail_of(waits, w->about);
    struct ref since;
    if (about && about->last_acted.at.line)
        return i == 0 ? w->about : 0;
    return waits_holder(waits, book, w, i, &since);
}

const struct wait *waits_of(const struct waits *waits, uint32_t thread)
{
    for (uint32_t i = 0; i < waits->count; i++)
        if (waits->items[i].thread == thread)
            return &waits->items[i];
    return NULL;
}

/* ---- cycles ---- */

struct chase {
    const struct waits *waits;
    const struct book *book;
    uint32_t *way; /* threads */
    bool *seen;    /* by place in the list */
};

/* Follows "waits for" from a thread, depth-first; the length of the first way to `goal`, else 0. */
static uint32_t chase(struct chase *c, uint32_t thread, uint32_t goal, uint32_t length)
{
    const struct wait *w = waits_of(c->waits, thread);
    if (!w || c->seen[w - c->waits->items])
        return 0;
    c->seen[w - c->waits->items] = true;
    c->way[length++] = thread;
    for (uint32_t i = 0, by; (by = blocker(c->waits, c->book, w, i)) != 0; i++) {
        uint32_t found = by == goal ? length : chase(c, by, goal, length);
        if (found)
            return found;
    }
    return 0;
}

/* Each cycle is told once, by the thread of the least line in it. */
static bool is_least(const uint32_t *way, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (way[i] < way[0])
            return false;
    return true;
}

static void find_cycles(struct waits *waits, const struct book *book)
{
    struct chase c = {waits, book, room(NULL, waits->count, sizeof *c.way),
                      room(NULL, waits->count, sizeof *c.seen)};
    for (uint32_t i = 0; i < waits->count; i++) {
        memset(c.seen, 0, waits->count * sizeof *c.seen);
        uint32_t n = chase(&c, waits->items[i].thread, waits->items[i].thread, 0);
        if (n == 0 || !is_least(c.way, n))
            continue;
        struct wait_cycle cycle = {room(NULL, n, sizeof *cycle.threads), n};
        memcpy(cycle.threads, c.way, n * sizeof *c.way);
        waits->cycles = room(waits->cycles, waits->cycle_count, sizeof *waits->cycles);
        waits->cycles[waits->cycle_count++] = cycle;
    }
    free(c.way);
    free(c.seen);
}

/* ---- taking ---- */

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct wait *)a)->event->time_ns, y = ((const struct wait *)b)->event->time_ns;
    return x < y ? -1 : x > y;
}

static void find_waits(struct waits *waits, const struct book *book)
{
    waits->items = room(NULL, waits->tail_count, sizeof *waits->items);
    for (uint32_t i = 0; i < waits->tail_count; i++)
        waits->count += is_waiting(book, &waits->tails[i], &waits->items[waits->count]);
    if (waits->count)
        qsort(waits->items, waits->count, sizeof *waits->items, by_time);
}

bool waits_take(struct waits *waits, const struct book *book, const struct answer *answer)
{
    if (answer->part == PART_TAIL) {
        waits->tails = room(waits->tails, waits->tail_count, sizeof *waits->tails);
        get_tail(answer->in, &waits->tails[waits->tail_count++]);
    }
    if (answer->part != PART_NOW)
        return false;
    waits->now_ns = (int64_t)get_u64(answer->in);
    find_waits(waits, book);
    find_cycles(waits, book);
    return true;
}

void waits_free(struct waits *waits)
{
    for (uint32_t i = 0; i < waits->tail_count; i++)
        shown_tail_free(&waits->tails[i]);
    for (uint32_t i = 0; i < waits->cycle_count; i++)
        free(waits->cycles[i].threads);
    free(waits->tails);
    free(waits->items);
    free(waits->cycles);
    *waits = (struct waits){0};
}
