#include "server/timing/interval_builder.h"

#include "base/alloc.h"
#include "server/timing/event_reader.h"
#include "server/timing/incoming_edges.h"
#include "server/timing/lock_holders.h"
#include "server/timing/wait_release.h"

#include <stdlib.h>

/* Tolerances of the sum of recorded code segments, as fractions of the time between the events.  A
 * sum that is less by more than 1/DID_ERROR leaves an unrecorded rest; one that is greater by more
 * than 1/DID_FAR cannot belong to that time. */
#define DID_ERROR 10000
#define DID_FAR 100

#define ABOUT_KEPT 4u /* possible release causes kept for one line */

struct thread_progress { /* a thread, and its last event */
    uint64_t position;
    int64_t ns;
    uint32_t line, about, type, place;
    const struct event_meaning *meaning;
    bool begun, ended;
    struct measured_activity doing;
};

struct point_member { /* member of a synchronization point */
    struct order_event event;
    uint64_t position;
    int64_t ns;
    const struct event_meaning *meaning;
};

struct interval_builder {
    struct run_metadata_source teller;
    struct intervals intervals;
    uint64_t first, known, end;
    struct before { /* search before the first position, done once */
        uint64_t known;
        uint64_t *last; /* by line - 1: 1 + the position of each thread's last event */
        uint32_t lines;
    } before;
    struct thread_progress *threads; /* by line - 1 */
    size_t thread_room;
    struct lock_holders holds;
    struct incoming_edges ties;
    struct about {
        struct release_cause kept[ABOUT_KEPT];
        uint32_t count;
    } **about; /* by line - 1; NULL: none */
    size_t about_room;
    struct point_member *members;
    size_t member_count, member_room;
    struct release_cause *arrivals;
    size_t arrival_count, arrival_room;
    struct wait_interval *segments;
    struct event_reader events;
    struct activity_piece *did; /* activity records of the current event */
    int did_count; /* -1: the event has none */
    /* the code segment in which its thread was after its previous event, */
    struct code_segment_key did_step;
    bool did_went_on; /* set if that is known */
    uint64_t *unreceived; /* positions of sends with receives that would explain a wait */
    size_t unreceived_count, unreceived_room;
};

struct interval_builder *interval_builder_new(struct run_metadata_source teller, uint64_t first,
                                              uint64_t end)
{
    struct interval_builder *f = xcalloc(1, sizeof *f);
    f->teller = teller;
    uint64_t kept = order_first(teller.order);
    f->first = f->known = first > kept ? first : kept;
    f->end = end;
    f->before.known = kept;
    if (f->first > kept) {
        f->before.lines = order_line_count(teller.order);
        f->before.last = xcalloc(f->before.lines, sizeof *f->before.last);
    }
    f->did = xcalloc(ACTIVITY_MAX, sizeof *f->did);
    f->segments = xcalloc(RELEASE_SEGMENTS, sizeof *f->segments);
    event_reader_begin(&f->events, teller.order);
    return f;
}

void interval_builder_free(struct interval_builder *f)
{
    if (!f)
        return;
    intervals_free(&f->intervals);
    lock_holders_free(&f->holds);
    incoming_edges_free(&f->ties);
    for (size_t i = 0; i < f->about_room; i++)
        free(f->about[i]);
    free(f->about);
    free(f->threads);
    free(f->before.last);
    free(f->members);
    free(f->arrivals);
    free(f->segments);
    free(f->did);
    event_reader_free(&f->events);
    free(f->unreceived);
    free(f);
}

/* ---- threads ---- */

static struct thread_progress *interval_builder_thread(struct interval_builder *f, uint32_t line)
{
    f->threads = array_reserve_zeroed(f->threads, &f->thread_room, line, sizeof *f->threads);
    return &f->threads[line - 1];
}

/* Makes an event the last one of its thread. */
static void interval_builder_remember(struct thread_progress *t, const struct point_member *m,
                                      uint32_t place)
{
    t->position = m->position;
    t->ns = m->ns;
    t->line = m->event.line;
    t->about = m->event.about;
    t->type = m->event.type;
    t->place = place;
    t->meaning = m->meaning;
    t->begun = true;
}

/* ---- the begin: each thread as its last event before the first position left it ---- */

#define LOOKS 16u /* threads visited at the cost of one event */

/* Sets the initial state of a thread that has not ended: as its last event before the begin left
 * it. */
static void interval_builder_seed_thread(struct interval_builder *f, uint64_t position)
{
    struct order_event e = order_event(f->teller.order, position);
    struct point_member m = {e, position, f->teller.time(f->teller.context, &e),
                             f->teller.meaning(f->teller.context, &e)};
    if (!e.line || m.meaning->ends || m.meaning->closes)
        return;
    intervals_start(&f->intervals, e.thread, m.ns, position);
    interval_builder_remember(interval_builder_thread(f, e.thread), &m,
                              f->teller.place(f->teller.context, e.site));
}

/* Sets the initial state of each thread from the events before the first.  Returns true once all
 * are searched. */
static bool interval_builder_seed_before(struct interval_builder *f, uint64_t *budget)
{
    struct before *b = &f->before;
    uint64_t end = f->first - b->known > *budget * LOOKS ? b->known + *budget * LOOKS : f->first;
    if (!b->last)
        return true;
    order_last_of_threads(f->teller.order, b->known, end, b->last, b->lines);
    *budget -= (end - b->known) / LOOKS;
    b->known = end;
    for (uint32_t i = 0; end == f->first && i < b->lines; i++)
        if (b->last[i])
            interval_builder_seed_thread(f, b->last[i] - 1);
    if (end == f->first) {
        free(b->last);
        b->last = NULL;
    }
    return end == f->first;
}

/* ---- one event ---- */

static const struct about *interval_builder_objects_of(const struct interval_builder *f,
                                                       uint32_t line)
{
    static const struct about nothing;
    return line && line <= f->about_room && f->about[line - 1] ? f->about[line - 1] : &nothing;
}

static void note_about(struct interval_builder *f, const struct point_member *m)
{
    uint32_t line = m->event.about ? m->event.about : m->event.line;
    f->about = array_reserve_zeroed(f->about, &f->about_room, line, sizeof *f->about);
    if (!f->about[line - 1])
        f->about[line - 1] = xcalloc(1, sizeof **f->about);
    struct about *a = f->about[line - 1];
    a->kept[a->count++ % ABOUT_KEPT] =
        (struct release_cause){m->position, m->ns, m->event.thread, m->event.line, m->meaning};
}

static uint32_t interval_builder_step_code(struct interval_builder *f, uint32_t from, uint32_t to,
                                           enum code_segment_kind is, uint32_t category)
{
    return code_segments_code(&f->intervals.steps, (struct code_segment_key){from, to, (uint8_t)is,
                                                                             (uint8_t)category, 0});
}

/* Returns what a thread waits for, as far as events say it: what its last event is about; the line
 * on which that stands, if other threads act there to end the wait; else 0. */
static uint32_t interval_builder_awaited(const struct thread_progress *t, uint32_t thread)
{
    const struct event_meaning *m = t->meaning;
    bool here = t->line != thread && (m->releases || m->causes || m->class == WAIT_CONTENTION);
    return t->about ? t->about : here ? t->line : 0;
}

static struct wait_record begun_wait(const struct thread_progress *t, uint32_t line)
{
    return (struct wait_record){.begin = t->position,
                                .end = NO_POSITION,
                                .from_ns = t->ns,
                                .thread = line,
                                .about = interval_builder_awaited(t, line),
                                .place = t->place,
                                .type = t->type,
                                .class = t->meaning->class};
}

static uint32_t find_release(struct interval_builder *f, const struct thread_progress *t,
                             const struct point_member *m, enum release_missing *missing)
{
    const struct about *a = interval_builder_objects_of(f, t->about ? t->about : t->line);
    struct wait_release release = {.teller = &f->teller,
                                   .events = &f->events,
                                   .holds = &f->holds,
                                   .meaning = t->meaning,
                                   .begin = t->position,
                                   .end = m->position,
                                   .from_ns = t->ns,
                                   .to_ns = m->ns,
                                   .thread = m->event.thread,
                                   .sent = t->meaning->sends || m->meaning->sends,
                                   .arrivals = f->arrivals,
                                   .arrival_count = f->arrival_count,
                                   .about = a->kept,
                                   .about_count = a->count < ABOUT_KEPT ? a->count : ABOUT_KEPT};
    uint64_t unreceived;
    uint32_t count = wait_release_find(&release, f->segments, missing, &unreceived);
    if (unreceived != NO_POSITION) {
        f->unreceived = array_reserve(f->unreceived, &f->unreceived_room, f->unreceived_count + 1,
                                      sizeof *f->unreceived);
        f->unreceived[f->unreceived_count++] = unreceived;
    }
    return count;
}

/* Returns whether it was a wait: not if a request was granted at once. */
static bool wait_ended(struct interval_builder *f, const struct thread_progress *t,
                       const struct point_member *m)
{
    struct wait_record wait = begun_wait(t, m->event.thread);
    uint32_t count = 0;
    enum release_missing missing = MISSING_UNTRACED;
    enum code_segment_kind rest = STEP_LATENCY;
    wait.end = m->position;
    wait.to_ns = m->ns;
    if (m->meaning->by_clock)
        wait.class = WAIT_TIMEOUT;
    if (wait.class != WAIT_TIMEOUT)
        count = find_release(f, t, m, &missing);
    if (wait.class == WAIT_TIMEOUT) {
        rest = STEP_TIMEOUT;
    } else if (!count && missing != MISSING_NOTHING) {
        wait.unexplained = missing == MISSING_LOST ? UNATTRIBUTED_LOST : UNATTRIBUTED_UNTRACED;
        rest = STEP_UNKNOWN;
    } else if (!count && t->meaning->may_pass) {
        return false;
    }
    intervals_add_wait(&f->intervals, wait, f->segments, count,
                       interval_builder_step_code(f, t->place, 0, rest, t->meaning->category));
    return true;
}

/* Adds the recorded code segments, the last up to the event; the rest is code in between. */
static void ran_pieces(struct interval_builder *f, const struct thread_progress *t,
                       const struct point_member *m, uint32_t place, uint32_t otherwise)
{
    int64_t all_ns = m->ns - t->ns, sum_ns = 0, most_ns = f->did_count ? all_ns : 0, by_ns = 0;
    for (int i = 0; i < f->did_count; i++)
        sum_ns += f->did[i].ns;
    if (sum_ns < all_ns - all_ns / DID_ERROR - 2)
        most_ns = sum_ns; /* the unrecorded rest comes first */
    else if (sum_ns > all_ns + all_ns / DID_FAR + 1000)
        most_ns = 0;
    intervals_add_run(&f->intervals, m->event.thread, otherwise, m->ns - most_ns, m->position);
    for (int i = 0; i < f->did_count && most_ns; i++) {
        const struct activity_piece *piece = &f->did[i];
        uint32_t step = piece->step.is == STEP_CALLS
                            ? code_segments_code(&f->intervals.steps, piece->step)
                            : otherwise;
        by_ns += piece->ns;
        int64_t to_ns = sum_ns ? (int64_t)((long double)by_ns * most_ns / sum_ns + .5L) : 0;
        to_ns = to_ns < most_ns ? to_ns : most_ns;
        intervals_add_activity(&f->intervals, m->event.thread, step, m->ns - most_ns + to_ns,
                               m->position, place);
    }
    intervals_add_run(&f->intervals, m->event.thread, otherwise, m->ns, m->position);
}

static void interval_builder_add_run(struct interval_builder *f, const struct thread_progress *t,
                                     const struct point_member *m, uint32_t place)
{
    uint32_t from = m->event.after_gap ? 0 : t->place; /* the code in between is not known */
    uint32_t otherwise = interval_builder_step_code(f, from, place, STEP_CODE, 0);
    if (f->did_count >= 0 && !m->event.after_gap)
        ran_pieces(f, t, m, place, otherwise);
    else if (f->did_went_on && !m->event.after_gap)
        intervals_add_activity(&f->intervals, m->event.thread,
                               code_segments_code(&f->intervals.steps, f->did_step), m->ns,
                               m->position, place);
    else
        intervals_add_run(&f->intervals, m->event.thread, otherwise, m->ns, m->position);
}

/* Reads the code segments before the event from its record; without one the thread's segment
 * continues. */
static void interval_builder_read_activity(struct interval_builder *f, struct thread_progress *t,
                                           const struct point_member *m)
{
    f->did_went_on = t->doing.known;
    f->did_step = t->doing.step;
    f->did_count =
        f->teller.did ? f->teller.did(f->teller.context, &t->doing, &m->event, f->did) : -1;
}

/* ---- waits for the end of another thread, which no event records ---- */

static const struct event_meaning awaits_an_end = {.waits = true, .class = WAIT_RENDEZVOUS};

/* Returns whether the thread waits for another one's end after its last event, and since when. */
static bool awaits(struct interval_builder *f, const struct thread_progress *t,
                   struct thread_progress *waiting)
{
    struct awaiting awaiting;
    if (!f->teller.awaits || t->position < order_first(f->teller.order) ||
        !f->teller.awaits(f->teller.context, event_reader_at(&f->events, t->position), &awaiting))
        return false;
    *waiting = *t;
    waiting->ns = awaiting.from_ns > t->ns ? awaiting.from_ns : t->ns;
    waiting->about = awaiting.about;
    waiting->type = 0;
    waiting->place = f->teller.place(f->teller.context, awaiting.site);
    waiting->meaning = &awaits_an_end;
    return true;
}

static void ran_and_waited(struct interval_builder *f, const struct thread_progress *t,
                           const struct thread_progress *waiting, const struct point_member *m,
                           uint32_t place)
{
    struct point_member until = *m;
    until.ns = waiting->ns;
    if (until.ns > t->ns)
        interval_builder_add_run(f, t, &until, place);
    wait_ended(f, waiting, m);
}

/* Adds what the thread did since its previous event. */
static void interval_builder_add_time(struct interval_builder *f, const struct thread_progress *t,
                                      const struct point_member *m, uint32_t place)
{
    struct thread_progress waiting;
    if (t->meaning->waits && wait_ended(f, t, m))
        return;
    if (!t->meaning->waits && awaits(f, t, &waiting) && m->ns > waiting.ns)
        ran_and_waited(f, t, &waiting, m, place);
    else if (!t->ended || !m->meaning->closes)
        interval_builder_add_run(f, t, m, place);
}

/* Advances the thread to this event.  A wait that a signal interrupts continues. */
static void interval_builder_advance_thread(struct interval_builder *f, struct point_member *m)
{
    struct thread_progress *t = interval_builder_thread(f, m->event.thread);
    interval_builder_read_activity(f, t, m);
    if (t->begun && t->meaning->waits && m->meaning->interrupts)
        return;
    uint32_t place = f->teller.place(f->teller.context, m->event.site);
    if (!t->begun)
        intervals_start(&f->intervals, m->event.thread, m->ns, m->position);
    else if (m->ns > t->ns)
        interval_builder_add_time(f, t, m, place);
    interval_builder_remember(t, m, place);
    t->ended = m->meaning->ends;
}

/* Notes the creator of a process without a creation record: the parent, by the fork that precedes
 * the first event of the process. */
static void note_parent(struct interval_builder *f, const struct point_member *m)
{
    const struct order *order = f->teller.order;
    const struct thread_timeline *c = intervals_for_thread(&f->intervals, m->event.line);
    if ((c && c->maker) || m->event.number != 1)
        return;
    for (uint32_t i = 0; i < m->event.edge_count; i++) {
        uint64_t from = order_edge(order, m->position, i);
        struct order_event e =
            from < order_first(order) ? (struct order_event){0} : order_event(order, from);
        if (!e.line || e.line & HIDDEN_LINE || !e.thread || e.thread == m->event.line)
            continue;
        intervals_set_created(&f->intervals, m->event.line, e.thread,
                              f->teller.time(f->teller.context, &e), from);
        return;
    }
}

static void interval_builder_note_lifetime(struct interval_builder *f, const struct point_member *m)
{
    uint32_t line = m->event.line;
    if (m->meaning->opens && m->event.thread != line)
        intervals_set_created(&f->intervals, line, m->event.thread, m->ns, m->position);
    if (m->meaning->opens && m->event.thread == line)
        intervals_add_creation(&f->intervals, line);
    if (m->meaning->begins && m->event.thread == line)
        note_parent(f, m);
    if (m->meaning->ends)
        intervals_ended(&f->intervals, line, m->ns, m->position);
    if (m->meaning->closes)
        intervals_closed(&f->intervals, line, m->ns, m->position);
}

static void note_visit(struct interval_builder *f, const struct point_member *m, bool plain)
{
    const struct event_meaning *is = m->meaning;
    struct lock_visit at = {m->event.line, m->event.thread, m->position, m->ns, plain};
    if (at.line != at.thread && (is->enters || is->takes))
        lock_holders_enter(&f->holds, &at, is->takes);
    else if (at.line != at.thread && (is->leaves || is->gives))
        lock_holders_leave(&f->holds, &at);
    lock_holders_seen(&f->holds, at.line, at.position);
}

/* ---- one point ---- */

static int by_time(const void *a, const void *b)
{
    const struct release_cause *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1)
                          : (x->position > y->position) - (x->position < y->position);
}

/* Notes the last events of the members of a group before it. */
static void note_arrivals(struct interval_builder *f)
{
    f->arrival_count = 0;
    for (size_t i = 0; i < f->member_count; i++) {
        const struct point_member *m = &f->members[i];
        const struct thread_progress *t =
            m->event.thread ? interval_builder_thread(f, m->event.thread) : NULL;
        if (m->event.relation != RELATION_GROUP || !t || !t->begun)
            continue;
        f->arrivals =
            array_reserve(f->arrivals, &f->arrival_room, f->arrival_count + 1, sizeof *f->arrivals);
        f->arrivals[f->arrival_count++] =
            (struct release_cause){t->position, t->ns, m->event.thread, t->line, t->meaning};
    }
    if (f->arrival_count)
        qsort(f->arrivals, f->arrival_count, sizeof *f->arrivals, by_time);
}

/* Notes a member of a group: its arrival, and that of the last member. */
static void note_gathering(struct interval_builder *f, const struct point_member *m,
                           int64_t came_ns)
{
    intervals_add_gathering(&f->intervals, m->event.thread,
                            (struct gathering){.came_ns = came_ns,
                                               .at_ns = f->arrivals[f->arrival_count - 1].ns,
                                               .group = m->event.point});
}

/* Adds what the member's thread did up to the event; its group memberships are added before. */
static void interval_builder_process_member(struct interval_builder *f, struct point_member *m)
{
    const struct thread_progress *t = interval_builder_thread(f, m->event.thread);
    if (t->begun && m->event.relation == RELATION_GROUP && f->arrival_count > 1)
        note_gathering(f, m, t->ns);
    interval_builder_advance_thread(f, m);
    incoming_edges_note(&f->ties, &f->teller, &f->events, &f->intervals, &m->event, m->position,
                        m->ns);
}

static void add_member(struct interval_builder *f, uint64_t position)
{
    const struct order_event *e = event_reader_next(&f->events, position);
    if (!e->line || e->state != EVENT_ORDERED || e->line & HIDDEN_LINE)
        return;
    f->members =
        array_reserve(f->members, &f->member_room, f->member_count + 1, sizeof *f->members);
    struct point_member *m = &f->members[f->member_count++];
    m->event = *e;
    m->position = position;
    m->ns = f->teller.time(f->teller.context, e);
    m->meaning = f->teller.meaning(f->teller.context, e);
    if (e->thread) {
        const struct thread_progress *t = interval_builder_thread(f, e->thread);
        m->ns = t->begun && m->ns < t->ns ? t->ns : m->ns;
    }
}

/* Adds the members of a synchronization point; returns the position after it. */
static uint64_t add_members(struct interval_builder *f, uint64_t first, uint64_t count)
{
    f->member_count = 0;
    do
        add_member(f, first++);
    while (first < count && event_reader_next(&f->events, first)->point != first);
    return first;
}

static void interval_builder_process_point(struct interval_builder *f)
{
    bool plain = true;
    for (size_t i = 0; i < f->member_count && plain; i++)
        plain = !f->members[i].event.edge_count && !f->members[i].event.after_gap;
    note_arrivals(f);
    for (size_t i = 0; i < f->member_count; i++) {
        struct point_member *m = &f->members[i];
        if (m->event.thread)
            interval_builder_process_member(f, m);
        interval_builder_note_lifetime(f, m);
    }
    for (size_t i = 0; i < f->member_count; i++) {
        const struct point_member *m = &f->members[i];
        note_visit(f, m, plain);
        if (m->meaning->is)
            note_about(f, m);
        if (m->meaning->violates)
            intervals_add_violation(&f->intervals, m->position);
    }
}

/* ---- the pass ---- */

bool interval_builder_step(struct interval_builder *f, uint64_t *budget)
{
    const struct order *order = f->teller.order;
    uint64_t count = order_count(order) < f->end ? order_count(order) : f->end;
    if (!interval_builder_seed_before(f, budget))
        return false;
    while (f->known < count && *budget) {
        uint64_t end = add_members(f, f->known, count), looked = end - f->known;
        interval_builder_process_point(f);
        f->known = end;
        *budget -= looked < *budget ? looked : *budget;
    }
    return f->known >= count;
}

static void note_receive(void *context, uint64_t receive)
{
    (void)receive;
    *(bool *)context = true;
}

bool interval_builder_outdated(const struct interval_builder *f)
{
    const struct order *order = f->teller.order;
    bool received = false;
    for (size_t i = 0; i < f->unreceived_count && !received; i++)
        if (f->unreceived[i] >= order_first(order))
            order_receives(order, f->unreceived[i], note_receive, &received);
    return received;
}

uint64_t interval_builder_first(const struct interval_builder *f) { return f->first; }
uint64_t interval_builder_known(const struct interval_builder *f) { return f->known; }
const struct intervals *interval_builder_intervals(const struct interval_builder *f)
{
    return &f->intervals;
}

/* Returns whether the thread still waits for another one's end: not once that one has ended, even
 * if the waiter has no event since. */
static bool awaits_still(struct interval_builder *f, const struct thread_progress *t,
                         struct thread_progress *waiting)
{
    return awaits(f, t, waiting) &&
           !(waiting->about <= f->thread_room && f->threads[waiting->about - 1].ended);
}

size_t interval_builder_open_waits(struct interval_builder *f, int64_t until_ns,
                                   struct wait_record **waits)
{
    size_t count = 0, room = 0;
    *waits = NULL;
    for (size_t i = 0; i < f->thread_room; i++) {
        const struct thread_progress *t = &f->threads[i];
        struct thread_progress waiting;
        if (!t->begun || t->ended || (!t->meaning->waits && !awaits_still(f, t, &waiting)))
            continue;
        t = t->meaning->waits ? t : &waiting;
        struct wait_record wait = begun_wait(t, (uint32_t)i + 1);
        const struct thread_timeline *c = intervals_for_thread(&f->intervals, wait.thread);
        bool deleted = c && c->closed_ns != INTERVALS_NEVER;
        int64_t until = deleted ? c->closed_ns : until_ns;
        wait.to_ns = until > t->ns ? until : t->ns;
        wait.unexplained = deleted ? UNATTRIBUTED_DELETED : UNATTRIBUTED_OPEN;
        *waits = array_reserve(*waits, &room, count + 1, sizeof **waits);
        (*waits)[count++] = wait;
    }
    return count;
}
