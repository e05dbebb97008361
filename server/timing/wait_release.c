#include "server/timing/wait_release.h"

#define FOUND_MOST 128u /* causes that are compared */
#define EDGES_MOST 64u /* of one event */
#define SENDS_MOST 16u /* events back, where it waits for what it began to send */
#define HIDDEN_MOST 16u /* hidden events, one before the other */

struct release_candidate {
    struct release_cause cause;
    bool ended; /* a visit */
};

struct release_search {
    const struct wait_release *of;
    const struct order *order;
    struct release_candidate *found; /* FOUND_MOST */
    uint32_t count;
    uint32_t visitor, visited; /* whose entry is looked behind, into which line; 0: v itself is */
    bool lost, gap; /* gap: right before the point itself */
    uint8_t doubt; /* of v: why who let it go is not certain */
    bool direct; /* what is looked at is told by an edge of its own, or has met it */
    bool early; /* what let it go on was there before it waited */
    uint64_t unreceived; /* what it sent last of which no receive is known, or NO_POSITION */
    bool freed; /* the exclusive line was left, for all that is known, before it asked for it */
    struct wait_interval *segments; /* the last one first */
    uint32_t segment_count;
};

/* ---- causes ---- */

/* Its time may be that of its call's end, after who waited had gone on: the order knows better. */
static void wait_release_add_candidate(struct release_search *f, struct release_cause c)
{
    if (c.ns > f->of->to_ns)
        c.ns = f->of->to_ns;
    f->early |= f->direct && c.thread && c.thread != f->of->thread && c.ns <= f->of->from_ns;
    if (c.thread && c.thread != f->of->thread && c.ns > f->of->from_ns && c.ns <= f->of->to_ns &&
        f->count < FOUND_MOST) {
        struct lock_hold hold;
        f->found[f->count++] = (struct release_candidate){
            c, lock_holders_ended(f->of->holds, c.line, c.position, &hold)};
    }
}

/* Of who made a visit only the end of one before it counts. */
static bool is_others(const struct release_search *f, const struct order_event *e,
                      uint64_t position)
{
    struct lock_hold hold;
    return e->thread != f->visitor ||
           (e->line == f->visited && lock_holders_ended(f->of->holds, e->line, position, &hold));
}

static void wait_release_check_event(struct release_search *f, uint64_t position)
{
    const struct run_metadata_source *t = f->of->teller;
    if (position < order_first(f->order)) {
        f->lost = true;
        return;
    }
    struct order_event e = *event_reader_at(f->of->events, position);
    if (e.line && !(e.line & HIDDEN_LINE) && is_others(f, &e, position))
        wait_release_add_candidate(f, (struct release_cause){position, t->time(t->context, &e),
                                                             e.thread, e.line,
                                                             t->meaning(t->context, &e)});
    f->lost |= !e.line;
}

/* What hidden events collected, the newest first, until one of it is too early. */
static void wait_release_scan_range(struct release_search *f, uint64_t hidden)
{
    for (unsigned n = 0; n < HIDDEN_MOST && hidden != NO_POSITION; n++) {
        struct order_event h = *event_reader_at(f->of->events, hidden);
        uint32_t first = h.edge_count > EDGES_MOST ? h.edge_count - EDGES_MOST : 0,
                 before = f->count;
        for (uint32_t i = first; i < h.edge_count; i++)
            wait_release_check_event(f, order_edge(f->order, hidden, i));
        if (f->count > before)
            return;
        hidden = order_previous(f->order, hidden);
    }
}

static void wait_release_scan_line(struct release_search *f, uint64_t from)
{
    if (from < order_first(f->order)) {
        f->lost = true;
        return;
    }
    f->direct = !(event_reader_at(f->of->events, from)->line & HIDDEN_LINE);
    if (f->direct)
        wait_release_check_event(f, from);
    else
        wait_release_scan_range(f, from);
    f->direct = false;
}

/* Who leaves says so before others can come in: one who asks in between waits for no more than
 * that. */
static bool was_free(const struct release_search *f, uint64_t previous)
{
    struct lock_hold hold;
    if (previous < order_first(f->order))
        return false;
    struct order_event e = *event_reader_at(f->of->events, previous);
    const struct run_metadata_source *t = f->of->teller;
    if (!e.line || !e.thread || e.thread == f->of->thread)
        return false;
    if (e.thread == e.line && t->meaning(t->context, &e)->releases) /* it lets others in */
        return t->time(t->context, &e) <= f->of->from_ns;
    return lock_holders_ended(f->of->holds, e.line, previous, &hold) &&
           hold.exit_ns <= f->of->from_ns;
}

static void wait_release_scan_before(struct release_search *f, uint64_t position)
{
    struct order_event e = *event_reader_at(f->of->events, position);
    uint32_t first = e.edge_count > EDGES_MOST ? e.edge_count - EDGES_MOST : 0;
    for (uint32_t i = first; i < e.edge_count; i++)
        wait_release_scan_line(f, order_edge(f->order, position, i));
    f->gap |= e.after_gap;
    f->lost |= e.partner_lost || !e.line;
    if (!e.line || order_line_shared(f->order, e.line))
        return;
    uint64_t previous = order_previous(f->order, position);
    if (previous == NO_POSITION)
        return;
    wait_release_check_event(f, previous);
    f->freed |= !f->visitor && was_free(f, previous);
}

/* Of a group only the event itself: what its other members did before is in `arrivals`. */
static void wait_release_scan_before_point(struct release_search *f, uint64_t position)
{
    struct order_event e = *event_reader_at(f->of->events, position);
    if (e.relation != RELATION_SYNC) {
        wait_release_scan_before(f, position);
        return;
    }
    uint64_t end = order_point_end(f->order, position);
    for (uint64_t p = e.point; p <= end && p < e.point + 2; p++)
        wait_release_scan_before(f, p);
}

/* The latest that others did before they met; they stand by their times. */
static void wait_release_scan_arrivals(struct release_search *f)
{
    const struct wait_release *r = f->of;
    size_t low = 0, high = r->arrival_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->arrivals[middle].ns <= r->to_ns)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t before = f->count;
    for (size_t i = 0; i < r->arrival_count && i < 2; i++)
        f->early |= r->arrivals[i].thread != r->thread && r->arrivals[i].ns <= r->from_ns;
    while (low > 0 && f->count == before && r->arrivals[low - 1].ns > r->from_ns)
        wait_release_add_candidate(f, r->arrivals[--low]);
}

/* ---- which of them ---- */

static bool is_cause(const struct release_search *f, const struct release_cause *c)
{
    return (c->meaning->is & f->of->meaning->causes) != 0;
}

/* Did somebody leave with it, rather than call? */
static bool is_leave(const struct release_search *f, const struct release_candidate *c)
{
    return c->ended && (c->cause.meaning->gives || !is_cause(f, &c->cause));
}

static bool is_later(const struct release_cause *a, const struct release_cause *b)
{
    return !b || a->ns > b->ns || (a->ns == b->ns && a->position > b->position);
}

/* The latest that is after one time and not after another. */
static const struct release_candidate *wait_release_latest_candidate(const struct release_search *f,
                                                                     int64_t after_ns,
                                                                     int64_t until_ns, bool leaves,
                                                                     bool calls)
{
    const struct release_candidate *best = NULL;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct release_candidate *c = &f->found[i];
        if (c->cause.ns <= after_ns || c->cause.ns > until_ns ||
            !is_later(&c->cause, best ? &best->cause : NULL))
            continue;
        if ((leaves && calls) || is_leave(f, c) == leaves)
            best = c;
    }
    return best;
}

static void wait_release_push_segment(struct release_search *f, const struct release_cause *c,
                                      enum wait_class class, enum wait_guess guess)
{
    f->segments[f->segment_count++] = (struct wait_interval){.to_ns = c->ns,
                                                             .release = c->position,
                                                             .thread = c->thread,
                                                             .class = (uint8_t) class,
                                                             .guess = (uint8_t)guess};
}

/* Of what is counted, it is not told which one was taken. */
static enum wait_guess wait_release_certainty(const struct release_search *f,
                                              const struct release_cause *c)
{
    unsigned gives = 0;
    for (uint32_t i = 0; i < f->count && c->meaning->gives; i++)
        gives += f->found[i].cause.meaning->gives;
    return gives > 1 ? GUESS_LATEST : GUESS_NONE;
}

/* It is looked at no more. */
static void wait_release_remove_candidate(struct release_search *f,
                                          const struct release_candidate *c)
{
    f->found[c - f->found] = f->found[--f->count];
}

static void end_segment(struct release_search *f, const struct release_cause *c, bool leaves)
{
    enum wait_guess guess = wait_release_certainty(f, c);
    if (f->segment_count && f->segments[f->segment_count - 1].to_ns == c->ns)
        f->segment_count--; /* that one took no time */
    wait_release_push_segment(
        f, c, leaves ? WAIT_CONTENTION : (enum wait_class)f->of->meaning->class, guess);
}

/* Behind a visit, who else left counts as well: readers overlap.  What called does not, it was not
 * for the visitor. */
static void keep_leaves(struct release_search *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->count && kept < FOUND_MOST / 2; i++)
        if (is_leave(f, &f->found[i]))
            f->found[kept++] = f->found[i];
    f->count = kept;
}

/* Back from visit to visit of an exclusive line, as long as each began with nothing but the end of
 * the one before it:  what walk() finds, without looking at events.  *hold: the visit that it came
 * to. */
static void walk_quickly(struct release_search *f, uint32_t line, struct lock_hold *hold,
                         int64_t after_ns)
{
    struct lock_hold before;
    keep_leaves(f);
    if (f->count || f->of->meaning->causes || order_line_shared(f->order, line))
        return;
    while (hold->plain && hold->entry_ns > after_ns && f->segment_count < RELEASE_SEGMENTS - 1 &&
           lock_holders_before(f->of->holds, line, hold, &before)) {
        if (before.thread == f->of->thread || before.exit_ns <= after_ns ||
            before.exit_ns > hold->entry_ns ||
            before.exit_ns > f->segments[f->segment_count - 1].to_ns)
            return; /* (clocks may put a visit behind the wait that it was before) */
        struct release_cause c = {before.exit, before.exit_ns, before.thread, line, f->of->meaning};
        end_segment(f, &c, true);
        *hold = before;
    }
}

/* Back from visit to visit, as far as a time. */
static void wait_release_walk_back(struct release_search *f, int64_t after_ns, bool calls)
{
    int64_t until_ns = f->of->to_ns;
    const struct release_candidate *best;
    while ((best = wait_release_latest_candidate(f, after_ns, until_ns, true, calls)) != NULL) {
        struct lock_hold hold;
        bool leaves = is_leave(f, best);
        struct release_cause c = best->cause;
        end_segment(f, &c, leaves);
        wait_release_remove_candidate(f, best);
        leaves = leaves && lock_holders_ended(f->of->holds, c.line, c.position, &hold);
        if (leaves)
            walk_quickly(f, c.line, &hold, after_ns);
        if (!leaves || hold.entry_ns <= after_ns)
            return;
        if (f->segment_count == RELEASE_SEGMENTS - 1) {
            f->segments[f->segment_count - 1].guess = GUESS_LATEST;
            return;
        }
        until_ns = hold.entry_ns < until_ns ? hold.entry_ns : until_ns;
        keep_leaves(f);
        f->visitor = hold.thread;
        f->visited = c.line;
        wait_release_scan_before_point(f, hold.entry);
    }
}

/* ---- guesses ---- */

/* No edge says who: the latest of those that may have been it. */
static bool wait_release_guess_cause(struct release_search *f, struct release_cause *best)
{
    const struct wait_release *r = f->of;
    const struct release_cause *at = NULL;
    for (size_t i = 0; i < r->about_count; i++) {
        const struct release_cause *c = &r->about[i];
        f->early |= r->meaning->gathers && c->thread != r->thread && c->ns <= r->from_ns;
        if (c->thread && c->thread != r->thread && c->ns > r->from_ns && c->ns <= r->to_ns &&
            is_cause(f, c) && is_later(c, at))
            at = c;
    }
    if (at)
        *best = *at;
    return at != NULL;
}

struct release_receive {
    struct release_search *f;
    struct release_cause *best;
    bool found, known;
};

/* Who receives what was sent had begun to before: the event before it of that thread. */
static void consider_receive(void *context, uint64_t receive)
{
    struct release_receive *r = context;
    const struct run_metadata_source *t = r->f->of->teller;
    uint64_t before = order_previous_of_thread(r->f->order, receive, EDGES_MOST);
    if (before == NO_POSITION || before < order_first(r->f->order))
        return;
    struct order_event e = *event_reader_at(r->f->of->events, before);
    if (!e.line)
        return;
    r->known = true;
    struct release_cause c = {before, t->time(t->context, &e), e.thread, e.line,
                              t->meaning(t->context, &e)};
    if (c.thread && c.thread != r->f->of->thread && c.ns > r->f->of->from_ns &&
        c.ns <= r->f->of->to_ns && is_later(&c, r->found ? r->best : NULL)) {
        *r->best = c;
        r->found = true;
    }
}

/* Who receives what could be sent only then made room for it: by the last it received before.  That
 * is told when its call has ended, which may be after the sender went on. */
static void consider_room(void *context, uint64_t receive)
{
    struct release_receive *r = context;
    const struct wait_release *of = r->f->of;
    const struct order *order = r->f->order;
    const struct run_metadata_source *t = of->teller;
    uint32_t about = event_reader_at(of->events, of->begin)->about;
    r->known = true;
    for (unsigned looks = SENDS_MOST; looks > 0; looks--) {
        receive = order_previous_of_thread(order, receive, EDGES_MOST);
        if (receive == NO_POSITION || receive < order_first(order))
            return;
        struct order_event e = *event_reader_at(of->events, receive);
        struct release_cause c = {receive, t->time(t->context, &e), e.thread, e.line,
                                  t->meaning(t->context, &e)};
        if (!e.line || c.ns <= of->from_ns || c.thread == of->thread)
            return;
        if (!is_cause(r->f, &c) || e.about != about)
            continue;
        bool earlier = c.ns <= of->to_ns;
        c.ns = earlier ? c.ns : of->to_ns;
        *r->best = c;
        r->found = true;
        if (earlier)
            return;
    }
}

/* What it sent at last, when there was room for it. */
static bool made_room(struct release_search *f, struct release_cause *best)
{
    struct release_receive r = {f, best, false, false};
    struct order_event e = *event_reader_at(f->of->events, f->of->end);
    if (!f->of->sent || !f->of->meaning->causes || e.relation != RELATION_SEND)
        return false;
    order_receives(f->order, f->of->end, consider_room, &r);
    f->unreceived = r.known ? f->unreceived : f->of->end;
    return r.found;
}

/* What it sent by w, or, where it waits for what it began, by one of its events right before.  Who
 * asked for that before it waited, or only when it had gone on, it did not wait for. */
static bool late_receiver(struct release_search *f, struct release_cause *best)
{
    struct release_receive r = {f, best, false, false};
    uint64_t at = f->of->begin;
    bool any = false, itself = event_reader_at(f->of->events, at)->relation == RELATION_SEND;
    bool begun = f->of->sent && !f->of->meaning->sends; /* what else it sent is no reason */
    unsigned looks = itself ? 1 : begun ? SENDS_MOST : 0;
    for (; looks > 0 && at != NO_POSITION && at >= order_first(f->order); looks--) {
        struct order_event e = *event_reader_at(f->of->events, at);
        if (e.line && e.relation == RELATION_SEND && e.thread == f->of->thread) {
            r.known = false;
            order_receives(f->order, at, consider_receive, &r);
            f->unreceived = r.known ? f->unreceived : at;
            any = true;
        }
        at = order_previous(f->order, at);
    }
    f->early |= any && !r.found && f->unreceived == NO_POSITION && f->of->sent;
    return r.found;
}

/* ---- the whole ---- */

/* Does it wait to be called back into a line that it let others enter meanwhile? */
static bool is_call(const struct release_search *f)
{
    const struct event_meaning *m = f->of->meaning;
    return m->releases && m->causes &&
           !order_line_shared(f->order, event_reader_at(f->of->events, f->of->begin)->line);
}

/* A condition: to the call, then whoever was in the line.  Who called is not known where that was
 * not seen: a call that was seen may have been another thread's. */
static void find_called(struct release_search *f)
{
    const struct release_candidate *call =
        wait_release_latest_candidate(f, f->of->from_ns, f->of->to_ns, false, true);
    struct release_cause guessed;
    bool seen = f->doubt != UNTRACED_THREAD;
    bool known = call && f->doubt != UNTRACED_SIGNAL,
         any = seen && (known || wait_release_guess_cause(f, &guessed));
    if (seen && call && !known && (!any || is_later(&call->cause, &guessed))) {
        guessed = call->cause;
        any = true;
    }
    if (!any)
        return;
    struct release_cause c = known ? call->cause : guessed;
    wait_release_walk_back(f, c.ns, false);
    wait_release_push_segment(f, &c, WAIT_RENDEZVOUS, known ? GUESS_NONE : GUESS_LATEST);
}

/* May who let it go be somebody who was not seen? */
static bool wait_release_may_be_untraced(const struct release_search *f)
{
    return f->doubt == UNTRACED_THREAD || f->doubt == UNTRACED_BARRIER ||
           (f->doubt == UNTRACED_SIGNAL && !is_call(f));
}

static void find_unsaid(struct release_search *f)
{
    struct release_cause c;
    if (late_receiver(f, &c) || made_room(f, &c))
        wait_release_push_segment(f, &c, WAIT_RENDEZVOUS, GUESS_LATE_RECEIVER);
    else if (!wait_release_may_be_untraced(f) && wait_release_guess_cause(f, &c))
        wait_release_push_segment(f, &c, WAIT_RENDEZVOUS,
                                  f->of->meaning->sends ? GUESS_LATE_RECEIVER : GUESS_LATEST);
}

static void turn_round(struct wait_interval *segments, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        struct wait_interval s = segments[i];
        segments[i] = segments[count - 1 - i];
        segments[count - 1 - i] = s;
    }
}

/* Nobody was waited for: whom it was to meet had come, or the lock was free. */
static bool was_there(const struct release_search *f)
{
    return f->of->meaning->class == WAIT_CONTENTION ? f->freed && !f->lost : f->early;
}

uint32_t wait_release_find(const struct wait_release *release, struct wait_interval *segments,
                           enum release_missing *missing, uint64_t *unreceived)
{
    struct release_candidate found[FOUND_MOST];
    struct release_search f = {.of = release,
                               .order = release->teller->order,
                               .found = found,
                               .unreceived = NO_POSITION,
                               .doubt = event_reader_at(release->events, release->end)->doubt,
                               .segments = segments};
    wait_release_scan_before_point(&f, release->end);
    wait_release_scan_arrivals(&f);
    *missing = f.lost || f.gap ? MISSING_LOST : MISSING_UNTRACED;
    *unreceived = NO_POSITION;
    if (f.gap)
        return 0;
    if (is_call(&f))
        find_called(&f);
    else
        wait_release_walk_back(&f, release->from_ns, true);
    if (!f.segment_count)
        find_unsaid(&f);
    if (!f.segment_count && !release->meaning->releases && was_there(&f))
        *missing = MISSING_NOTHING;
    if (!f.segment_count && *missing == MISSING_UNTRACED && release->sent)
        *unreceived = f.unreceived;
    turn_round(segments, f.segment_count);
    return f.segment_count;
}
