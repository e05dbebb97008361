#include "server/run/course.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/run/doing.h"
#include "server/run/times.h"

#include <stdlib.h>
#include <string.h>

#ifndef PIECES_MOST
#define PIECES_MOST 2000000u /* of all lines: 100 MB at most */
#endif
#define WHOLE 65535.0 /* the share that is all */

/* From one piece on to the next one of its line. */
struct piece {
    int64_t from_ns;
    uint64_t from;
    uint32_t about, changes; /* so many changes of the state are in it */
    uint16_t by_time[STRIP_CLASSES], by_position[STRIP_CLASSES];
};

struct filling { /* the newest piece, not closed yet */
    int64_t from_ns;
    uint64_t from;
    uint32_t about, changes;
    double about_ns, ns[STRIP_CLASSES], positions[STRIP_CLASSES];
};

struct course_line {
    struct piece *pieces;
    size_t count, room;
    struct filling filling;
    bool begun;
    struct doing now;
    int64_t since_ns;
    uint64_t since;
};

struct course {
    struct doings *doings;
    struct course_line *lines;
    size_t room, pieces;
    uint64_t known;
    uint32_t level; /* so many changes make a piece */
};

/* ---- pieces ---- */

static void add_stretch(struct course_line *l, struct filling *f, int64_t to_ns, uint64_t to)
{
    double ns = (double)(to_ns - l->since_ns);
    if (l->now.class < STRIP_CLASSES) {
        f->ns[l->now.class] += ns;
        f->positions[l->now.class] += (double)(to - l->since);
    }
    if (l->now.about && (!f->about || ns > f->about_ns)) {
        f->about = l->now.about;
        f->about_ns = ns;
    }
}

static uint16_t share(double part, double all)
{
    return (uint16_t)(all > 0 ? WHOLE * part / all : part > 0 ? WHOLE : 0);
}

static struct piece closed(const struct filling *f, int64_t to_ns, uint64_t to)
{
    struct piece p = {
        .from_ns = f->from_ns, .from = f->from, .about = f->about, .changes = f->changes};
    for (unsigned k = 0; k < STRIP_CLASSES; k++) {
        p.by_time[k] = share(f->ns[k], (double)(to_ns - f->from_ns));
        p.by_position[k] = share(f->positions[k], (double)(to - f->from));
    }
    return p;
}

/* Two pieces in a row as one; end: where the second one ends. */
static void join(struct piece *a, const struct piece *b, int64_t end_ns, uint64_t end)
{
    double a_ns = (double)(b->from_ns - a->from_ns), b_ns = (double)(end_ns - b->from_ns);
    double a_at = (double)(b->from - a->from), b_at = (double)(end - b->from);
    for (unsigned k = 0; k < STRIP_CLASSES; k++) {
        a->by_time[k] = share(a->by_time[k] * a_ns + b->by_time[k] * b_ns, WHOLE * (a_ns + b_ns));
        a->by_position[k] =
            share(a->by_position[k] * a_at + b->by_position[k] * b_at, WHOLE * (a_at + b_at));
    }
    a->about = b->about && (!a->about || b_ns > a_ns) ? b->about : a->about;
    a->changes += b->changes;
}

static void coarsen_line(struct course_line *l, uint32_t level)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct piece *last = kept ? &l->pieces[kept - 1] : NULL, *p = &l->pieces[i];
        if (!last || last->changes + p->changes > level) {
            l->pieces[kept++] = *p;
            continue;
        }
        bool end = i + 1 == l->count;
        join(last, p, end ? l->filling.from_ns : p[1].from_ns, end ? l->filling.from : p[1].from);
    }
    l->count = kept;
}

static void coarsen(struct course *c)
{
    c->level *= 2;
    c->pieces = 0;
    for (size_t i = 0; i < c->room; i++) {
        coarsen_line(&c->lines[i], c->level);
        c->pieces += c->lines[i].count;
    }
}

static void change(struct course *c, uint32_t line, struct doing state, int64_t ns, uint64_t at)
{
    c->lines = grow_zeroed(c->lines, &c->room, line, sizeof *c->lines);
    struct course_line *l = &c->lines[line - 1];
    if (l->begun && l->now.class == state.class && l->now.about == state.about)
        return;
    ns = l->begun && ns < l->since_ns ? l->since_ns : ns;
    if (l->begun) {
        add_stretch(l, &l->filling, ns, at);
        l->filling.changes++;
    }
    if (l->begun && l->filling.changes >= c->level) {
        l->pieces = grow(l->pieces, &l->room, l->count + 1, sizeof *l->pieces);
        l->pieces[l->count++] = closed(&l->filling, ns, at);
        c->pieces++;
        l->begun = false;
    }
    if (!l->begun)
        l->filling = (struct filling){.from_ns = ns, .from = at};
    l->begun = true;
    l->now = state;
    l->since_ns = ns;
    l->since = at;
    if (c->pieces > PIECES_MOST)
        coarsen(c);
}

/* ---- learning ---- */

static void course_free(struct course *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->room; i++)
        free(c->lines[i].pieces);
    free(c->lines);
    doings_free(c->doings);
    free(c);
}

static struct course *course_of(const struct run *run)
{
    struct run *cache = (struct run *)(uintptr_t)run; /* nothing that is told of it changes */
    if (!cache->course) {
        cache->course = memory_zeroed(1, sizeof *cache->course);
        cache->course->level = 1;
        cache->course_free = course_free;
        cache->course->doings = doings_new(run);
    }
    return cache->course;
}

/* All members of a point change what is done at once. */
static void learn_point(struct course *c, const struct run *run, uint64_t first, uint64_t end)
{
    uint32_t line;
    struct doing state;
    for (uint64_t p = first; p <= end; p++) {
        struct event e = order_event(run->order, p);
        if (e.line && e.state == EVENT_ORDERED)
            doings_take(c->doings, &e);
    }
    int64_t ns = times_fitted(run, first);
    while (doings_changed(c->doings, &line, &state))
        change(c, line, state, ns, first);
}

bool course_learn(const struct run *run, uint64_t *budget)
{
    struct course *c = course_of(run);
    uint64_t first = order_first(run->order), count = order_count(run->order);
    c->known = c->known < first ? first : c->known;
    while (c->known < count && *budget) {
        uint64_t end = order_point_end(run->order, c->known), looked = end - c->known + 1;
        learn_point(c, run, c->known, end);
        c->known = end + 1;
        *budget -= looked < *budget ? looked : *budget;
    }
    return c->known >= count;
}

uint64_t course_known(const struct run *run) { return run->course ? run->course->known : 0; }

/* ---- telling ---- */

struct ends {
    int64_t ns;
    uint64_t at;
};

static struct course_piece told(const struct piece *p, struct ends end)
{
    struct course_piece t = {
        .from_ns = p->from_ns, .to_ns = end.ns, .from = p->from, .to = end.at, .about = p->about};
    for (unsigned k = 0; k < STRIP_CLASSES; k++) {
        t.by_time[k] = p->by_time[k] / WHOLE;
        t.by_position[k] = p->by_position[k] / WHOLE;
    }
    return t;
}

/* The first piece that ends behind a place. */
static size_t find(const struct course_line *l, bool by_time, int64_t place)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool last = middle + 1 == l->count;
        int64_t end = by_time ? (last ? l->filling.from_ns : l->pieces[middle + 1].from_ns)
                              : (int64_t)(last ? l->filling.from : l->pieces[middle + 1].from);
        if (end <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is not closed yet: what came to an end, and the state that still lasts. */
static void visit_newest(const struct run *run, struct course_line *l,
                         void (*visit)(void *context, const struct course_piece *piece),
                         void *context)
{
    struct ends end = {run->last_ns + 1, run->course->known};
    struct piece before = closed(&l->filling, l->since_ns, l->since);
    struct filling lasts = {.from_ns = l->since_ns, .from = l->since};
    end.ns = end.ns < l->since_ns ? l->since_ns : end.ns;
    add_stretch(l, &lasts, end.ns, end.at);
    struct piece now = closed(&lasts, end.ns, end.at);
    struct course_piece pieces[2] = {told(&before, (struct ends){l->since_ns, l->since}),
                                     told(&now, end)};
    visit(context, &pieces[0]);
    visit(context, &pieces[1]);
}

void course_visit(const struct run *run, uint32_t line, bool by_time, int64_t from, int64_t to,
                  void (*visit)(void *context, const struct course_piece *piece), void *context)
{
    struct course *c = run->course;
    struct course_line *l = c && line && line <= c->room ? &c->lines[line - 1] : NULL;
    if (!l || !l->begun)
        return;
    for (size_t i = find(l, by_time, from); i < l->count; i++) {
        const struct piece *p = &l->pieces[i];
        if ((by_time ? p->from_ns : (int64_t)p->from) >= to)
            return;
        bool last = i + 1 == l->count;
        struct ends end = {last ? l->filling.from_ns : p[1].from_ns,
                           last ? l->filling.from : p[1].from};
        struct course_piece piece = told(p, end);
        visit(context, &piece);
    }
    visit_newest(run, l, visit, context);
}
