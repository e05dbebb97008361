#include "clients/schedule/event_index.h"

#include "base/alloc.h"

#include <stdlib.h>

void event_index_free(struct event_index *r)
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

struct event_index_row *event_index_row(struct event_index *r, uint32_t line)
{
    r->rows = array_reserve_zeroed(r->rows, &r->room, line + 1u, sizeof *r->rows);
    return &r->rows[line];
}

uint32_t event_index_find(const struct event_index *r, struct event_id at)
{
    if (at.line >= r->room || !at.number || at.number > r->rows[at.line].own_count)
        return EVENT_INDEX_NONE;
    return r->rows[at.line].own[at.number - 1];
}

static void event_index_copy_event_ids(struct event_record *d, const struct event_info *e)
{
    for (uint32_t i = 0; i < e->partner_count; i++)
        ARRAY_PUSH(d->refs, d->ref_count, e->partners[i]);
    d->partner_count = d->ref_count;
    for (uint32_t i = 0; i < e->after_count; i++)
        if (!(e->after[i].line & HIDDEN_LINE))
            ARRAY_PUSH(d->refs, d->ref_count, e->after[i]);
}

bool event_index_add(struct event_index *r, const struct event_info *e, const char *type)
{
    uint32_t thread = e->thread ? e->thread : e->at.line;
    if ((e->at.line | thread) & HIDDEN_LINE || e->state != EVENT_ORDERED || r->count >= INT32_MAX ||
        e->at.number != event_index_row(r, e->at.line)->own_count + 1u)
        return false;
    struct event_record d = {.at = e->at,
                             .thread = thread,
                             .about = e->about & HIDDEN_LINE ? 0 : e->about,
                             .act = event_index_row(r, thread)->act_count,
                             .type = type,
                             .relation = e->relation,
                             .group = e->relation == RELATION_GROUP ? e->group : 0,
                             .ring = r->count,
                             .other = EVENT_INDEX_NONE};
    event_index_row(r, d.about);
    event_index_copy_event_ids(&d, e);
    ARRAY_PUSH(r->rows[d.at.line].own, r->rows[d.at.line].own_count, r->count);
    ARRAY_PUSH(r->rows[thread].acts, r->rows[thread].act_count, r->count);
    ARRAY_PUSH(r->items, r->count, d);
    return true;
}

/* ---- synchronization points ---- */

struct event_index_member {
    uint64_t group;
    uint32_t event;
};

static int by_group(const void *a, const void *b)
{
    const struct event_index_member *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static void make_rings(struct event_index *r)
{
    struct event_index_member *members = xcalloc(r->count, sizeof *members);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct event_record *d = &r->items[i];
        if (d->group)
            members[n++] = (struct event_index_member){d->group, i};
        if (d->relation != RELATION_SYNC || !d->partner_count)
            continue;
        uint32_t with = event_index_find(r, d->refs[0]);
        if (with != EVENT_INDEX_NONE && r->items[with].relation == RELATION_SYNC &&
            r->items[with].partner_count && event_id_equal(r->items[with].refs[0], d->at))
            d->ring = with;
    }
    if (n)
        qsort(members, n, sizeof *members, by_group);
    for (uint32_t i = 0, begin = 0; i < n; i++) {
        bool last = i + 1 == n || members[i + 1].group != members[i].group;
        r->items[members[i].event].ring = members[last ? begin : i + 1].event;
        begin = last ? i + 1 : begin;
    }
    free(members);
}

bool event_index_same_point(const struct event_index *r, uint32_t i, uint32_t k)
{
    uint32_t at = i;
    while (at != k && r->items[at].ring != i)
        at = r->items[at].ring;
    return at == k;
}

/* Moves the half of a sync pair on the thread's own line before the other half, since their order
 * in the log is arbitrary. */
static void sort_halves(struct event_index *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct event_record *own = &r->items[i];
        struct event_index_row *row = &r->rows[own->thread];
        if (own->relation != RELATION_SYNC || own->at.line != own->thread || !own->act)
            continue;
        uint32_t before = row->acts[own->act - 1];
        struct event_record *half = &r->items[before];
        if (half->at.line == half->thread || !event_index_same_point(r, i, before))
            continue;
        row->acts[own->act] = before, row->acts[half->act] = i;
        half->act = own->act--;
    }
}

void event_index_link_groups(struct event_index *r)
{
    make_rings(r);
    sort_halves(r);
}

uint32_t event_index_first_before(const struct event_record *d)
{
    return d->relation == RELATION_RECEIVE || d->relation == RELATION_ORDER ? 0 : d->partner_count;
}
