#include "clients/plan/beside.h"

#include "clients/plan/deeds.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct beside {
    struct deeds runs[2];
};

struct beside *beside_new(void) { return memory_zeroed(1, sizeof(struct beside)); }

void beside_free(struct beside *b)
{
    if (!b)
        return;
    deeds_free(&b->runs[0]);
    deeds_free(&b->runs[1]);
    free(b);
}

bool beside_event(struct beside *b, unsigned run, const struct shown_event *event, const char *type)
{
    return deeds_take(&b->runs[run], event, type);
}

void beside_name(struct beside *b, unsigned run, uint32_t thread, const char *name)
{
    if (!(thread & HIDDEN_LINE))
        deeds_row(&b->runs[run], thread)->name = name;
}

/* ---- lines ---- */

/* Threads are known by how they came to be. */
static bool called_alike(const struct row *x, const struct row *y)
{
    if (!x->label || !y->label || x->act_count || y->act_count)
        return true;
    size_t n = strcspn(x->label, "#");
    return n == strcspn(y->label, "#") && strncmp(x->label, y->label, n) == 0;
}

static bool fits(const struct beside *b, uint32_t x, uint32_t y)
{
    if (!x || !y)
        return x == y;
    const struct row *row = &b->runs[0].rows[x], *there = &b->runs[1].rows[y];
    return row->match ? row->match == y : !there->match && called_alike(row, there);
}

static void match(struct beside *b, uint32_t x, uint32_t y)
{
    if (!x || !fits(b, x, y))
        return;
    b->runs[0].rows[x].match = y;
    b->runs[1].rows[y].match = x;
}

/* It begins with its own start, and not with who made it. */
static bool is_stranger(const struct deeds *r, uint32_t line)
{
    const struct row *row = &r->rows[line];
    if (!row->name || !row->act_count || row->match)
        return false;
    const struct deed *first = &r->items[row->acts[0]];
    return first->at.line == line && first->at.number == 1 && first->relation != RELATION_RECEIVE;
}

/* Of several with one name the one that began first. */
static void match_strangers(struct beside *b)
{
    for (uint32_t i = 0; i < b->runs[0].count; i++) {
        uint32_t x = b->runs[0].items[i].thread;
        bool done = !is_stranger(&b->runs[0], x);
        for (uint32_t k = 0; !done && k < b->runs[1].count; k++) {
            uint32_t y = b->runs[1].items[k].thread;
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
            deeds_find(&b->runs[0], x->refs[i]) != DEEDS_NONE &&
            deeds_find(&b->runs[1], y->refs[i]) != DEEDS_NONE)
            match(b, x->refs[i].line, y->refs[i].line);
}

/* What the threads did alike, each by itself. */
static void pair(struct beside *b, uint32_t i)
{
    struct deeds *r = b->runs, *o = b->runs + 1;
    struct deed *x = &r->items[i];
    const struct row *row = &r->rows[x->thread];
    if (!row->match || o->rows[row->match].act_count <= x->act)
        return;
    uint32_t before = x->act ? row->acts[x->act - 1] : i;
    if (before != i && x->relation == RELATION_SYNC && r->items[before].other == DEEDS_NONE &&
        deeds_one_point(r, i, before))
        pair(b, before); /* the log has it later */
    if (x->other != DEEDS_NONE || (before != i && r->items[before].other == DEEDS_NONE))
        return;
    uint32_t k = o->rows[row->match].acts[x->act];
    struct deed *y = &o->items[k];
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
    for (uint32_t i = deeds_first_before(d); i < d->ref_count; i++)
        if (ref_equal(d->refs[i], at))
            return true;
    return false;
}

/* All before it is equal, and is before the other one, too. */
static bool stays(const struct deeds *r, const struct deeds *o, const struct deed *d)
{
    const struct deed *other = &o->items[d->other];
    if (d->act && r->items[r->rows[d->thread].acts[d->act - 1]].other == DEEDS_NONE)
        return false;
    if (d->at.number > 1 &&
        r->items[deeds_find(r, (struct ref){d->at.line, d->at.number - 1})].other == DEEDS_NONE)
        return false;
    for (uint32_t i = d->ring; &r->items[i] != d; i = r->items[i].ring) {
        uint32_t there = r->items[i].other, k = other->ring;
        while (there != DEEDS_NONE && k != there && k != d->other)
            k = o->items[k].ring;
        if (there == DEEDS_NONE || k != there)
            return false;
    }
    for (uint32_t i = deeds_first_before(d); i < d->ref_count; i++) {
        uint32_t before = deeds_find(r, d->refs[i]);
        if (before == DEEDS_NONE || r->items[before].other == DEEDS_NONE ||
            !has_ref(other, o->items[r->items[before].other].at))
            return false;
    }
    return true;
}

static bool prune(struct deeds *r, struct deeds *o)
{
    bool any = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct deed *d = &r->items[i];
        if (d->other == DEEDS_NONE || stays(r, o, d))
            continue;
        o->items[d->other].other = DEEDS_NONE;
        d->other = DEEDS_NONE;
        any = true;
    }
    return any;
}

/* ---- columns ---- */

/* The column that i must have at least, because of what comes before it (which may be another half of its point). */
static int32_t behind(const struct deeds *r, uint32_t i, uint32_t before, int32_t column)
{
    bool moves =
        before != DEEDS_NONE && r->items[before].column >= column && !deeds_one_point(r, i, before);
    return moves ? r->items[before].column + 1 : column;
}

/* Behind all that is before it; what is equal has the same before it, and so comes to the same column. */
static bool place(struct deeds *r, uint32_t i)
{
    struct deed *d = &r->items[i];
    int32_t column = d->column;
    if (d->act)
        column = behind(r, i, r->rows[d->thread].acts[d->act - 1], column);
    if (d->at.number > 1)
        column = behind(r, i, deeds_find(r, (struct ref){d->at.line, d->at.number - 1}), column);
    for (uint32_t k = deeds_first_before(d); k < d->ref_count; k++)
        column = behind(r, i, deeds_find(r, d->refs[k]), column);
    if (column == d->column)
        return false;
    d->column = column;
    for (uint32_t k = d->ring; k != i; k = r->items[k].ring)
        r->items[k].column = column;
    return true;
}

static void place_all(struct deeds *r)
{
    bool more =
        true; /* a log that is in order takes two rounds, and one that is in no order ends, too */
    for (uint32_t round = 0; more && round <= r->count; round++) {
        more = false;
        for (uint32_t i = 0; i < r->count; i++)
            more |= place(r, i);
    }
}

void beside_call(struct beside *b, unsigned run, uint32_t line, const char *label)
{
    if (!(line & HIDDEN_LINE))
        deeds_row(&b->runs[run], line)->label = label;
}

void beside_align(struct beside *b)
{
    deeds_tie(&b->runs[0]);
    deeds_tie(&b->runs[1]);
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
    uint32_t i = deeds_find(&b->runs[run], at);
    return i == DEEDS_NONE ? -1 : b->runs[run].items[i].column;
}

bool beside_equal(const struct beside *b, unsigned run, struct ref at)
{
    uint32_t i = deeds_find(&b->runs[run], at);
    return i != DEEDS_NONE && b->runs[run].items[i].other != DEEDS_NONE;
}

uint64_t beside_equals(const struct beside *b)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < b->runs[0].count; i++)
        count += b->runs[0].items[i].other != DEEDS_NONE;
    return count;
}

/* The half of its point that its thread did first: that on its own line. */
static struct ref first_half(const struct deeds *r, uint32_t i)
{
    const struct deed *first = &r->items[i];
    for (uint32_t k = r->items[i].ring; k != i; k = r->items[k].ring)
        if (r->items[k].thread == first->thread && r->items[k].act < first->act)
            first = &r->items[k];
    return first->at;
}

struct ref beside_first(const struct beside *b, unsigned run)
{
    for (uint32_t i = 0; i < b->runs[run].count; i++)
        if (b->runs[run].items[i].other == DEEDS_NONE)
            return first_half(&b->runs[run], i);
    return (struct ref){0};
}

static bool is_equal(const struct deeds *r, uint32_t i, uint32_t before)
{
    return before == DEEDS_NONE || r->items[before].other != DEEDS_NONE ||
           deeds_one_point(r, i, before);
}

static bool follows_equal(const struct deeds *r, uint32_t i)
{
    const struct deed *d = &r->items[i];
    bool equal = is_equal(r, i, deeds_find(r, (struct ref){d->at.line, d->at.number - 1})) &&
                 (!d->act || is_equal(r, i, r->rows[d->thread].acts[d->act - 1]));
    for (uint32_t k = deeds_first_before(d); equal && k < d->ref_count; k++)
        equal = is_equal(r, i, deeds_find(r, d->refs[k]));
    return equal;
}

bool beside_begins(const struct beside *b, unsigned run, struct ref at)
{
    const struct deeds *r = &b->runs[run];
    uint32_t i = deeds_find(r, at);
    if (i == DEEDS_NONE || r->items[i].other != DEEDS_NONE)
        return false;
    bool begins = follows_equal(r, i);
    for (uint32_t k = r->items[i].ring; begins && k != i; k = r->items[k].ring)
        begins = follows_equal(r, k);
    return begins;
}

struct ref beside_instead(const struct beside *b, unsigned run, struct ref at)
{
    const struct deeds *r = &b->runs[run], *o = &b->runs[!run];
    uint32_t i = deeds_find(r, at);
    uint32_t there = i == DEEDS_NONE ? 0 : r->rows[r->items[i].thread].match;
    const struct row *row = there ? &o->rows[there] : NULL;
    return row && r->items[i].act < row->act_count ? o->items[row->acts[r->items[i].act]].at
                                                   : (struct ref){0};
}
