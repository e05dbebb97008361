#include "server/run/state_timeline.h"

#include "base/alloc.h"
#include "base/map.h"
#include "config/target.h"
#include "server/run/awaits.h"
#include "server/run/clock_sync.h"
#include "server/run/event_times.h"
#include "server/timing/event_reader.h"
#include "wire/state_bands.h"

#include <stdlib.h>
#include <string.h>

/* ---- state tracker: states of threads and other lines, event by event, by the rules of the
 * descriptions ---- */

struct tracker_seat { /* a line that a thread occupies */
    uint32_t line, about;
    uint8_t presence;
    bool ends; /* blocked without waiting for anything: not started, or ended */
    bool frees; /* blocked there, such that others can enter it meanwhile */
};

struct tracker_thread {
    struct tracker_seat *seats;
    size_t count, room;
    bool acts; /* the line is a thread */
    bool ran;
    struct event_id last; /* its last event */
    /* of a line that is not a thread: the thread that entered it last and has not left or freed it
     * yet, and how many are in it that have freed it */
    uint32_t holder, freed;
};

/* The description's rule for a type on a kind of line. */
struct tracker_rule {
    bool here, own, waits, frees, about;
    uint8_t presence, about_presence;
};

#define RECENT_RULES 256u

struct state_tracker {
    const struct run *run;
    struct event_reader events;
    struct map rules; /* kind and type, relation -> struct tracker_rule */
    struct recent_rule { /* recently used rules, by hash; rule NULL: empty */
        const struct tracker_rule *rule;
        uint64_t key;
        uint8_t relation;
    } recent[RECENT_RULES];
    size_t targets; /* number of descriptions when the rules were made */
    struct tracker_thread *threads; /* by line - 1 */
    size_t room;
    struct tracker_change {
        uint32_t line;
        bool thread;
        struct occupants in; /* of a line that is not a thread */
    } *changes;
    size_t change_count, change_room;
    size_t awaits; /* number of waits (awaits.h) that were examined */
};

static void *state_tracker_new(const struct run *run)
{
    struct state_tracker *s = xcalloc(1, sizeof *s);
    s->run = run;
    event_reader_begin(&s->events, run->order);
    return s;
}

static void state_tracker_forget_rules(struct state_tracker *s)
{
    for (struct map_walk walk = {.map = &s->rules}; map_next(&walk);)
        free(walk.value);
    map_free(&s->rules);
    s->rules = (struct map){0};
    memset(s->recent, 0, sizeof s->recent);
}

static void state_tracker_free(void *state)
{
    struct state_tracker *s = state;
    state_tracker_forget_rules(s);
    event_reader_free(&s->events);
    for (size_t i = 0; i < s->room; i++)
        free(s->threads[i].seats);
    free(s->threads);
    free(s->changes);
    free(s);
}

/* ---- rules of the descriptions ---- */

static const struct tracker_rule *state_tracker_find_rule(struct state_tracker *s,
                                                          const struct order_event *e, uint64_t key)
{
    struct tracker_rule *rule = map_get(&s->rules, key, e->relation);
    if (rule)
        return rule;
    const struct target_event *look =
        run_event_type(s->run, e->line, e->type, (enum relation)e->relation);
    rule = xcalloc(1, sizeof *rule);
    if (look)
        *rule = (struct tracker_rule){.here = look->has_presence,
                                      .own = look->own,
                                      .waits = look->waits,
                                      .frees = look->releases,
                                      .about = look->has_about,
                                      .presence = (uint8_t)look->presence,
                                      .about_presence = (uint8_t)look->about};
    map_put(&s->rules, key, e->relation, rule);
    return rule;
}

static const struct tracker_rule *state_tracker_rule_of(struct state_tracker *s,
                                                        const struct order_event *e)
{
    uint64_t kind = order_line_kind(s->run->order, e->line), key = kind << 32 | e->type;
    struct recent_rule *recent = &s->recent[(kind * 41 + e->type * 7 + e->relation) % RECENT_RULES];
    if (s->targets != s->run->targets.count)
        state_tracker_forget_rules(s);
    s->targets = s->run->targets.count;
    if (!recent->rule || recent->key != key || recent->relation != e->relation)
        *recent = (struct recent_rule){state_tracker_find_rule(s, e, key), key, e->relation};
    return recent->rule;
}

/* ---- threads ---- */

static struct tracker_thread *state_tracker_thread_of(struct state_tracker *s, uint32_t line)
{
    s->threads = array_reserve_zeroed(s->threads, &s->room, line, sizeof *s->threads);
    return &s->threads[line - 1];
}

static void state_tracker_remove_seat(struct tracker_thread *t, uint32_t line)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->seats[i].line == line) {
            memmove(t->seats + i, t->seats + i + 1, (t->count - i - 1) * sizeof *t->seats);
            t->count--;
            return;
        }
}

/* Adds a line to those that the thread occupies: at the end, as the one entered last, unless the
 * thread occupied it already. */
static void state_tracker_add_seat(struct tracker_thread *t, struct tracker_seat seat)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->seats[i].line == seat.line) {
            t->seats[i] = seat;
            return;
        }
    t->seats = array_reserve(t->seats, &t->room, t->count + 1, sizeof *t->seats);
    t->seats[t->count++] = seat;
}

/* Counts a thread in a line that is not its own: its holder, and those that have freed it. */
static void state_tracker_note_holder(struct state_tracker *s, uint32_t thread_line,
                                      struct tracker_seat seat)
{
    struct tracker_thread *of = state_tracker_thread_of(s, seat.line),
                          *t = &s->threads[thread_line - 1];
    for (size_t i = 0; i < t->count; i++)
        of->freed -= t->seats[i].line == seat.line && t->seats[i].frees;
    of->freed += seat.presence == OCCUPANCY_BLOCKED && seat.frees;
    if (seat.presence != OCCUPANCY_OUT && !(seat.presence == OCCUPANCY_BLOCKED && seat.frees))
        of->holder = thread_line;
    else if (of->holder == thread_line)
        of->holder = 0;
}

static void state_tracker_seat_thread(struct state_tracker *s, uint32_t thread_line,
                                      struct tracker_seat seat)
{
    if (!thread_line || thread_line & HIDDEN_LINE || thread_line > order_line_count(s->run->order))
        return;
    struct tracker_thread *t = state_tracker_thread_of(s, thread_line);
    t->acts = true;
    t->ran |= seat.presence == OCCUPANCY_ACTIVE;
    seat.frees &= seat.presence == OCCUPANCY_BLOCKED;
    if (seat.line != thread_line && !(seat.line & HIDDEN_LINE)) {
        state_tracker_note_holder(s, thread_line, seat);
        t = &s->threads[thread_line - 1];
    }
    if (seat.presence == OCCUPANCY_OUT)
        state_tracker_remove_seat(t, seat.line);
    else
        state_tracker_add_seat(t, seat);
}

static struct summary_state state_tracker_thread_state(const struct tracker_thread *t, uint32_t own)
{
    struct summary_state state = {0, SUMMARY_TREE_NONE};
    for (size_t i = 0; i < t->count; i++) {
        const struct tracker_seat *seat = &t->seats[i];
        bool elsewhere = seat->line != own;
        if (seat->presence == OCCUPANCY_BLOCKED && seat->ends) {
            if (t->ran)
                state = (struct summary_state){0, BAND_ENDED};
        } else if (seat->presence == OCCUPANCY_BLOCKED) {
            return (struct summary_state){seat->about, BAND_WAITS};
        } else if (elsewhere) {
            state = (struct summary_state){seat->line, BAND_INSIDE};
        } else if (seat->presence == OCCUPANCY_ACTIVE && state.code != BAND_INSIDE) {
            state = (struct summary_state){0, BAND_RUNS};
        }
    }
    return state;
}

/* Returns the state of a line that is not a thread.  Threads that have freed it do not count: a
 * mutex is free while all that are in it wait for a condition variable. */
static struct summary_state state_tracker_line_state(const struct tracker_thread *line,
                                                     struct occupants in)
{
    uint8_t code = in.active || in.away       ? BAND_INSIDE
                   : in.blocked > line->freed ? BAND_WAITS
                                              : SUMMARY_TREE_NONE;
    return (struct summary_state){code == SUMMARY_TREE_NONE ? 0 : line->holder, code};
}

/* ---- events ---- */

static void state_tracker_note_change(struct state_tracker *s, uint32_t line, bool thread,
                                      struct occupants in)
{
    s->changes =
        array_reserve(s->changes, &s->change_room, s->change_count + 1, sizeof *s->changes);
    s->changes[s->change_count++] = (struct tracker_change){line, thread, in};
}

static void state_tracker_note_thread(struct state_tracker *s, uint32_t line)
{
    if (line && line <= s->room && s->threads[line - 1].acts)
        state_tracker_note_change(s, line, true, (struct occupants){0});
}

/* Applies the next event of the log. */
static void state_tracker_apply_event(struct state_tracker *s, const struct order_event *e,
                                      uint64_t position)
{
    const struct tracker_rule *rule = state_tracker_rule_of(s, e);
    uint32_t thread_line = rule->own ? e->line : e->thread;
    if (rule->here)
        state_tracker_seat_thread(s, thread_line,
                                  (struct tracker_seat){.line = e->line,
                                                        .about = e->about ? e->about : e->line,
                                                        .presence = rule->presence,
                                                        .ends = rule->own && !rule->waits,
                                                        .frees = rule->frees});
    if (rule->about && e->about)
        state_tracker_seat_thread(s, e->thread,
                                  (struct tracker_seat){.line = e->about,
                                                        .about = e->about,
                                                        .presence = rule->about_presence});
    if (e->thread)
        state_tracker_thread_of(s, e->thread)->last = (struct event_id){e->line, e->number};
    state_tracker_note_thread(s, e->thread);
    if (thread_line != e->thread)
        state_tracker_note_thread(s, thread_line);
    if (!(e->line & HIDDEN_LINE) && !state_tracker_thread_of(s, e->line)->acts)
        state_tracker_note_change(s, e->line, false, order_occupants(s->run->order, position));
}

/* After the last event of a point: records the states of lines that may have changed. */
static void state_tracker_report_changes(struct state_tracker *s, struct summary_tree *pyramid,
                                         int64_t ns, uint64_t position)
{
    for (size_t i = 0; i < s->change_count; i++) {
        const struct tracker_change *c = &s->changes[i];
        const struct tracker_thread *t = &s->threads[c->line - 1];
        struct summary_state state =
            c->thread ? state_tracker_thread_state(t, c->line) : state_tracker_line_state(t, c->in);
        summary_tree_change(pyramid, c->line, state, ns, position);
    }
    s->change_count = 0;
}

/* ---- waits for the end of another thread, which no event records ---- */

static void state_tracker_report_await(struct state_tracker *s, struct summary_tree *pyramid,
                                       const struct order_event *e, uint64_t position)
{
    const struct await *await = e->thread ? awaits_after(s->run, e) : NULL;
    int64_t later_ns = await && await->since_ns > e->time_ns ? await->since_ns - e->time_ns : 0;
    if (await)
        summary_tree_set_cpu_state(pyramid, e->thread,
                                   (struct summary_state){await->about, BAND_WAITS},
                                   event_times_for_process(s->run, e) + later_ns, position);
}

/* Records waits that were received after the event before them had been applied. */
static void state_tracker_report_late(struct state_tracker *s, struct summary_tree *pyramid,
                                      uint64_t known)
{
    for (; s->awaits < awaits_count(s->run); s->awaits++) {
        const struct await *await = awaits_at(s->run, s->awaits);
        const struct tracker_thread *t =
            await->thread <= s->room ? &s->threads[await->thread - 1] : NULL;
        uint64_t position = order_position(s->run->order, await->after);
        if (!t || position == NO_POSITION || position >= known ||
            t->last.line != await->after.line || t->last.number != await->after.number)
            continue;
        struct order_event e = order_event(s->run->order, position);
        state_tracker_report_await(s, pyramid, &e, known - 1);
    }
}

/* Records waits that begin after the events of a point. */
static void state_tracker_report_awaits(struct state_tracker *s, struct summary_tree *pyramid,
                                        uint64_t first, uint64_t end)
{
    for (uint64_t p = first; p < end && awaits_count(s->run); p++) {
        struct order_event e = *event_reader_at(&s->events, p);
        if (e.line && e.state == EVENT_ORDERED)
            state_tracker_report_await(s, pyramid, &e, first);
    }
}

/* Applies a point: all its members change states at the same time.  Returns the position after
 * it. */
static uint64_t state_tracker_apply_point(struct state_tracker *s, struct summary_tree *pyramid,
                                          uint64_t first, uint64_t count)
{
    const struct order_event *e = event_reader_next(&s->events, first);
    int64_t ns = event_times_for_process(s->run, e);
    uint64_t end = first;
    do {
        if (e->line && e->state == EVENT_ORDERED)
            state_tracker_apply_event(s, e, end);
        end++;
    } while (end < count && (e = event_reader_next(&s->events, end))->point != end);
    if (s->change_count)
        state_tracker_report_changes(s, pyramid, ns, first);
    state_tracker_report_awaits(s, pyramid, first, end);
    return end;
}

/* Applies new points, as far as the budget allows. */
static uint64_t state_tracker_build(void *state, struct summary_tree *pyramid, uint64_t known,
                                    uint64_t *budget)
{
    struct state_tracker *s = state;
    uint64_t count = order_count(s->run->order);
    state_tracker_report_late(s, pyramid, known);
    while (known < count && *budget) {
        uint64_t end = state_tracker_apply_point(s, pyramid, known, count), applied = end - known;
        *budget -= applied < *budget ? applied : *budget;
        known = end;
    }
    return known;
}

static const struct timeline_callbacks state_tracker_source = {.begin = state_tracker_new,
                                                               .free = state_tracker_free,
                                                               .made = clock_sync_generation,
                                                               .learn = state_tracker_build};

/* ---- timelines ---- */

static const struct timeline_callbacks *timeline_sources[TIMELINE_SOURCES] = {
    [TIMELINE_ORDER] = &state_tracker_source,
};

void timeline_set_source(enum timeline_source source, const struct timeline_callbacks *teller)
{
    timeline_sources[source] = teller;
}

struct state_timelines {
    struct timeline_progress {
        struct summary_tree *pyramid; /* NULL: not built yet */
        void *state;
        uint64_t known, made; /* made: the source's number (made()) when it began */
    } progress[TIMELINE_SOURCES];
};

static void timeline_progress_free(struct timeline_progress *progress, enum timeline_source source)
{
    if (!progress->pyramid)
        return;
    timeline_sources[source]->free(progress->state);
    summary_tree_free(progress->pyramid);
    *progress = (struct timeline_progress){0};
}

static void state_timelines_free(void *state)
{
    struct state_timelines *all = state;
    for (unsigned i = 0; i < TIMELINE_SOURCES; i++)
        timeline_progress_free(&all->progress[i], i);
    free(all);
}

static struct timeline_progress *timeline_progress_of(const struct run *run,
                                                      enum timeline_source source)
{
    struct run *cache = (struct run *)(uintptr_t)run; /* its observable state does not change */
    struct state_timelines *all = run_addon_make(&cache->addons, RUN_ADDON_STATE_TIMELINES,
                                                 sizeof *all, state_timelines_free);
    struct timeline_progress *progress = &all->progress[source];
    if (progress->pyramid && progress->made != timeline_sources[source]->made(run))
        timeline_progress_free(progress, source);
    if (!progress->pyramid)
        *progress =
            (struct timeline_progress){summary_tree_new(), timeline_sources[source]->begin(run), 0,
                                       timeline_sources[source]->made(run)};
    return progress;
}

bool timeline_build(const struct run *run, enum timeline_source source, uint64_t *budget)
{
    struct timeline_progress *progress = timeline_progress_of(run, source);
    uint64_t first = order_first(run->order), count = order_count(run->order);
    if (first && source == TIMELINE_ORDER) /* (other timelines are rebuilt then) */
        summary_tree_discard(progress->pyramid, first);
    progress->known = progress->known < first ? first : progress->known;
    while (progress->known < count && *budget)
        progress->known = timeline_sources[source]->learn(progress->state, progress->pyramid,
                                                          progress->known, budget);
    return progress->known >= count && progress->made == timeline_sources[source]->made(run);
}

uint64_t timeline_known(const struct run *run, enum timeline_source source)
{
    const struct state_timelines *all = run_addon(&run->addons, RUN_ADDON_STATE_TIMELINES);
    return all ? all->progress[source].known : 0;
}

const struct summary_tree *timeline_tree(const struct run *run, enum timeline_source source)
{
    const struct state_timelines *all = run_addon(&run->addons, RUN_ADDON_STATE_TIMELINES);
    return all ? all->progress[source].pyramid : NULL;
}
