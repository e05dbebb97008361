#include "server/causes/flips.h"

#include <stdlib.h>

#define VISITS_MOST 2000000u

struct flips_visit {
    uint32_t thread, lock, place;
    bool shared;
    bool woken; /* it began when a wait was over, */
    bool waits; /* or ended with one */
    uint32_t waits_for; /* the line that it ended by waiting for */
    uint32_t calls; /* the line that its thread called about, in it or behind it */
    uint64_t asked, taken, given, called; /* positions */
    struct sure_mark mark;
    uint32_t before, mine; /* 1 + the visit of the lock, of its thread there, before it */
};

struct flips_group {
    enum maybe_kind kind;
    uint32_t a, b, c; /* visits; of a message those that were received, as they came */
    struct deed one, other;
    uint64_t times;
    bool happened; /* the other way, too */
};

/* ---- groups ---- */

static struct flips_group *group_of(struct flips *f, struct map *map, uint64_t a, uint64_t b,
                                    enum maybe_kind kind)
{
    uintptr_t known = (uintptr_t)map_get(map, a, b);
    if (!known) {
        f->groups = grow_zeroed(f->groups, &f->group_room, f->group_count + 1, sizeof *f->groups);
        known = ++f->group_count;
        f->groups[known - 1].kind = kind;
        map_put(map, a, b, (void *)known);
    }
    return &f->groups[known - 1];
}

static uint64_t two(uint32_t a, uint32_t b) { return (uint64_t)a << 32 | b; }

/* ---- visits ---- */

static struct flips_visit *visit(const struct flips *f, uint32_t number)
{
    return number ? &f->visits[number - 1] : NULL;
}

static void note_first(struct flips *f, uint32_t before, uint32_t after)
{
    const struct flips_visit *a = visit(f, before), *b = visit(f, after);
    if (!a || a->thread == b->thread || a->place == b->place || (a->shared && b->shared) ||
        a->woken || b->woken)
        return;
    uintptr_t reverse = (uintptr_t)map_get(&f->first_of, two(b->place, a->place), 0);
    if (reverse)
        f->groups[reverse - 1].happened = true;
    struct flips_group *g = group_of(f, &f->first_of, two(a->place, b->place), 0, MAYBE_FIRST);
    g->happened |= reverse != 0;
    if (sure_before(a->mark, b->mark))
        return;
    g->times++;
    if (!g->a || (a->waits_for && !visit(f, g->a)->waits_for)) {
        g->a = before;
        g->b = after;
    }
}

/* Two of one thread, and another one that came before or behind both; or between them. */
static void note_between(struct flips *f, uint32_t first, uint32_t second, uint32_t other,
                         bool happened)
{
    const struct flips_visit *a = visit(f, first), *b = visit(f, second), *u = visit(f, other);
    if (!a || !b || !u || a->thread != b->thread || u->thread == a->thread ||
        a->place == b->place || a->waits || a->woken || b->woken || u->woken ||
        (u->shared && (a->shared || b->shared)))
        return;
    struct flips_group *g =
        group_of(f, &f->between_of, two(a->place, b->place), u->place, MAYBE_BETWEEN);
    g->happened |= happened;
    bool sure = u->taken < a->taken ? sure_before(u->mark, a->mark) : sure_before(b->mark, u->mark);
    if (happened || sure)
        return;
    g->times++;
    if (!g->a) {
        g->a = first;
        g->b = second;
        g->c = other;
    }
}

static void look_at(struct flips *f, uint32_t me)
{
    const struct flips_visit *v = visit(f, me), *before = visit(f, v->before);
    note_first(f, v->before, me);
    if (!before)
        return;
    if (before->thread == v->thread) { /* and what was before both of them */
        note_between(f, v->before, me, before->before, false);
    } else {
        note_between(f, before->mine, v->before, me, false);
        if (before->before == v->mine) /* one between two */
            note_between(f, v->mine, me, v->before, true);
    }
}

static void take(struct flips *f, const struct deed *d)
{
    uintptr_t asked = (uintptr_t)map_get(&f->asks, d->thread, d->lock);
    if (f->visit_count >= VISITS_MOST) {
        f->cut = true;
        return;
    }
    f->visits = grow(f->visits, &f->visit_room, f->visit_count + 1, sizeof *f->visits);
    struct flips_visit *v = &f->visits[f->visit_count++];
    *v = (struct flips_visit){
        .thread = d->thread,
        .lock = d->lock,
        .place = d->place,
        .shared = d->shared,
        .asked = asked ? asked - 1 : NO_POSITION,
        .taken = d->position,
        .given = NO_POSITION,
        .called = NO_POSITION,
        .mark = d->mark,
        .before = (uint32_t)(uintptr_t)map_get(&f->last_of_lock, d->lock, 0),
        .mine = (uint32_t)(uintptr_t)map_get(&f->last_of_thread, d->lock, d->thread)};
    uint32_t me = (uint32_t)f->visit_count;
    const struct flips_visit *mine = visit(f, v->mine);
    v->woken = mine && mine->waits && !asked;
    map_put(&f->last_of_lock, d->lock, 0, (void *)(uintptr_t)me);
    map_put(&f->last_of_thread, d->lock, d->thread, (void *)(uintptr_t)me);
    map_put(&f->within, d->thread, 0, (void *)(uintptr_t)me);
    if (asked)
        map_take(&f->asks, d->thread, d->lock);
    look_at(f, me);
}

static void give(struct flips *f, const struct deed *d)
{
    struct flips_visit *v =
        visit(f, (uint32_t)(uintptr_t)map_get(&f->last_of_thread, d->lock, d->thread));
    if (!v || v->given != NO_POSITION)
        return;
    v->given = d->position;
    if (d->is == DEED_WAITS && !d->timed)
        v->waits_for = d->about;
    v->waits |= d->is == DEED_WAITS;
}

/* In its visit, or after it. */
static void call(struct flips *f, const struct deed *d)
{
    struct flips_visit *v = visit(f, (uint32_t)(uintptr_t)map_get(&f->within, d->thread, 0));
    if (!v || v->called != NO_POSITION)
        return;
    v->calls = d->about;
    v->called = d->position;
}

/* ---- messages ---- */

static void receive(struct flips *f, const struct deed *d)
{
    uint64_t whose = two(d->thread, d->about);
    uintptr_t known = (uintptr_t)map_get(&f->received_of, whose, d->place);
    if (!known) {
        f->received =
            grow(f->received, &f->received_room, f->received_count + 1, sizeof *f->received);
        f->received[f->received_count++] = *d;
        map_put(&f->received_of, whose, d->place, (void *)(uintptr_t)f->received_count);
        return;
    }
    struct deed *last = &f->received[known - 1];
    if (last->sender != d->sender && !sure_before(last->mark, d->sent_mark) &&
        !sure_before(last->sent_mark, d->sent_mark)) {
        struct flips_group *g = group_of(f, &f->message_of, two(d->place, d->thread),
                                         two(last->sender, d->sender), MAYBE_MESSAGE);
        if (!g->times++) {
            g->one = *last;
            g->other = *d;
        }
    }
    *last = *d;
}

void flips_deed(struct flips *f, const struct deed *d)
{
    switch (d->is) {
    case DEED_ASKS:
        map_put(&f->asks, d->thread, d->lock, (void *)(uintptr_t)(d->position + 1));
        break;
    case DEED_REFUSED:
        map_take(&f->asks, d->thread, d->lock);
        break;
    case DEED_TAKES:
        take(f, d);
        break;
    case DEED_GIVES:
    case DEED_WAITS:
        give(f, d);
        break;
    case DEED_CALLS:
        call(f, d);
        break;
    case DEED_RECEIVES:
        receive(f, d);
        break;
    case DEED_WOKEN:
        break;
    }
}

/* ---- what was found ---- */

static struct maybe_part part_of(const struct flips_visit *v)
{
    return (struct maybe_part){.thread = v->thread,
                               .lock = v->lock,
                               .then_lock = v->lock,
                               .position = v->taken,
                               .then = v->given,
                               .begin = v->asked == NO_POSITION ? v->taken : v->asked};
}

static void add_first(const struct flips *f, const struct flips_group *g, struct findings *to)
{
    const struct flips_visit *a = visit(f, g->a), *b = visit(f, g->b);
    bool unheard = a->waits_for && a->waits_for == b->calls;
    struct finding *finding = findings_add(to, unheard ? MAYBE_UNHEARD : MAYBE_FIRST);
    finding->times = g->times;
    findings_part(finding, part_of(a));
    struct maybe_part part = part_of(b);
    if (unheard) {
        part.then = b->called;
        part.then_lock = b->calls;
        finding->parts[0].then_lock = a->waits_for;
    }
    findings_part(finding, part);
}

static void add_between(const struct flips *f, const struct flips_group *g, struct findings *to)
{
    const struct flips_visit *a = visit(f, g->a), *b = visit(f, g->b);
    struct finding *finding = findings_add(to, MAYBE_BETWEEN);
    finding->times = g->times;
    findings_part(finding,
                  (struct maybe_part){.thread = a->thread,
                                      .lock = a->lock,
                                      .then_lock = b->lock,
                                      .position = a->taken,
                                      .then = b->taken,
                                      .begin = b->asked == NO_POSITION ? b->taken : b->asked});
    findings_part(finding, part_of(visit(f, g->c)));
}

static void add_message(const struct flips_group *g, struct findings *to)
{
    const struct deed *both[] = {&g->one, &g->other};
    struct finding *finding = findings_add(to, MAYBE_MESSAGE);
    finding->times = g->times;
    for (int i = 0; i < 2; i++)
        findings_part(finding, (struct maybe_part){.thread = both[i]->sender,
                                                   .lock = both[i]->thread,
                                                   .then_lock = both[i]->thread,
                                                   .position = both[i]->sent,
                                                   .then = both[i]->position,
                                                   .begin = both[i]->sent});
}

void flips_end(struct flips *f, struct findings *to)
{
    for (size_t i = 0; i < f->group_count; i++) {
        const struct flips_group *g = &f->groups[i];
        if (!g->times || g->happened)
            continue;
        if (g->kind == MAYBE_FIRST)
            add_first(f, g, to);
        else if (g->kind == MAYBE_BETWEEN)
            add_between(f, g, to);
        else
            add_message(g, to);
    }
    to->cut |= f->cut;
}

void flips_free(struct flips *f)
{
    free(f->visits);
    free(f->groups);
    free(f->received);
    map_free(&f->last_of_lock);
    map_free(&f->last_of_thread);
    map_free(&f->asks);
    map_free(&f->within);
    map_free(&f->first_of);
    map_free(&f->between_of);
    map_free(&f->message_of);
    map_free(&f->received_of);
}
