#include "server/timing/wait_release.h"
#include "base/lower_bound.h"

#define FOUND_MOST 128u /* maximum number of causes that are compared */
#define EDGES_MOST 64u /* edges read of one event, the newest ones */
#define SENDS_MOST 16u /* events before a wait that are searched for what it began to send */
#define HIDDEN_MOST 16u /* maximum length of a chain of hidden events that is followed */

struct release_candidate {
    struct release_cause cause;
    bool ended; /* it ended a critical section */
};

struct release_search {
    const struct wait_release *of;
    const struct order *order;
    struct release_candidate *found; /* FOUND_MOST */
    uint32_t count;
    /* the holder with the acquisition that is traced back, and the line; 0: the wait's end v itself
     */
    uint32_t visitor, visited;
    bool lost, gap; /* events are missing; gap: directly before the synchronization point itself */
    uint8_t doubt; /* an enum wait_guess: why the release of v is not certain */
    /* the current candidates come from an edge of their own, or are members of a group */
    bool direct;
    bool early; /* a release happened before the wait began */
    uint64_t unreceived; /* position of its last send without a known receive, or NO_POSITION */
    bool freed; /* the exclusive line had been released before the request */
    struct wait_interval *segments; /* the last one first */
    uint32_t segment_count;
};

/* ---- candidates ---- */

/* Adds a candidate if it lies within the wait.  A release may be timed at the end of its call,
 * after the waiter resumed; the order is more reliable, so its time is limited to the wait's
 * end. */
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

/* Returns whether an event is another thread's, or ended an earlier critical section of the
 * holder. */
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

/* Adds the events that hidden events collected: follows the hidden line backwards until one yields
 * a candidate. */
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

/* Returns whether the line was new, or had been released before the wait began.  A release is
 * recorded before other threads can acquire the line, so a request in between waits only for the
 * release itself. */
static bool was_free(const struct release_search *f, uint64_t previous)
{
    struct lock_hold hold;
    if (previous < order_first(f->order))
        return false;
    struct order_event e = *event_reader_at(f->of->events, previous);
    const struct run_metadata_source *t = f->of->teller;
    if (!e.line || !e.thread)
        return false;
    if (e.thread == f->of->thread)
        return f->of->meaning->may_pass;
    if (f->of->meaning->may_pass && order_previous(f->order, previous) == NO_POSITION)
        return !t->meaning(t->context, &e)->enters && t->time(t->context, &e) <= f->of->from_ns;
    /* a wait that lets other threads enter the line */
    if (e.thread == e.line && t->meaning(t->context, &e)->releases)
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
    if (previous == NO_POSITION) {
        f->freed |= !f->visitor && f->of->meaning->may_pass;
        return;
    }
    wait_release_check_event(f, previous);
    f->freed |= !f->visitor && was_free(f, previous);
}

/* Scans the events directly before those of a synchronization point.  Of a group it scans only the
 * event itself: `arrivals` has the last events of the other members. */
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

/* Adds the latest arrival of another member within the wait.  `arrivals` is sorted by time. */
static void wait_release_scan_arrivals(struct release_search *f)
{
    const struct wait_release *r = f->of;
    size_t low = LOWER_BOUND(i, 0, r->arrival_count, r->arrivals[i].ns <= r->to_ns);
    uint32_t before = f->count;
    for (size_t i = 0; i < r->arrival_count && i < 2; i++)
        f->early |= r->arrivals[i].thread != r->thread && r->arrivals[i].ns <= r->from_ns;
    while (low > 0 && f->count == before && r->arrivals[low - 1].ns > r->from_ns)
        wait_release_add_candidate(f, r->arrivals[--low]);
}

/* ---- choice of a candidate ---- */

static bool is_cause(const struct release_search *f, const struct release_cause *c)
{
    return (c->meaning->is & f->of->meaning->causes) != 0;
}

/* Returns whether the candidate is a release of the line rather than a signal. */
static bool is_leave(const struct release_search *f, const struct release_candidate *c)
{
    return c->ended && (c->cause.meaning->gives || !is_cause(f, &c->cause));
}

static bool is_later(const struct release_cause *a, const struct release_cause *b)
{
    return !b || a->ns > b->ns || (a->ns == b->ns && a->position > b->position);
}

/* Returns the latest candidate after after_ns and up to until_ns, or NULL.  It is a release of the
 * line or a signal with `leaves` and `calls`, a release with `leaves` alone, else a signal. */
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

/* Returns GUESS_LATEST if several candidates gave counted units, as it is not recorded which unit
 * the waiter took. */
static enum wait_guess wait_release_certainty(const struct release_search *f,
                                              const struct release_cause *c)
{
    unsigned gives = 0;
    for (uint32_t i = 0; i < f->count && c->meaning->gives; i++)
        gives += f->found[i].cause.meaning->gives;
    return gives > 1 ? GUESS_LATEST : GUESS_NONE;
}

static void wait_release_remove_candidate(struct release_search *f,
                                          const struct release_candidate *c)
{
    f->found[c - f->found] = f->found[--f->count];
}

static void end_segment(struct release_search *f, const struct release_cause *c, bool leaves)
{
    enum wait_guess guess = wait_release_certainty(f, c);
    if (f->segment_count && f->segments[f->segment_count - 1].to_ns == c->ns)
        f->segment_count--; /* that wait interval has length 0 */
    wait_release_push_segment(
        f, c, leaves ? WAIT_CONTENTION : (enum wait_class)f->of->meaning->class, guess);
}

/* Drops all but releases of lines, before the acquisition by a holder is traced back: releases by
 * other readers count as well, but signals were not for the holder. */
static void keep_leaves(struct release_search *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->count && kept < FOUND_MOST / 2; i++)
        if (is_leave(f, &f->found[i]))
            f->found[kept++] = f->found[i];
    f->count = kept;
}

/* Traces critical sections of an exclusive line backwards, as long as each began with nothing but
 * the end of the previous one.  Finds the same as wait_release_walk_back(), without reading
 * events.  Sets *hold to the critical section where it stopped. */
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
            /* (by inexact clocks a critical section can lie after the wait that it preceded) */
            return;
        struct release_cause c = {before.exit, before.exit_ns, before.thread, line, f->of->meaning};
        end_segment(f, &c, true);
        *hold = before;
    }
}

/* Traces critical sections backwards from the wait's end down to after_ns, and adds a wait
 * interval for each. calls: signals count, too. */
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

/* For a wait without an edge: chooses the latest possible release of those that were recorded
 * about the awaited line. */
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

/* Considers the receiver's previous event: the receiver arrived there, at the latest. */
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

/* Considers the receive before that of this send: it made room for the send.  It is recorded when
 * its call has ended, which can be after the sender resumed. */
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

/* Finds the receive that made room for the message that the waiter sent last. */
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

/* Finds a late receiver of what w, the begin of the wait, sent or, if the wait is for an operation
 * that was begun earlier, of what an event right before w sent.  A receiver that requested it
 * before the wait, or only after the waiter resumed, was not waited for. */
static bool late_receiver(struct release_search *f, struct release_cause *best)
{
    struct release_receive r = {f, best, false, false};
    uint64_t at = f->of->begin;
    bool any = false, itself = event_reader_at(f->of->events, at)->relation == RELATION_SEND;
    /* else only w itself can explain the wait */
    bool begun = f->of->sent && !f->of->meaning->sends;
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

/* ---- search for the release of a wait ---- */

/* Returns whether the waiter waits to be signaled, on a line that other threads may enter
 * meanwhile. */
static bool is_call(const struct release_search *f)
{
    const struct event_meaning *m = f->of->meaning;
    return m->releases && m->causes &&
           !order_line_shared(f->order, event_reader_at(f->of->events, f->of->begin)->line);
}

/* Condition variable: waits for the signal, then for the holder of the lock.  The signaling thread
 * is unknown if its signal was not recorded: a recorded signal may have been for another thread. */
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

/* Returns whether an untraced thread may have released it. */
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

/* Returns whether no thread was waited for: the other one had arrived, or the lock was free. */
static bool was_there(const struct release_search *f)
{
    if (f->of->meaning->may_pass && f->of->meaning->class == WAIT_RENDEZVOUS && !f->count)
        return !f->lost && !f->doubt;
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
