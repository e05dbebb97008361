#include "clients/schedule/trace_alignment.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- index of the events of a run, by line and by thread ---- */

#define EVENT_INDEX_NONE UINT32_MAX

struct event_record {
    struct event_id at;
    uint32_t thread, about; /* lines; about 0: none */
    uint32_t act; /* index among the events of its thread, from 0 */
    const char *type;
    uint8_t relation;
    uint64_t group;
    struct event_id *refs; /* its partners, then its other predecessors */
    uint32_t partner_count, ref_count;
    uint32_t ring; /* the next event of the same synchronization point */
    uint32_t other; /* the equal event of the other run, or EVENT_INDEX_NONE */
    int32_t column;
};

struct event_index_row { /* by line */
    uint32_t *own, *acts; /* events on it; events of the thread, if it is one */
    uint32_t own_count, act_count;
    const char *name; /* of a thread without a known creator */
    const char *label; /* of other lines; NULL: unknown */
    uint32_t match; /* 0: none */
};

struct event_index {
    struct event_record *items;
    uint32_t count;
    struct event_index_row *rows;
    size_t room;
};

static void event_index_free(struct event_index *r)
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

static struct event_index_row *event_index_row(struct event_index *r, uint32_t line)
{
    r->rows = array_reserve_zeroed(r->rows, &r->room, line + 1u, sizeof *r->rows);
    return &r->rows[line];
}

static uint32_t event_index_find(const struct event_index *r, struct event_id at)
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

/* Adds an event, in the order of the log. Returns false if a predecessor on its line is missing, or
 * it is not ordered. */
static bool event_index_add(struct event_index *r, const struct event_info *e, const char *type)
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

static bool event_index_same_point(const struct event_index *r, uint32_t i, uint32_t k)
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

/* Call once, after all events: links those of one synchronization point. */
static void event_index_link_groups(struct event_index *r)
{
    make_rings(r);
    sort_halves(r);
}

/* Returns the index of its first reference that is a predecessor: the partners of a send are
 * successors, those of a synchronization point are simultaneous. */
static uint32_t event_index_first_before(const struct event_record *d)
{
    return d->relation == RELATION_RECEIVE || d->relation == RELATION_ORDER ? 0 : d->partner_count;
}

struct trace_alignment {
    struct event_index runs[2];
};

struct trace_alignment *alignment_new(void) { return xcalloc(1, sizeof(struct trace_alignment)); }

void alignment_free(struct trace_alignment *b)
{
    if (!b)
        return;
    event_index_free(&b->runs[0]);
    event_index_free(&b->runs[1]);
    free(b);
}

bool alignment_event(struct trace_alignment *b, unsigned run, const struct event_info *event,
                     const char *type)
{
    return event_index_add(&b->runs[run], event, type);
}

void alignment_name(struct trace_alignment *b, unsigned run, uint32_t thread, const char *name)
{
    if (!(thread & HIDDEN_LINE))
        event_index_row(&b->runs[run], thread)->name = name;
}

/* ---- matching lines ---- */

/* Returns whether two lines may match by label; threads always may, since they match by
 * creation. */
static bool alignment_labels_match(const struct event_index_row *x, const struct event_index_row *y)
{
    if (!x->label || !y->label || x->act_count || y->act_count)
        return true;
    size_t n = strcspn(x->label, "#");
    return n == strcspn(y->label, "#") && strncmp(x->label, y->label, n) == 0;
}

static bool alignment_rows_may_match(const struct trace_alignment *b, uint32_t x, uint32_t y)
{
    if (!x || !y)
        return x == y;
    const struct event_index_row *row = &b->runs[0].rows[x], *there = &b->runs[1].rows[y];
    return row->match ? row->match == y : !there->match && alignment_labels_match(row, there);
}

static void alignment_match_rows(struct trace_alignment *b, uint32_t x, uint32_t y)
{
    if (!x || !alignment_rows_may_match(b, x, y))
        return;
    b->runs[0].rows[x].match = y;
    b->runs[1].rows[y].match = x;
}

/* Returns whether an unmatched thread has no traced creator: its line begins with its own start. */
static bool alignment_is_foreign_thread(const struct event_index *r, uint32_t line)
{
    const struct event_index_row *row = &r->rows[line];
    if (!row->name || !row->act_count || row->match)
        return false;
    const struct event_record *first = &r->items[row->acts[0]];
    return first->at.line == line && first->at.number == 1 && first->relation != RELATION_RECEIVE;
}

/* Matches threads without a creator by name; of several with one name the one that began first. */
static void alignment_match_foreign_threads(struct trace_alignment *b)
{
    for (uint32_t i = 0; i < b->runs[0].count; i++) {
        uint32_t x = b->runs[0].items[i].thread;
        bool done = !alignment_is_foreign_thread(&b->runs[0], x);
        for (uint32_t k = 0; !done && k < b->runs[1].count; k++) {
            uint32_t y = b->runs[1].items[k].thread;
            if (alignment_is_foreign_thread(&b->runs[1], y) &&
                strcmp(b->runs[0].rows[x].name, b->runs[1].rows[y].name) == 0)
                alignment_match_rows(b, x, y), done = true;
        }
        if (!done) /* no such name: do not search again */
            b->runs[0].rows[x].name = NULL;
    }
}

/* Matches the threads that two equal events create. */
static void alignment_match_created_threads(struct trace_alignment *b, const struct event_record *x,
                                            const struct event_record *y)
{
    if (x->relation != RELATION_SEND || x->partner_count != y->partner_count)
        return;
    for (uint32_t i = 0; i < x->partner_count; i++)
        if (x->refs[i].number == 1 && y->refs[i].number == 1 &&
            event_index_find(&b->runs[0], x->refs[i]) != EVENT_INDEX_NONE &&
            event_index_find(&b->runs[1], y->refs[i]) != EVENT_INDEX_NONE)
            alignment_match_rows(b, x->refs[i].line, y->refs[i].line);
}

/* Pairs an event with the one at the same index of the matching thread, if both are alike and so
 * are their predecessors on the thread. */
static void alignment_pair_event(struct trace_alignment *b, uint32_t i)
{
    struct event_index *r = b->runs, *o = b->runs + 1;
    struct event_record *x = &r->items[i];
    const struct event_index_row *row = &r->rows[x->thread];
    if (!row->match || o->rows[row->match].act_count <= x->act)
        return;
    uint32_t before = x->act ? row->acts[x->act - 1] : i;
    if (before != i && x->relation == RELATION_SYNC && r->items[before].other == EVENT_INDEX_NONE &&
        event_index_same_point(r, i, before))
        alignment_pair_event(b, before); /* the other half, later in the log */
    if (x->other != EVENT_INDEX_NONE || (before != i && r->items[before].other == EVENT_INDEX_NONE))
        return;
    uint32_t k = o->rows[row->match].acts[x->act];
    struct event_record *y = &o->items[k];
    if (strcmp(x->type, y->type) != 0 || x->relation != y->relation ||
        x->at.number != y->at.number || x->ref_count != y->ref_count ||
        x->partner_count != y->partner_count ||
        !alignment_rows_may_match(b, x->at.line, y->at.line) ||
        !alignment_rows_may_match(b, x->about, y->about))
        return;
    x->other = k, y->other = i;
    alignment_match_rows(b, x->at.line, y->at.line);
    alignment_match_rows(b, x->about, y->about);
    alignment_match_created_threads(b, x, y);
}

/* ---- equal events ---- */

static bool has_ref(const struct event_record *d, struct event_id at)
{
    for (uint32_t i = event_index_first_before(d); i < d->ref_count; i++)
        if (event_id_equal(d->refs[i], at))
            return true;
    return false;
}

/* Returns whether all predecessors of a paired event are paired with predecessors of the other
 * one. */
static bool alignment_pair_is_consistent(const struct event_index *r, const struct event_index *o,
                                         const struct event_record *d)
{
    const struct event_record *other = &o->items[d->other];
    if (d->act && r->items[r->rows[d->thread].acts[d->act - 1]].other == EVENT_INDEX_NONE)
        return false;
    if (d->at.number > 1 &&
        r->items[event_index_find(r, (struct event_id){d->at.line, d->at.number - 1})].other ==
            EVENT_INDEX_NONE)
        return false;
    for (uint32_t i = d->ring; &r->items[i] != d; i = r->items[i].ring) {
        uint32_t there = r->items[i].other, k = other->ring;
        while (there != EVENT_INDEX_NONE && k != there && k != d->other)
            k = o->items[k].ring;
        if (there == EVENT_INDEX_NONE || k != there)
            return false;
    }
    for (uint32_t i = event_index_first_before(d); i < d->ref_count; i++) {
        uint32_t before = event_index_find(r, d->refs[i]);
        if (before == EVENT_INDEX_NONE || r->items[before].other == EVENT_INDEX_NONE ||
            !has_ref(other, o->items[r->items[before].other].at))
            return false;
    }
    return true;
}

static bool alignment_prune_pairs(struct event_index *r, struct event_index *o)
{
    bool any = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct event_record *d = &r->items[i];
        if (d->other == EVENT_INDEX_NONE || alignment_pair_is_consistent(r, o, d))
            continue;
        o->items[d->other].other = EVENT_INDEX_NONE;
        d->other = EVENT_INDEX_NONE;
        any = true;
    }
    return any;
}

/* ---- columns ---- */

/* Returns the least column of i, given a predecessor, which may be the other half of its sync
 * pair. */
static int32_t alignment_least_column(const struct event_index *r, uint32_t i, uint32_t before,
                                      int32_t column)
{
    bool moves = before != EVENT_INDEX_NONE && r->items[before].column >= column &&
                 !event_index_same_point(r, i, before);
    return moves ? r->items[before].column + 1 : column;
}

/* Moves an event behind all its predecessors; returns whether it moved. Equal events have equal
 * predecessors, and so get the same column. */
static bool alignment_assign_column(struct event_index *r, uint32_t i)
{
    struct event_record *d = &r->items[i];
    int32_t column = d->column;
    if (d->act)
        column = alignment_least_column(r, i, r->rows[d->thread].acts[d->act - 1], column);
    if (d->at.number > 1)
        column = alignment_least_column(
            r, i, event_index_find(r, (struct event_id){d->at.line, d->at.number - 1}), column);
    for (uint32_t k = event_index_first_before(d); k < d->ref_count; k++)
        column = alignment_least_column(r, i, event_index_find(r, d->refs[k]), column);
    if (column == d->column)
        return false;
    d->column = column;
    for (uint32_t k = d->ring; k != i; k = r->items[k].ring)
        r->items[k].column = column;
    return true;
}

static void alignment_assign_columns(struct event_index *r)
{
    bool more =
        true; /* an ordered log takes two rounds; the limit ends the loop for a cyclic one */
    for (uint32_t round = 0; more && round <= r->count; round++) {
        more = false;
        for (uint32_t i = 0; i < r->count; i++)
            more |= alignment_assign_column(r, i);
    }
}

void alignment_rename_line(struct trace_alignment *b, unsigned run, uint32_t line,
                           const char *label)
{
    if (!(line & HIDDEN_LINE))
        event_index_row(&b->runs[run], line)->label = label;
}

void align_traces(struct trace_alignment *b)
{
    event_index_link_groups(&b->runs[0]);
    event_index_link_groups(&b->runs[1]);
    alignment_match_foreign_threads(b);
    for (uint32_t i = 0; i < b->runs[0].count; i++)
        alignment_pair_event(b, i);
    while (alignment_prune_pairs(&b->runs[0], &b->runs[1]) |
           alignment_prune_pairs(&b->runs[1], &b->runs[0]))
        ;
    alignment_assign_columns(&b->runs[0]);
    alignment_assign_columns(&b->runs[1]);
}

/* ---- results ---- */

uint32_t alignment_line(const struct trace_alignment *b, unsigned run, uint32_t line)
{
    return line < b->runs[run].room ? b->runs[run].rows[line].match : 0;
}

int32_t alignment_column(const struct trace_alignment *b, unsigned run, struct event_id at)
{
    uint32_t i = event_index_find(&b->runs[run], at);
    return i == EVENT_INDEX_NONE ? -1 : b->runs[run].items[i].column;
}

bool alignment_equal(const struct trace_alignment *b, unsigned run, struct event_id at)
{
    uint32_t i = event_index_find(&b->runs[run], at);
    return i != EVENT_INDEX_NONE && b->runs[run].items[i].other != EVENT_INDEX_NONE;
}

uint64_t alignment_equal_count(const struct trace_alignment *b)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < b->runs[0].count; i++)
        count += b->runs[0].items[i].other != EVENT_INDEX_NONE;
    return count;
}

/* Returns the half of a sync pair that is on its thread's own line. */
static struct event_id alignment_first_half(const struct event_index *r, uint32_t i)
{
    const struct event_record *first = &r->items[i];
    for (uint32_t k = r->items[i].ring; k != i; k = r->items[k].ring)
        if (r->items[k].thread == first->thread && r->items[k].act < first->act)
            first = &r->items[k];
    return first->at;
}

struct event_id alignment_first_divergence(const struct trace_alignment *b, unsigned run)
{
    for (uint32_t i = 0; i < b->runs[run].count; i++)
        if (b->runs[run].items[i].other == EVENT_INDEX_NONE)
            return alignment_first_half(&b->runs[run], i);
    return (struct event_id){0};
}

static bool is_equal(const struct event_index *r, uint32_t i, uint32_t before)
{
    return before == EVENT_INDEX_NONE || r->items[before].other != EVENT_INDEX_NONE ||
           event_index_same_point(r, i, before);
}

static bool follows_equal(const struct event_index *r, uint32_t i)
{
    const struct event_record *d = &r->items[i];
    bool equal =
        is_equal(r, i, event_index_find(r, (struct event_id){d->at.line, d->at.number - 1})) &&
        (!d->act || is_equal(r, i, r->rows[d->thread].acts[d->act - 1]));
    for (uint32_t k = event_index_first_before(d); equal && k < d->ref_count; k++)
        equal = is_equal(r, i, event_index_find(r, d->refs[k]));
    return equal;
}

bool alignment_may_diverge_at(const struct trace_alignment *b, unsigned run, struct event_id at)
{
    const struct event_index *r = &b->runs[run];
    uint32_t i = event_index_find(r, at);
    if (i == EVENT_INDEX_NONE || r->items[i].other != EVENT_INDEX_NONE)
        return false;
    bool begins = follows_equal(r, i);
    for (uint32_t k = r->items[i].ring; begins && k != i; k = r->items[k].ring)
        begins = follows_equal(r, k);
    return begins;
}

struct event_id divergent_event(const struct trace_alignment *b, unsigned run, struct event_id at)
{
    const struct event_index *r = &b->runs[run], *o = &b->runs[!run];
    uint32_t i = event_index_find(r, at);
    uint32_t there = i == EVENT_INDEX_NONE ? 0 : r->rows[r->items[i].thread].match;
    const struct event_index_row *row = there ? &o->rows[there] : NULL;
    return row && r->items[i].act < row->act_count ? o->items[row->acts[r->items[i].act]].at
                                                   : (struct event_id){0};
}
