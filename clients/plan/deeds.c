#include "clients/plan/deeds.h"

#include "memory/memory.h"

#include <stdlib.h>

void deeds_free(struct deeds *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->items[i].refs);
    for (size_t i = 0; i < r->room; i++) {
        free(r->rows[i].own);
        free(r->rows[i].acts);
    }
    free(r->items);
    free(r->rows);
}

struct row *deeds_row(struct deeds *r, uint32_t line)
{
    r->rows = grow_zeroed(r->rows, &r->room, line + 1u, sizeof *r->rows);
    return &r->rows[line];
}

uint32_t deeds_find(const struct deeds *r, struct ref at)
{
    if (at.line >= r->room || !at.number || at.number > r->rows[at.line].own_count)
        return DEEDS_NONE;
    return r->rows[at.line].own[at.number - 1];
}

static void take_refs(struct deed *d, const struct shown_event *e)
{
    for (uint32_t i = 0; i < e->partner_count; i++)
        PUSH(d->refs, d->ref_count, e->partners[i]);
    d->partner_count = d->ref_count;
    for (uint32_t i = 0; i < e->after_count; i++)
        if (!(e->after[i].line & HIDDEN_LINE))
            PUSH(d->refs, d->ref_count, e->after[i]);
}

bool deeds_take(struct deeds *r, const struct shown_event *e, const char *type)
{
    uint32_t thread = e->thread ? e->thread : e->at.line;
    if ((e->at.line | thread) & HIDDEN_LINE || e->state != EVENT_ORDERED || r->count >= INT32_MAX ||
        e->at.number != deeds_row(r, e->at.line)->own_count + 1u)
        return false;
    struct deed d = {.at = e->at,
                     .thread = thread,
                     .about = e->about & HIDDEN_LINE ? 0 : e->about,
                     .act = deeds_row(r, thread)->act_count,
                     .type = type,
                     .relation = e->relation,
                     .group = e->relation == RELATION_GROUP ? e->group : 0,
                     .ring = r->count,
                     .other = DEEDS_NONE};
    deeds_row(r, d.about);
    take_refs(&d, e);
    PUSH(r->rows[d.at.line].own, r->rows[d.at.line].own_count, r->count);
    PUSH(r->rows[thread].acts, r->rows[thread].act_count, r->count);
    PUSH(r->items, r->count, d);
    return true;
}

/* ---- points ---- */

struct member {
    uint64_t group;
    uint32_t deed;
};

static int by_group(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->deed < y->deed ? -1 : x->deed > y->deed;
}

static void make_rings(struct deeds *r)
{
    struct member *members = memory_zeroed(r->count, sizeof *members);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct deed *d = &r->items[i];
        if (d->group)
            members[n++] = (struct member){d->group, i};
        if (d->relation != RELATION_SYNC || !d->partner_count)
            continue;
        uint32_t with = deeds_find(r, d->refs[0]);
        if (with != DEEDS_NONE && r->items[with].relation == RELATION_SYNC &&
            r->items[with].partner_count && ref_equal(r->items[with].refs[0], d->at))
            d->ring = with;
    }
    if (n)
        qsort(members, n, sizeof *members, by_group);
    for (uint32_t i = 0, begin = 0; i < n; i++) {
        bool last = i + 1 == n || members[i + 1].group != members[i].group;
        r->items[members[i].deed].ring = members[last ? begin : i + 1].deed;
        begin = last ? i + 1 : begin;
    }
    free(members);
}

bool deeds_one_point(const struct deeds *r, uint32_t i, uint32_t k)
{
    uint32_t at = i;
    while (at != k && r->items[at].ring != i)
        at = r->items[at].ring;
    return at == k;
}

/* Which half of a point the log has first is chance: a thread's acts have the one on its own line first. */
static void sort_halves(struct deeds *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct deed *own = &r->items[i];
        struct row *row = &r->rows[own->thread];
        if (own->relation != RELATION_SYNC || own->at.line != own->thread || !own->act)
            continue;
        uint32_t before = row->acts[own->act - 1];
        struct deed *half = &r->items[before];
        if (half->at.line == half->thread || !deeds_one_point(r, i, before))
            continue;
        row->acts[own->act] = before, row->acts[half->act] = i;
        half->act = own->act--;
    }
}

void deeds_tie(struct deeds *r)
{
    make_rings(r);
    sort_halves(r);
}

uint32_t deeds_first_before(const struct deed *d)
{
    return d->relation == RELATION_RECEIVE || d->relation == RELATION_ORDER ? 0 : d->partner_count;
}
