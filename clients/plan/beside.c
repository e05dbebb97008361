#include "clients/plan/beside.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct deed {
    struct ref at;
    uint32_t thread, about; /* lines; about 0: none */
    uint32_t act; /* the how-manieth of its thread, from 0 on */
    const char *type;
    uint8_t relation;
    uint64_t group;
    struct ref *refs; /* its partners, then what else is before it */
    uint32_t partner_count, ref_count;
    uint32_t ring; /* the next deed of the same point */
    uint32_t other; /* that it is equal to, NONE */
    int32_t column;
};

struct row { /* by line */
    uint32_t *own, *acts; /* deeds on it; of the thread that it is */
    uint32_t own_count, act_count;
    const char *name; /* of a stranger */
    uint32_t match; /* 0: none */
};

struct run {
    struct deed *deeds;
    uint32_t count;
    struct row *rows;
    size_t room;
};

struct beside {
    struct run runs[2];
};

struct beside *beside_new(void) { return memory_zeroed(1, sizeof(struct beside)); }

static void free_run(struct run *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->deeds[i].refs);
    for (size_t i = 0; i < r->room; i++) {
        free(r->rows[i].own);
        free(r->rows[i].acts);
    }
    free(r->deeds);
    free(r->rows);
}

void beside_free(struct beside *b)
{
    if (!b)
        return;
    free_run(&b->runs[0]);
    free_run(&b->runs[1]);
    free(b);
}

/* ---- what happened ---- */

static struct row *row_of(struct run *r, uint32_t line)
{
    r->rows = grow_zeroed(r->rows, &r->room, line + 1u, sizeof *r->rows);
    return &r->rows[line];
}

static uint32_t find(const struct run *r, struct ref at)
{
    if (at.line >= r->room || !at.number || at.number > r->rows[at.line].own_count)
        return NONE;
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

bool beside_event(struct beside *b, unsigned run, const struct shown_event *e, const char *type)
{
    struct run *r = &b->runs[run];
    uint32_t thread = e->thread ? e->thread : e->at.line;
    if ((e->at.line | thread) & HIDDEN_LINE || e->state != EVENT_ORDERED || r->count >= INT32_MAX ||
        e->at.number != row_of(r, e->at.line)->own_count + 1u)
        return false;
    struct deed d = {.at = e->at,
                     .thread = thread,
                     .about = e->about & HIDDEN_LINE ? 0 : e->about,
                     .act = row_of(r, thread)->act_count,
                     .type = type,
                     .relation = e->relation,
                     .group = e->relation == RELATION_GROUP ? e->group : 0,
                     .ring = r->count,
                     .other = NONE};
    row_of(r, d.about);
    take_refs(&d, e);
    PUSH(r->rows[d.at.line].own, r->rows[d.at.line].own_count, r->count);
    PUSH(r->rows[thread].acts, r->rows[thread].act_count, r->count);
    PUSH(r->deeds, r->count, d);
    return true;
}

void beside_name(struct beside *b, unsigned run, uint32_t thread, const char *name)
{
    if (!(thread & HIDDEN_LINE))
        row_of(&b->runs[run], thread)->name = name;
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

static void make_rings(struct run *r)
{
    struct member *members = memory_zeroed(r->count, sizeof *members);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct deed *d = &r->deeds[i];
        if (d->group)
            members[n++] = (struct member){d->group, i};
        if (d->relation != RELATION_SYNC || !d->partner_count)
            continue;
        uint32_t with = find(r, d->refs[0]);
        if (with != NONE && r->deeds[with].relation == RELATION_SYNC &&
            r->deeds[with].partner_count && ref_equal(r->deeds[with].refs[0], d->at))
            d->ring = with;
    }
    if (n)
        qsort(members, n, sizeof *members, by_group);
    for (uint32_t i = 0, begin = 0; i < n; i++) {
        bool last = i + 1 == n || members[i + 1].group != members[i].group;
        r->deeds[members[i].deed].ring = members[last ? begin : i + 1].deed;
        begin = last ? i + 1 : begin;
    }
    free(members);
}

static bool one_point(const struct run *r, uint32_t i, uint32_t k)
{
    uint32_t at = i;
    while (at != k && r->deeds[at].ring != i)
        at = r->deeds[at].ring;
    return at == k;
}

/* Which half of a point the log has first is chance: a thread's acts have the one on its own line first. */
static void sort_halves(struct run *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct deed *own = &r->deeds[i];
        struct row *row = &r->rows[own->thread];
        if (own->relation != RELATION_SYNC || own->at.line != own->thread || !own->act)
            continue;
        uint32_t before = row->acts[own->act - 1];
        struct deed *half = &r->deeds[before];
        if (half->at.line == half->thread || !one_point(r, i, before))
            continue;
        row->acts[own->act] = before, row->acts[half->act] = i;
        half->act = own->act--;
    }
}

/* Which of its references are before an event: of a send the partners are behind it, of a point they are in it. */
static uint32_t first_before(const struct deed *d)
{
    return d->relation == RELATION_RECEIVE || d->relation == RELATION_ORDER ? 0 : d->partner_count;
}

/* ---- lines ---- */

static bool fits(const struct beside *b, uint32_t x, uint32_t y)
{
    if (!x || !y)
        return x == y;
    uint32_t to = b->runs[0].rows[x].match, from = b->runs[1].rows[y].match;
    return to ? to == y : !from;
}

static void match(struct beside *b, uint32_t x, uint32_t y)
{
    if (!x || !fits(b, x, y))
        return;
    b->runs[0].rows[x].match = y;
    b->runs[1].rows[y].match = x;
}

/* It begins with its own start, and not with who made it. */
static bool is_stranger(const struct run *r, uint32_t line)
{
    const struct row *row = &r->rows[line];
    if (!row->name || !row->act_count || row->match)
        return false;
    const struct deed *first = &r->deeds[row->acts[0]];
    return first->at.line == line && first->at.number == 1 && first->relation != RELATION_RECEIVE;
}

/* Of several with one name the one that began first. */
static void match_strangers(struct beside *b)
{
    for (uint32_t i = 0; i < b->runs[0].count; i++) {
        uint32_t x = b->runs[0].deeds[i].thread;
        bool done = !is_stranger(&b->runs[0], x);
        for (uint32_t k = 0; !done && k < b->runs[1].count; k++) {
            uint32_t y = b->runs[1].deeds[k].thread;
            if (is_stranger(&b->runs[1], y) &&
                strcmp(b->runs[0].rows[x].name, b->runs[1].rows[y].name) == 0)
                match(b, x, y), done = true;
        }
        if (!done) /* nobody is called so: it is not looked for again */
            b->runs[0].rows[x].name = NULL;
    }
}

/* Those that begin with what two equal events send. */
static void match_begun(struct beside *b, const struct deed *x, const struct deed *y)
{
    if (x->relation != RELATION_SEND || x->partner_count != y->partner_count)
        return;
    for (uint32_t i = 0; i < x->partner_count; i++)
        if (x->refs[i].number == 1 && y->refs[i].number == 1 &&
            find(&b->runs[0], x->refs[i]) != NONE && find(&b->runs[1], y->refs[i]) != NONE)
            match(b, x->refs[i].line, y->refs[i].line);
}

/* What the threads did alike, each by itself. */
static void pair(struct beside *b, uint32_t i)
{
    struct run *r = b->runs, *o = b->runs + 1;
    struct deed *x = &r->deeds[i];
    const struct row *row = &r->rows[x->thread];
    if (!row->match || o->rows[row->match].act_count <= x->act)
        return;
    uint32_t before = x->act ? row->acts[x->act - 1] : i;
    if (before != i && x->relation == RELATION_SYNC && r->deeds[before].other == NONE &&
        one_point(r, i, before))
        pair(b, before); /* the log has it later */
    if (x->other != NONE || (before != i && r->deeds[before].other == NONE))
        return;
    uint32_t k = o->rows[row->match].acts[x->act];
    struct deed *y = &o->deeds[k];
    if (strcmp(x->type, y->type) != 0 || x->relation != y->relation ||
        x->at.number != y->at.number || x->ref_count != y->ref_count ||
        x->partner_count != y->partner_count || !fits(b, x->at.line, y->at.line) ||
        !fits(b, x->about, y->about))
        return;
    x->other = k, y->other = i;
    match(b, x->at.line, y->at.line);
    match(b, x->about, y->about);
    match_begun(b, x, y);
}

/* ---- what is equal ---- */

static bool has_ref(const struct deed *d, struct ref at)
{
    for (uint32_t i = first_before(d); i < d->ref_count; i++)
        if (ref_equal(d->refs[i], at))
            return true;
    return false;
}

/* All before it is equal, and is before the other one, too. */
static bool stays(const struct run *r, const struct run *o, const struct deed *d)
{
    const struct deed *other = &o->deeds[d->other];
    if (d->act && r->deeds[r->rows[d->thread].acts[d->act - 1]].other == NONE)
        return false;
    if (d->at.number > 1 &&
        r->deeds[find(r, (struct ref){d->at.line, d->at.number - 1})].other == NONE)
        return false;
    for (uint32_t i = d->ring; &r->deeds[i] != d; i = r->deeds[i].ring) {
        uint32_t there = r->deeds[i].other, k = other->ring;
        while (there != NONE && k != there && k != d->other)
            k = o->deeds[k].ring;
        if (there == NONE || k != there)
            return false;
    }
    for (uint32_t i = first_before(d); i < d->ref_count; i++) {
        uint32_t before = find(r, d->refs[i]);
        if (before == NONE || r->deeds[before].other == NONE ||
            !has_ref(other, o->deeds[r->deeds[before].other].at))
            return false;
    }
    return true;
}

static bool prune(struct run *r, struct run *o)
{
    bool any = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct deed *d = &r->deeds[i];
        if (d->other == NONE || stays(r, o, d))
            continue;
        o->deeds[d->other].other = NONE;
        d->other = NONE;
        any = true;
    }
    return any;
}

/* ---- columns ---- */

/* The column that i must have at least, because of what comes before it (which may be another half of its point). */
static int32_t behind(const struct run *r, uint32_t i, uint32_t before, int32_t column)
{
    bool moves = before != NONE && r->deeds[before].column >= column && !one_point(r, i, before);
    return moves ? r->deeds[before].column + 1 : column;
}

/* Behind all that is before it; what is equal has the same before it, and so comes to the same column. */
static bool place(struct run *r, uint32_t i)
{
    struct deed *d = &r->deeds[i];
    int32_t column = d->column;
    if (d->act)
        column = behind(r, i, r->rows[d->thread].acts[d->act - 1], column);
    if (d->at.number > 1)
        column = behind(r, i, find(r, (struct ref){d->at.line, d->at.number - 1}), column);
    for (uint32_t k = first_before(d); k < d->ref_count; k++)
        column = behind(r, i, find(r, d->refs[k]), column);
    if (column == d->column)
        return false;
    d->column = column;
    for (uint32_t k = d->ring; k != i; k = r->deeds[k].ring)
        r->deeds[k].column = column;
    return true;
}

static void place_all(struct run *r)
{
    bool more =
        true; /* a log that is in order takes two rounds, and one that is in no order ends, too */
    for (uint32_t round = 0; more && round <= r->count; round++) {
        more = false;
        for (uint32_t i = 0; i < r->count; i++)
            more |= place(r, i);
    }
}

void beside_align(struct beside *b)
{
    make_rings(&b->runs[0]);
    make_rings(&b->runs[1]);
    sort_halves(&b->runs[0]);
    sort_halves(&b->runs[1]);
    match_strangers(b);
    for (uint32_t i = 0; i < b->runs[0].count; i++)
        pair(b, i);
    while (prune(&b->runs[0], &b->runs[1]) | prune(&b->runs[1], &b->runs[0]))
        ;
    place_all(&b->runs[0]);
    place_all(&b->runs[1]);
}

/* ---- what came of it ---- */

uint32_t beside_line(const struct beside *b, unsigned run, uint32_t line)
{
    return line < b->runs[run].room ? b->runs[run].rows[line].match : 0;
}

int32_t beside_column(const struct beside *b, unsigned run, struct ref at)
{
    uint32_t i = find(&b->runs[run], at);
    return i == NONE ? -1 : b->runs[run].deeds[i].column;
}

bool beside_equal(const struct beside *b, unsigned run, struct ref at)
{
    uint32_t i = find(&b->runs[run], at);
    return i != NONE && b->runs[run].deeds[i].other != NONE;
}

struct ref beside_first(const struct beside *b, unsigned run)
{
    for (uint32_t i = 0; i < b->runs[run].count; i++)
        if (b->runs[run].deeds[i].other == NONE)
            return b->runs[run].deeds[i].at;
    return (struct ref){0};
}
