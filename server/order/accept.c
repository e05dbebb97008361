/* Intake: from events in any order to a log in an order that respects all edges. */
#include "server/order/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOST_FOR_EVER UINT64_MAX

struct point { /* events that are delivered together */
    struct pending **members;
    size_t count, room;
};

static struct pending *pending_at(const struct order *order, struct ref ref)
{
    return map_get(&order->pending, ref.line, ref.number);
}

struct order *order_new(void)
{
    struct order *order = calloc(1, sizeof *order);
    if (!order) {
        fprintf(stderr, "poet server: out of memory\n");
        abort();
    }
    return order;
}

static void line_free(struct line *line)
{
    free(line->positions);
    free(line->gaps);
    free(line->waiters);
    free(line->sits);
    free(line->collectors);
}

static void pending_free(struct pending *pending)
{
    free(pending->partners);
    free(pending);
}

void order_free(struct order *order)
{
    if (!order)
        return;
    for (size_t i = 0; i < order->line_count; i++)
        line_free(&order->lines[i]);
    for (size_t i = 0; i < order->hidden_count; i++)
        line_free(&order->hidden[i]);
    for (size_t i = 0; i * CHUNK_EVENTS < order->count; i++)
        free(order->chunks[i]); /* NULL where forgotten */
    free(order->starts);
    for (size_t i = 0; i < order->pending.room; i++)
        if (order->pending.entries[i].value)
            pending_free(order->pending.entries[i].value);
    for (size_t i = 0; i < order->meetings.room; i++) {
        struct meeting *meeting = order->meetings.entries[i].value;
        if (meeting) {
            free(meeting->members);
            free(meeting->waiting);
            free(meeting);
        }
    }
    for (size_t i = 0; i < order->after_room; i++)
        free(order->after[i].items);
    for (size_t i = 0; i < order->effects_room; i++)
        free(order->effects[i].of);
    map_free(&order->pending);
    map_free(&order->meetings);
    free(order->lines);
    free(order->hidden);
    free(order->chunks);
    free(order->edges);
    free(order->links);
    free(order->after);
    free(order->effects);
    free(order->work);
    free(order->troubles);
    free(order);
}

uint32_t order_line(struct order *order, bool shared, uint32_t kind)
{
    order->lines =
        grow(order->lines, &order->line_room, order->line_count + 1, sizeof *order->lines);
    order->lines[order->line_count++] = (struct line){.shared = shared, .kind = kind};
    return (uint32_t)order->line_count;
}

void order_opened_by(struct order *order, uint32_t line, struct ref by)
{
    struct line *l = order_get(order, line);
    if (l->count == 0)
        l->opened_by = by;
}

void order_after(struct order *order, uint32_t type, uint32_t earlier)
{
    size_t before = order->after_room;
    order->after = grow(order->after, &order->after_room, type + 1, sizeof *order->after);
    if (order->after_room > before)
        memset(order->after + before, 0, (order->after_room - before) * sizeof *order->after);
    struct set *set = &order->after[type];
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i] == earlier)
            return;
    set->items = grow(set->items, &set->room, set->count + 1, sizeof *set->items);
    set->items[set->count++] = earlier;
}

void order_report(struct order *order, struct ref at, struct ref with, const char *why)
{
    order->figures.contradictions++;
    if (order->trouble_count >= 65536)
        return; /* counted, not listed */
    order->troubles = grow(order->troubles, &order->trouble_room, order->trouble_count + 1,
                           sizeof *order->troubles);
    order->troubles[order->trouble_count++] = (struct trouble){at, with, why};
}

static void enqueue(struct order *order, uint32_t number)
{
    struct line *line = order_get(order, number);
    if (line->queued)
        return;
    line->queued = true;
    order->work = grow(order->work, &order->work_room, order->work_count + 1, sizeof *order->work);
    order->work[order->work_count++] = number;
}

/* ---- waiting ---- */

static void waiter_push(struct line *line, struct waiter waiter)
{
    line->waiters =
        grow(line->waiters, &line->waiter_room, line->waiter_count + 1, sizeof *line->waiters);
    size_t i = line->waiter_count++;
    for (; i && line->waiters[(i - 1) / 2].number > waiter.number; i = (i - 1) / 2)
        line->waiters[i] = line->waiters[(i - 1) / 2];
    line->waiters[i] = waiter;
}

static struct waiter waiter_pop(struct line *line)
{
    struct waiter top = line->waiters[0], last = line->waiters[--line->waiter_count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= line->waiter_count)
            break;
        if (child + 1 < line->waiter_count &&
            line->waiters[child + 1].number < line->waiters[child].number)
            child++;
        if (line->waiters[child].number >= last.number)
            break;
        line->waiters[i] = line->waiters[child];
        i = child;
    }
    line->waiters[i] = last;
    return top;
}

static void wake(struct order *order, uint32_t number)
{
    struct line *line = order_get(order, number);
    while (line->waiter_count && line->waiters[0].number <= line->delivered) {
        uint32_t who = waiter_pop(line).line;
        order_get(order, who)->wait = (struct ref){0, 0};
        enqueue(order, who);
    }
}

static bool is_member(const struct point *point, uint32_t line)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i]->arrival.at.line == line)
            return true;
    return false;
}

/* Lets the point wait for `need`; false if that closes a cycle of waiting lines. */
static bool point_wait(struct order *order, const struct point *point, struct ref need)
{
    for (uint32_t line = need.line; line;) {
        if (is_member(point, line))
            return false;
        struct ref wait = order_get(order, line)->wait;
        if (!wait.line || order_get(order, wait.line)->delivered >= wait.number)
            break;
        line = wait.line;
    }
    uint32_t who = point->members[0]->arrival.at.line;
    order_get(order, who)->wait = need;
    waiter_push(order_get(order, need.line), (struct waiter){need.number, who});
    return true;
}

/* ---- delivering ---- */

static void deliver_one(struct order *order, const struct pending *pending, uint64_t point,
                        const uint64_t *collected, size_t collected_count)
{
    const struct arrival *a = &pending->arrival;
    struct line *line = order_get(order, a->at.line);
    bool first = line->count == 0;
    struct event *event = log_append(order, a->at.line, a->at.number);
    event->time_ns = a->time_ns;
    event->thread = a->thread;
    event->about = a->about;
    event->site = a->site;
    event->type = a->type;
    event->relation = (uint8_t)a->relation;
    event->point = point;
    for (size_t i = 0; a->relation == RELATION_RECEIVE && i < pending->arrival.partner_count; i++) {
        uint64_t send = order_position(order, pending->partners[i]);
        if (send == NO_POSITION)
            event->partner_lost |= !order_is_forgotten(order, pending->partners[i]);
        else if (order_event(order, send)->state == EVENT_ORDERED)
            log_receive(order, event, send);
    }
    for (size_t i = 0; i < collected_count; i++)
        log_edge(order, event, collected[i]);
    struct ref opener = first ? line->opened_by : (struct ref){0, 0};
    for (size_t i = 0; i < 2; i++)
        if (a->after[i].line && !(opener.line && ref_equal(a->after[i], opener)))
            log_edge(order, event, log_standing(order, a->after[i]));
    if (opener.line) {
        uint32_t before = event->edge_count;
        log_edge(order, event, log_standing(order, opener));
        event->opened = event->edge_count > before;
    }
    if (a->closes)
        line->closed = true;
    if (a->thread && order_get(order, a->thread))
        order_get(order, a->thread)->acted = order->count;
    presence_apply(order, event);
}

static void forget_pending(struct order *order, struct pending *pending)
{
    struct ref at = pending->arrival.at;
    map_take(&order->pending, at.line, at.number);
    order_get(order, at.line)->pending--;
    order->figures.pending--;
    pending_free(pending);
}

static void deliver_point(struct order *order, const struct point *point, bool partner_lost)
{
    uint64_t collected[16];
    size_t counts[2] = {0, 0};
    for (size_t i = 0; i < point->count && i < 2; i++) /* no group lies on shared lines only */
        counts[i] = log_collect(order, point->members[i]->arrival.at.line,
                                point->members[i]->arrival.type, collected + 8 * i, 8);
    uint64_t first = order->count;
    for (size_t i = 0; i < point->count; i++) {
        deliver_one(order, point->members[i], first, collected + 8 * (i & 1),
                    i < 2 ? counts[i] : 0);
        if (partner_lost && !order_is_forgotten(order, point->members[i]->partners[0]))
            order->chunks[first / CHUNK_EVENTS][first % CHUNK_EVENTS].partner_lost = true;
    }
    for (size_t i = 0; i < point->count; i++) {
        uint32_t line = point->members[i]->arrival.at.line;
        forget_pending(order, point->members[i]);
        order_get(order, line)->wait = (struct ref){0, 0};
        wake(order, line);
        enqueue(order, line);
    }
}

/* Sets the head of a line aside. */
static void contradict(struct order *order, struct pending *pending, struct ref with,
                       const char *why)
{
    const struct arrival *a = &pending->arrival;
    struct pending *partner =
        a->relation == RELATION_SYNC && !a->keyed ? pending_at(order, pending->partners[0]) : NULL;
    if (partner && !partner->lost && partner->arrival.relation == RELATION_SYNC &&
        !partner->arrival.keyed && ref_equal(partner->partners[0], a->at))
        partner->condemned = true;
    if (!pending->condemned)
        order_report(order, a->at, with, why);
    uint32_t line = a->at.line;
    struct event *event = log_append(order, line, a->at.number);
    event->time_ns = a->time_ns;
    event->thread = a->thread;
    event->about = a->about;
    event->site = a->site;
    event->type = a->type;
    event->relation = (uint8_t)a->relation;
    event->state = EVENT_CONTRADICTORY;
    presence_apply(order, event);
    forget_pending(order, pending);
    order_get(order, line)->wait = (struct ref){0, 0};
    wake(order, line);
    enqueue(order, line);
}

/* ---- who is in the point, and is it ready? ---- */

enum verdict { READY, READY_ALONE, WAITING, DONE };

static struct meeting *meeting_of(const struct order *order, const struct arrival *a)
{
    return map_get(&order->meetings, a->key[0], a->key[1]);
}

static void point_add(struct point *point, struct pending *pending)
{
    point->members =
        grow(point->members, &point->room, point->count + 1, sizeof *point->members);
    point->members[point->count++] = pending;
}

static bool never_comes(const struct order *order, struct ref ref)
{
    const struct line *line = order_get(order, ref.line);
    return line->gone && line->delivered < ref.number && !pending_at(order, ref);
}

static enum verdict wait_or_contradict(struct order *order, const struct point *point,
                                       struct ref need, const char *why)
{
    if (point_wait(order, point, need))
        return WAITING;
    contradict(order, point->members[0], need, why);
    return DONE;
}

static const char *refusal(const struct order *order, struct ref partner, struct ref self)
{
    uint64_t position = order_position(order, partner);
    const struct event *e = position == NO_POSITION ? NULL : order_event(order, position);
    const struct pending *p = pending_at(order, partner);
    unsigned relation = e ? e->relation : p ? (unsigned)p->arrival.relation : RELATION_NONE;
    (void)self;
    if (relation == RELATION_SYNC)
        return "names a partner that is paired with another event";
    return "names a partner that does not name it back";
}

/* A SYNC head: its partner must be a head that names it back. */
static enum verdict join_partner(struct order *order, struct point *point, struct ref partner)
{
    struct pending *head = point->members[0];
    struct line *line = order_get(order, partner.line);
    if (!line || partner.number == 0 || partner.line == head->arrival.at.line) {
        contradict(order, head, partner, "is paired with an event that cannot be");
        return DONE;
    }
    if (line->delivered >= partner.number) {
        if (order_position(order, partner) == NO_POSITION)
            return READY_ALONE; /* lost */
        contradict(order, head, partner, refusal(order, partner, head->arrival.at));
        return DONE;
    }
    struct pending *other = pending_at(order, partner);
    if (!other) {
        if (never_comes(order, partner))
            return READY_ALONE;
        return wait_or_contradict(order, point, partner, "closes a cycle");
    }
    if (!other->lost && (other->arrival.relation != RELATION_SYNC || other->arrival.keyed ||
                         !ref_equal(other->partners[0], head->arrival.at))) {
        contradict(order, head, partner, refusal(order, partner, head->arrival.at));
        return DONE;
    }
    if (other->lost || line->delivered + 1 != partner.number)
        return wait_or_contradict(order, point, partner, "closes a cycle");
    point_add(point, other);
    return READY;
}

/* A keyed head: all who meet by its key must be heads. */
static enum verdict join_meeting(struct order *order, struct point *point)
{
    struct pending *head = point->members[0];
    const struct arrival *a = &head->arrival;
    struct meeting *meeting = meeting_of(order, a);
    size_t size = a->relation == RELATION_GROUP ? a->group_size : 2;
    if (meeting->count < size) {
        struct line *line = order_get(order, a->at.line);
        if (line->wait.line == 0) {
            meeting->waiting = grow(meeting->waiting, &meeting->waiting_room,
                                    meeting->waiting_count + 1, sizeof *meeting->waiting);
            meeting->waiting[meeting->waiting_count++] = a->at.line;
        }
        return WAITING;
    }
    size_t rank = 0;
    while (rank < meeting->count && !ref_equal(meeting->members[rank], a->at))
        rank++;
    if (rank >= size) {
        contradict(order, head, meeting->members[0], "comes to a group that is complete");
        return DONE;
    }
    for (size_t i = 0; i < size; i++) {
        struct ref ref = meeting->members[i];
        if (ref_equal(ref, a->at))
            continue;
        struct pending *other = pending_at(order, ref);
        if (is_member(point, ref.line) || !other || other->arrival.relation != a->relation ||
            (a->relation == RELATION_GROUP && other->arrival.group_size != a->group_size)) {
            contradict(order, head, ref, "meets by its key an event that does not fit");
            return DONE;
        }
        if (order_get(order, ref.line)->delivered + 1 != ref.number)
            return wait_or_contradict(order, point, ref, "closes a cycle");
        point_add(point, other);
    }
    return READY;
}

/* A keyed RECEIVE: finds its send. */
static enum verdict find_send(struct order *order, struct point *point)
{
    struct pending *head = point->members[0];
    const struct meeting *meeting = meeting_of(order, &head->arrival);
    for (size_t i = 0; i < meeting->count; i++) {
        uint64_t position = order_position(order, meeting->members[i]);
        const struct pending *p = pending_at(order, meeting->members[i]);
        if ((p && p->arrival.relation == RELATION_SEND) ||
            (position != NO_POSITION &&
             order_event(order, position)->relation == RELATION_SEND)) {
            head->partners = malloc(sizeof *head->partners);
            if (!head->partners)
                abort();
            head->partners[0] = meeting->members[i];
            head->arrival.partner_count = 1;
            return READY;
        }
    }
    return WAITING; /* the send wakes it */
}

static enum verdict wait_for_edges(struct order *order, const struct point *point,
                                   const struct pending *member)
{
    const struct arrival *a = &member->arrival;
    struct ref edges[3] = {a->after[0], a->after[1], {0, 0}};
    if (order_get(order, a->at.line)->count == 0)
        edges[2] = order_get(order, a->at.line)->opened_by;
    for (size_t i = 0; i < 3; i++) {
        struct line *line = edges[i].line ? order_get(order, edges[i].line) : NULL;
        if (!line || line->delivered >= edges[i].number || never_comes(order, edges[i]))
            continue;
        return wait_or_contradict(order, point, edges[i], "closes a cycle");
    }
    return READY;
}

static enum verdict wait_for_sends(struct order *order, const struct point *point)
{
    struct pending *head = point->members[0];
    for (size_t i = 0; i < head->arrival.partner_count; i++) {
        struct ref send = head->partners[i];
        struct line *line = order_get(order, send.line);
        uint64_t position = order_position(order, send);
        const struct pending *p = pending_at(order, send);
        if (!line || send.number == 0 ||
            (position != NO_POSITION && order_event(order, position)->relation != RELATION_SEND) ||
            (p && !p->lost && p->arrival.relation != RELATION_SEND)) {
            contradict(order, head, send, "receives from an event that sends nothing");
            return DONE;
        }
        if (line->delivered >= send.number || never_comes(order, send))
            continue;
        return wait_or_contradict(order, point, send, "closes a cycle");
    }
    return READY;
}

static enum verdict judge(struct order *order, struct point *point)
{
    struct pending *head = point->members[0];
    const struct arrival *a = &head->arrival;
    bool alone = false;
    if (order_get(order, a->at.line)->closed) {
        contradict(order, head, (struct ref){0, 0}, "comes after the end of its line");
        return DONE;
    }
    if (head->condemned) {
        contradict(order, head, (struct ref){0, 0}, "");
        return DONE;
    }
    enum verdict verdict = READY;
    if (a->relation == RELATION_GROUP || (a->relation == RELATION_SYNC && a->keyed))
        verdict = join_meeting(order, point);
    else if (a->relation == RELATION_SYNC)
        verdict = join_partner(order, point, head->partners[0]);
    else if (a->relation == RELATION_RECEIVE && a->keyed && a->partner_count == 0)
        verdict = find_send(order, point);
    if (verdict == READY_ALONE)
        alone = true;
    else if (verdict != READY)
        return verdict;
    for (size_t i = 0; i < point->count; i++) {
        verdict = wait_for_edges(order, point, point->members[i]);
        if (verdict != READY)
            return verdict;
    }
    if (a->relation == RELATION_RECEIVE) {
        verdict = wait_for_sends(order, point);
        if (verdict != READY)
            return verdict;
    }
    return alone ? READY_ALONE : READY;
}

static bool step(struct order *order, uint32_t number, struct point *point)
{
    struct line *line = order_get(order, number);
    struct pending *head =
        line->pending ? pending_at(order, (struct ref){number, line->delivered + 1}) : NULL;
    if (!head)
        return false;
    if (head->lost) {
        uint64_t count = head->lost;
        forget_pending(order, head);
        log_gap(order, number, count);
        wake(order, number);
        return true;
    }
    point->count = 0;
    point_add(point, head);
    enum verdict verdict = judge(order, point);
    if (verdict == READY || verdict == READY_ALONE)
        deliver_point(order, point, verdict == READY_ALONE);
    return verdict != WAITING;
}

static void drain(struct order *order)
{
    struct point point = {0};
    while (order->work_count) {
        uint32_t number = order->work[--order->work_count];
        order_get(order, number)->queued = false;
        while (step(order, number, &point))
            ;
    }
    free(point.members);
}

/* ---- coming in ---- */

static void meet(struct order *order, const struct arrival *a)
{
    struct meeting *meeting = meeting_of(order, a);
    if (!meeting) {
        meeting = calloc(1, sizeof *meeting);
        if (!meeting)
            abort();
        map_put(&order->meetings, a->key[0], a->key[1], meeting);
    }
    meeting->members =
        grow(meeting->members, &meeting->room, meeting->count + 1, sizeof *meeting->members);
    meeting->members[meeting->count++] = a->at;
    for (size_t i = 0; i < meeting->count; i++)
        if (meeting->members[i].line)
            enqueue(order, meeting->members[i].line);
    for (size_t i = 0; i < meeting->waiting_count; i++)
        enqueue(order, meeting->waiting[i]);
    meeting->waiting_count = 0;
}

static struct pending *pending_new(struct order *order, struct ref at)
{
    struct pending *pending = calloc(1, sizeof *pending);
    if (!pending)
        abort();
    pending->arrival.at = at;
    map_put(&order->pending, at.line, at.number, pending);
    order_get(order, at.line)->pending++;
    order->figures.pending++;
    return pending;
}

bool order_accept(struct order *order, const struct arrival *arrival)
{
    struct line *line = order_get(order, arrival->at.line);
    if (!line || arrival->at.number == 0 || arrival->at.number <= line->delivered ||
        pending_at(order, arrival->at)) {
        order->figures.duplicates++;
        return false;
    }
    struct pending *pending = pending_new(order, arrival->at);
    if (arrival->at.number > line->highest)
        line->highest = arrival->at.number;
    pending->arrival = *arrival;
    pending->arrival.partners = NULL;
    if (arrival->partner_count) {
        pending->partners = malloc(arrival->partner_count * sizeof *pending->partners);
        if (!pending->partners)
            abort();
        memcpy(pending->partners, arrival->partners,
               arrival->partner_count * sizeof *pending->partners);
    }
    if (arrival->keyed || arrival->relation == RELATION_GROUP)
        meet(order, arrival);
    if (arrival->at.number == line->delivered + 1 || line->gone)
        enqueue(order, arrival->at.line);
    /* Those who wait for just this event must look again: it may not name them. */
    for (size_t i = 0; i < line->waiter_count; i++)
        if (line->waiters[i].number == arrival->at.number)
            enqueue(order, line->waiters[i].line);
    drain(order);
    return true;
}

void order_lost(struct order *order, uint32_t number, uint64_t first, uint64_t count)
{
    struct line *line = order_get(order, number);
    if (!line || count == 0 || first == 0 || first > UINT64_MAX - count)
        return;
    if (first <= line->delivered) {
        uint64_t known = line->delivered - first + 1;
        if (known >= count)
            return;
        first += known;
        count -= known;
    }
    if (pending_at(order, (struct ref){number, first}))
        return;
    pending_new(order, (struct ref){number, first})->lost = count;
    enqueue(order, number);
    drain(order);
}

/* Declares lost what lies before the first pending event of each gone line. */
static bool close_gaps(struct order *order)
{
    uint64_t *least = calloc(order->line_count + 1, sizeof *least);
    if (!least)
        abort();
    for (size_t i = 0; i < order->pending.room; i++) {
        if (!order->pending.entries[i].value)
            continue;
        struct map_entry *entry = &order->pending.entries[i];
        if (entry->a <= order->line_count && (!least[entry->a] || entry->b < least[entry->a]))
            least[entry->a] = entry->b;
    }
    bool any = false;
    for (uint32_t i = 1; i <= order->line_count; i++) {
        struct line *line = &order->lines[i - 1];
        if (!line->gone || !least[i] || least[i] <= line->delivered + 1)
            continue;
        log_gap(order, i, least[i] - line->delivered - 1);
        wake(order, i);
        enqueue(order, i);
        any = true;
    }
    free(least);
    return any;
}

void order_gone(struct order *order, const uint32_t *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order_get(order, lines[i])->gone = true;
    do { /* whoever waits for what never comes looks again */
        for (uint32_t i = 1; i <= order->line_count; i++)
            if (order->lines[i - 1].pending)
                enqueue(order, i);
        drain(order);
    } while (close_gaps(order));
}

struct order_figures order_figures(const struct order *order) { return order->figures; }

const struct trouble *order_troubles(const struct order *order, size_t *count)
{
    *count = order->trouble_count;
    return order->troubles;
}

void order_pending(const struct order *order,
                   void (*visit)(void *context, const struct arrival *), void *context)
{
    for (size_t i = 0; i < order->pending.room; i++) {
        const struct pending *pending = order->pending.entries[i].value;
        if (!pending || pending->lost)
            continue;
        struct arrival arrival = pending->arrival;
        arrival.partners = pending->partners;
        visit(context, &arrival);
    }
}
