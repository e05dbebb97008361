/* Order races: critical sections of a lock, and messages to a receiver that accepts any sender, if
 * their order depends on scheduling.
 *
 * - Order violation: two successive critical sections of one lock, by two threads and from
 * different call sites, that only the lock orders and that never came in reversed order. -
 * Atomicity violation: two successive critical sections of one thread, from different call sites,
 * and one of another thread before or after both that could come between them, while none from its
 * call site ever did. - Message race: a message that arrived later at the same call site of the
 * same receiver and could have arrived first. */
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>

#define VISITS_MOST 2000000u

struct order_race_visit {
    uint32_t thread, lock, place;
    bool shared;
    bool woken; /* it began with the end of a wait */
    bool waits; /* it ended with a wait */
    uint32_t waits_for; /* the line that its final wait was for */
    uint32_t calls; /* the line that its thread signaled, during it or after it */
    uint64_t asked, taken, given, called; /* positions */
    struct mhb_clock_mark mark;
    /* 1 + the previous critical section of the lock; 1 + that of its thread with the lock */
    uint32_t before, mine;
};

struct order_race_group {
    enum finding_kind kind;
    /* critical sections; for a message the indices of the received ones, in the order of arrival */
    uint32_t a, b, c;
    struct sync_op one, other;
    uint64_t times;
    bool happened; /* the reversed order occurred, too */
};

struct order_races {
    struct order_race_visit *visits;
    size_t visit_count, visit_room;
    struct map last_of_lock, last_of_thread; /* lock; lock and thread -> 1 + index */
    struct map asks; /* thread -> 1 + position of its last request */
    struct map within; /* thread -> 1 + the critical section that it began last */
    struct order_race_group *groups; /* by call sites */
    size_t group_count, group_room;
    struct map first_of, between_of, message_of;
    struct sync_op *received; /* the last one of each receiver and call site */
    size_t received_count, received_room;
    struct map received_of;
    bool cut;
};

/* ---- groups ---- */

static struct order_race_group *group_of(struct order_races *f, struct map *map, uint64_t a,
                                         uint64_t b, enum finding_kind kind)
{
    return MAP_ITEM(map, a, b, f->groups, f->group_count, f->group_room,
                    (struct order_race_group){.kind = kind});
}

static uint64_t order_races_pack_pair(uint32_t a, uint32_t b) { return (uint64_t)a << 32 | b; }

/* ---- critical sections ---- */

static struct order_race_visit *order_races_get_visit(const struct order_races *f, uint32_t number)
{
    return number ? &f->visits[number - 1] : NULL;
}

static void note_first(struct order_races *f, uint32_t before, uint32_t after)
{
    const struct order_race_visit *a = order_races_get_visit(f, before),
                                  *b = order_races_get_visit(f, after);
    if (!a || a->thread == b->thread || a->place == b->place || (a->shared && b->shared) ||
        a->woken || b->woken)
        return;
    uintptr_t reverse =
        (uintptr_t)map_get(&f->first_of, order_races_pack_pair(b->place, a->place), 0);
    if (reverse)
        f->groups[reverse - 1].happened = true;
    struct order_race_group *g = group_of(
        f, &f->first_of, order_races_pack_pair(a->place, b->place), 0, FINDING_ORDER_VIOLATION);
    g->happened |= reverse != 0;
    if (mhb_before(a->mark, b->mark))
        return;
    g->times++;
    if (!g->a || (a->waits_for && !order_races_get_visit(f, g->a)->waits_for)) {
        g->a = before;
        g->b = after;
    }
}

/* Records two consecutive critical sections of one thread, and one of another thread that was
 * before or after both or, if `happened`, between them. */
static void note_between(struct order_races *f, uint32_t first, uint32_t second, uint32_t other,
                         bool happened)
{
    const struct order_race_visit *a = order_races_get_visit(f, first),
                                  *b = order_races_get_visit(f, second),
                                  *u = order_races_get_visit(f, other);
    if (!a || !b || !u || a->thread != b->thread || u->thread == a->thread ||
        a->place == b->place || a->waits || a->woken || b->woken || u->woken ||
        (u->shared && (a->shared || b->shared)))
        return;
    struct order_race_group *g = group_of(
        f, &f->between_of, order_races_pack_pair(a->place, b->place), u->place, FINDING_ATOMICITY);
    g->happened |= happened;
    bool sure = u->taken < a->taken ? mhb_before(u->mark, a->mark) : mhb_before(b->mark, u->mark);
    if (happened || sure)
        return;
    g->times++;
    if (!g->a) {
        g->a = first;
        g->b = second;
        g->c = other;
    }
}

static void order_races_check_pair(struct order_races *f, uint32_t me)
{
    const struct order_race_visit *v = order_races_get_visit(f, me),
                                  *before = order_races_get_visit(f, v->before);
    note_first(f, v->before, me);
    if (!before)
        return;
    if (before->thread == v->thread) { /* of the lock, the one before both of them */
        note_between(f, v->before, me, before->before, false);
    } else {
        note_between(f, before->mine, v->before, me, false);
        if (before->before == v->mine) /* it was between two of this thread */
            note_between(f, v->mine, me, v->before, true);
    }
}

static void order_races_on_acquire(struct order_races *f, const struct sync_op *d)
{
    uintptr_t asked = (uintptr_t)map_get(&f->asks, d->thread, d->lock);
    if (f->visit_count >= VISITS_MOST) {
        f->cut = true;
        return;
    }
    f->visits = array_reserve(f->visits, &f->visit_room, f->visit_count + 1, sizeof *f->visits);
    struct order_race_visit *v = &f->visits[f->visit_count++];
    *v = (struct order_race_visit){
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
    const struct order_race_visit *mine = order_races_get_visit(f, v->mine);
    v->woken = mine && mine->waits && !asked;
    map_put(&f->last_of_lock, d->lock, 0, (void *)(uintptr_t)me);
    map_put(&f->last_of_thread, d->lock, d->thread, (void *)(uintptr_t)me);
    map_put(&f->within, d->thread, 0, (void *)(uintptr_t)me);
    if (asked)
        map_remove(&f->asks, d->thread, d->lock);
    order_races_check_pair(f, me);
}

static void order_races_on_release(struct order_races *f, const struct sync_op *d)
{
    struct order_race_visit *v = order_races_get_visit(
        f, (uint32_t)(uintptr_t)map_get(&f->last_of_thread, d->lock, d->thread));
    if (!v || v->given != NO_POSITION)
        return;
    v->given = d->position;
    if (d->is == SYNC_OP_WAIT && !d->timed)
        v->waits_for = d->about;
    v->waits |= d->is == SYNC_OP_WAIT;
}

/* Records a signal by the thread, in its last critical section or after it. */
static void order_races_on_signal(struct order_races *f, const struct sync_op *d)
{
    struct order_race_visit *v =
        order_races_get_visit(f, (uint32_t)(uintptr_t)map_get(&f->within, d->thread, 0));
    if (!v || v->called != NO_POSITION)
        return;
    v->calls = d->about;
    v->called = d->position;
}

/* ---- messages ---- */

static void order_races_on_receive(struct order_races *f, const struct sync_op *d)
{
    uint64_t key = order_races_pack_pair(d->thread, d->about);
    uintptr_t known = (uintptr_t)map_get(&f->received_of, key, d->place);
    if (!known) {
        f->received = array_reserve(f->received, &f->received_room, f->received_count + 1,
                                    sizeof *f->received);
        f->received[f->received_count++] = *d;
        map_put(&f->received_of, key, d->place, (void *)(uintptr_t)f->received_count);
        return;
    }
    struct sync_op *last = &f->received[known - 1];
    if (last->sender != d->sender && !mhb_before(last->mark, d->sent_mark) &&
        !mhb_before(last->sent_mark, d->sent_mark)) {
        struct order_race_group *g =
            group_of(f, &f->message_of, order_races_pack_pair(d->place, d->thread),
                     order_races_pack_pair(last->sender, d->sender), FINDING_MESSAGE_RACE);
        if (!g->times++) {
            g->one = *last;
            g->other = *d;
        }
    }
    *last = *d;
}

static void order_races_feed(void *predictor, const struct sync_op *d)
{
    struct order_races *f = predictor;
    switch (d->is) {
    case SYNC_OP_REQUEST:
        map_put(&f->asks, d->thread, d->lock, (void *)(uintptr_t)(d->position + 1));
        break;
    case SYNC_OP_REFUSED:
        map_remove(&f->asks, d->thread, d->lock);
        break;
    case SYNC_OP_ACQUIRE:
        order_races_on_acquire(f, d);
        break;
    case SYNC_OP_RELEASE:
    case SYNC_OP_WAIT:
        order_races_on_release(f, d);
        break;
    case SYNC_OP_SIGNAL:
        order_races_on_signal(f, d);
        break;
    case SYNC_OP_RECEIVE:
        order_races_on_receive(f, d);
        break;
    case SYNC_OP_WOKEN:
    case SYNC_OP_REREAD:
    case SYNC_OP_FORK:
    case SYNC_OP_SEND:
    case SYNC_OP_USE:
    case SYNC_OP_DESTROY:
    case SYNC_OP_REUSE:
    case SYNC_OP_HANDLER_BEGIN:
    case SYNC_OP_HANDLER_END:
    case SYNC_OP_SIGNAL_MASK:
    case SYNC_OP_MESSAGE:
    case SYNC_OP_UNBLOCK:
    case SYNC_OP_POST:
        break;
    }
}

/* ---- findings ---- */

static struct finding_participant order_races_participant_of(const struct order_race_visit *v)
{
    return (struct finding_participant){.thread = v->thread,
                                        .lock = v->lock,
                                        .then_lock = v->lock,
                                        .position = v->taken,
                                        .then = v->given,
                                        .begin = v->asked == NO_POSITION ? v->taken : v->asked};
}

static void add_first(const struct order_races *f, const struct order_race_group *g,
                      struct findings *to)
{
    const struct order_race_visit *a = order_races_get_visit(f, g->a),
                                  *b = order_races_get_visit(f, g->b);
    bool undelivered = a->waits_for && a->waits_for == b->calls;
    struct finding *finding =
        findings_add(to, undelivered ? FINDING_EARLY_SIGNAL : FINDING_ORDER_VIOLATION);
    finding->times = g->times;
    finding_add_participant(finding, order_races_participant_of(a));
    struct finding_participant part = order_races_participant_of(b);
    if (undelivered) {
        part.then = b->called;
        part.then_lock = b->calls;
        finding->parts[0].then_lock = a->waits_for;
    }
    finding_add_participant(finding, part);
}

static void add_between(const struct order_races *f, const struct order_race_group *g,
                        struct findings *to)
{
    const struct order_race_visit *a = order_races_get_visit(f, g->a),
                                  *b = order_races_get_visit(f, g->b);
    struct finding *finding = findings_add(to, FINDING_ATOMICITY);
    finding->times = g->times;
    finding_add_participant(finding, (struct finding_participant){
                                         .thread = a->thread,
                                         .lock = a->lock,
                                         .then_lock = b->lock,
                                         .position = a->taken,
                                         .then = b->taken,
                                         .begin = b->asked == NO_POSITION ? b->taken : b->asked});
    finding_add_participant(finding, order_races_participant_of(order_races_get_visit(f, g->c)));
}

static void add_message(const struct order_race_group *g, struct findings *to)
{
    const struct sync_op *both[] = {&g->one, &g->other};
    struct finding *finding = findings_add(to, FINDING_MESSAGE_RACE);
    finding->times = g->times;
    for (int i = 0; i < 2; i++)
        finding_add_participant(finding, (struct finding_participant){.thread = both[i]->sender,
                                                                      .lock = both[i]->thread,
                                                                      .then_lock = both[i]->thread,
                                                                      .position = both[i]->sent,
                                                                      .then = both[i]->position,
                                                                      .begin = both[i]->sent});
}

static bool order_races_step(void *predictor, struct findings *to, uint64_t *budget)
{
    struct order_races *f = predictor;
    for (size_t i = 0; i < f->group_count; i++) {
        const struct order_race_group *g = &f->groups[i];
        if (!g->times || g->happened)
            continue;
        if (g->kind == FINDING_ORDER_VIOLATION)
            add_first(f, g, to);
        else if (g->kind == FINDING_ATOMICITY)
            add_between(f, g, to);
        else
            add_message(g, to);
    }
    to->cut |= f->cut;
    return true;
}

static void order_races_free(void *predictor)
{
    struct order_races *f = predictor;
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
    free(predictor);
}

const struct predictor predictor_order_races = {.size = sizeof(struct order_races),
                                                .feed = order_races_feed,
                                                .step = order_races_step,
                                                .free = order_races_free};
