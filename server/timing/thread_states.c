#include "server/timing/thread_states.h"

#include "base/extremes.h"
#include "base/lower_bound.h"
#include "server/timing/call_contexts.h"

const char *thread_state_accuracy(unsigned accuracy)
{
    static const char *const words[CPU_STATE_ACCURACIES] = {[CPU_STATE_EXACT] = "exact",
                                                            [CPU_STATE_SHARE] = "measured share",
                                                            [CPU_STATE_ESTIMATE] = "estimated"};
    return accuracy < CPU_STATE_ACCURACIES ? words[accuracy] : "";
}

/* Returns the end of the thread's last interval. */
static int64_t thread_states_known_end(const struct thread_timeline *c)
{
    return c->count ? c->items[c->count - 1].to_ns : c->start_ns;
}

/* Returns the time of the thread's exit or last event. */
static int64_t active_until(const struct thread_timeline *c)
{
    int64_t to = c->start_ns == INTERVALS_NEVER ? INTERVALS_NEVER : thread_states_known_end(c);
    return c->end_ns == INTERVALS_NEVER ? to : int64_max(c->end_ns, to);
}

const struct wait_record *thread_states_open_wait(const struct lifetimes *lives, uint32_t thread)
{
    size_t low = LOWER_BOUND(i, 0, lives->open_count, lives->open[i].thread < thread);
    return low < lives->open_count && lives->open[low].thread == thread ? &lives->open[low] : NULL;
}

int64_t thread_states_alive_until(const struct lifetimes *lives, const struct thread_timeline *c)
{
    if (c->start_ns == INTERVALS_NEVER || c->end_ns != INTERVALS_NEVER ||
        c->closed_ns != INTERVALS_NEVER)
        return INTERVALS_NEVER;
    int64_t until = cpu_states_last_ns(lives->records, c->thread);
    const struct call_context_thread *calls =
        lives->calls ? call_contexts_of_line(lives->calls, c->thread) : NULL;
    if (calls && calls->count && calls->items[0].sums.open)
        until = int64_max(until, (int64_t)(calls->head.time_ns - lives->start_ns));
    int64_t replaced = lives->replaced_ns && until != INTERVALS_NEVER
                           ? lives->replaced_ns(lives->run, c->thread)
                           : INTERVALS_NEVER;
    return replaced != INTERVALS_NEVER ? int64_min(until, replaced) : until;
}

bool thread_states_lifetime(const struct lifetimes *lives, const struct thread_timeline *c,
                            int64_t *from_ns, int64_t *to_ns)
{
    const struct wait_record *open = thread_states_open_wait(lives, c->thread);
    int64_t from = c->made_ns != INTERVALS_NEVER    ? c->made_ns
                   : c->start_ns != INTERVALS_NEVER ? c->start_ns
                                                    : c->end_ns;
    if (from == INTERVALS_NEVER)
        return false;
    if (c->start_ns != INTERVALS_NEVER)
        from = int64_min(from, c->start_ns);
    *from_ns = from;
    *to_ns = int64_max(from, int64_max(active_until(c), c->closed_ns));
    *to_ns = int64_max(*to_ns, open ? open->to_ns : thread_states_alive_until(lives, c));
    return true;
}

/* ---- state intervals ---- */

struct state_walk {
    const struct lifetimes *lives;
    const struct intervals *all;
    const struct thread_timeline *course;
    int64_t from_ns, to_ns;
    void (*visit)(void *context, const struct thread_state_interval *spell);
    void *context;
    struct thread_state_interval held; /* the last one, not visited yet, as it may be extended */
    uint32_t wait; /* 1 + the wait that it belongs to, 0: none */
    bool holds;
    struct cpu_state_walk spans;
    struct thread_state_interval split; /* the interval that the CPU states split */
    uint32_t split_wait; /* 1 + the wait that it belongs to */
};

static void thread_states_emit_runnable(struct state_walk *w)
{
    struct thread_state_interval s = w->held;
    s.from_ns = int64_max(s.from_ns, w->from_ns);
    s.to_ns = int64_min(s.to_ns, w->to_ns);
    if (w->holds && s.from_ns < s.to_ns)
        w->visit(w->context, &s);
    w->holds = false;
}

/* Adds the next state interval; it extends the held one if that has the same state and wait. */
static void thread_states_emit_resumed(struct state_walk *w, struct thread_state_interval spell,
                                       uint32_t wait)
{
    if (spell.to_ns <= spell.from_ns)
        return;
    if (w->holds && w->held.state == spell.state && w->held.active == spell.active &&
        w->held.on == spell.on && w->held.accuracy == spell.accuracy && w->wait == wait) {
        w->held.to_ns = spell.to_ns;
        w->held.unexplained = spell.unexplained ? spell.unexplained : w->held.unexplained;
        return;
    }
    thread_states_emit_runnable(w);
    w->held = spell;
    w->wait = wait;
    w->holds = true;
}

static uint32_t wait_of(const struct state_walk *w, const struct interval *item)
{
    return item->is == INTERVAL_SEGMENT ? w->all->segments[item->of].wait : item->of;
}

/* A task that requests an object is blocked while another thread keeps it; for the rest of the
 * request, it runs while it is on its worker thread. */
static void visit_request_span(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    struct state_walk *w = context;
    struct thread_state_interval spell = w->split;
    spell.from_ns = from_ns;
    spell.to_ns = to_ns;
    if (is == CPU_STATE_RUNNING) {
        spell.state = THREAD_STATE_RUNNING;
        spell.about = spell.unexplained = 0;
        spell.active = true;
        spell.on = w->spans.on;
        spell.accuracy = (uint8_t)w->spans.accuracy;
    }
    thread_states_emit_resumed(w, spell, is == CPU_STATE_RUNNING ? 0 : w->split_wait);
}

bool thread_states_request_runs(const struct lifetimes *lives, const struct thread_timeline *c,
                                const struct interval *item)
{
    return item->is != INTERVAL_SEGMENT && lives->all->waits[item->of].class == WAIT_CONTENTION &&
           cpu_states_is_placed_task(lives->spans, c->thread) &&
           cpu_states_best(lives->spans, c->thread, lives->source) == CPU_SOURCE_SWITCHES;
}

static bool visit_request(struct state_walk *w, const struct interval *item,
                          struct thread_state_interval spell, uint32_t wait)
{
    const struct cpu_states *spans = w->lives->spans;
    if (!thread_states_request_runs(w->lives, w->course, item))
        return false;
    w->split = spell;
    w->split_wait = wait + 1;
    int64_t from_ns = int64_max(spell.from_ns, w->from_ns),
            to_ns = int64_min(spell.to_ns, w->to_ns);
    if (from_ns < to_ns)
        cpu_states_visit(spans, w->course, &w->spans, from_ns, to_ns, visit_request_span, w);
    return true;
}

static void visit_wait(struct state_walk *w, const struct interval *item,
                       struct thread_state_interval spell)
{
    uint32_t index = wait_of(w, item);
    const struct wait_record *wait = &w->all->waits[index];
    spell.state = item->is == INTERVAL_LATENCY ? THREAD_STATE_RUNNABLE : THREAD_STATE_BLOCKED;
    spell.place = wait->place;
    spell.about = wait->about;
    if (spell.from_ns == wait->from_ns)
        spell.position = wait->begin;
    if (item->is == INTERVAL_UNATTRIBUTED)
        spell.unexplained = wait->unexplained ? wait->unexplained : UNATTRIBUTED_UNTRACED;
    if (!visit_request(w, item, spell, index))
        thread_states_emit_resumed(w, spell, index + 1);
}

static void visit_span(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    static const uint8_t states[] = {[CPU_STATE_RUNNING] = THREAD_STATE_RUNNING,
                                     [CPU_STATE_RUNNABLE] = THREAD_STATE_RUNNABLE,
                                     [CPU_STATE_OTHER] = THREAD_STATE_OFF_CPU};
    struct state_walk *w = context;
    struct thread_state_interval spell = w->split;
    spell.from_ns = from_ns;
    spell.to_ns = to_ns;
    spell.state = states[is];
    spell.on = is == CPU_STATE_RUNNING ? w->spans.on : 0;
    spell.accuracy = (uint8_t)w->spans.accuracy;
    spell.switched = w->spans.placed && from_ns > int64_max(w->split.from_ns, w->from_ns);
    spell.left = w->spans.left;
    thread_states_emit_resumed(w, spell, 0);
}

static void visit_interval(struct state_walk *w, size_t i)
{
    const struct interval *item = &w->course->items[i];
    struct thread_state_interval spell = {.from_ns = interval_begin(w->course, i),
                                          .to_ns = item->to_ns,
                                          .position = i ? w->course->items[i - 1].position
                                                        : w->course->start,
                                          .state = THREAD_STATE_RUNNING};
    if (item->is != INTERVAL_RUNS) {
        visit_wait(w, item, spell);
        return;
    }
    spell.place = item->step ? code_segment_place(code_segments_at(&w->all->steps, item->step)) : 0;
    spell.active = true;
    w->split = spell;
    cpu_states_visit(w->lives->spans, w->course, &w->spans, int64_max(spell.from_ns, w->from_ns),
                     int64_min(spell.to_ns, w->to_ns), visit_span, w);
}

static void visit_intervals(struct state_walk *w)
{
    const struct thread_timeline *c = w->course;
    size_t i = intervals_at(c, w->from_ns);
    while (i && i < c->count && c->items[i].is != INTERVAL_RUNS &&
           c->items[i - 1].is != INTERVAL_RUNS)
        i--; /* to visit a wait from its begin */
    for (; i < c->count && interval_begin(c, i) < w->to_ns; i++)
        visit_interval(w, i);
}

/* Visits the time after the thread's last event, of which only CPU data are known. */
static void visit_after(struct state_walk *w, int64_t to_ns)
{
    const struct thread_timeline *c = w->course;
    int64_t from_ns = int64_max(thread_states_known_end(c), w->from_ns);
    to_ns = int64_min(to_ns, w->to_ns);
    if (to_ns <= from_ns)
        return;
    w->split = (struct thread_state_interval){.from_ns = from_ns,
                                              .position = c->count ? c->items[c->count - 1].position
                                                                   : c->start,
                                              .state = THREAD_STATE_RUNNING,
                                              .active = true};
    cpu_states_visit(w->lives->spans, c, &w->spans, from_ns, to_ns, visit_span, w);
}

/* Visits the time from the thread's last interval to its end, with an open wait if there is one. */
static void visit_rest(struct state_walk *w)
{
    const struct thread_timeline *c = w->course;
    const struct wait_record *open = thread_states_open_wait(w->lives, c->thread);
    visit_after(w, open ? open->from_ns
                        : int64_max(active_until(c), thread_states_alive_until(w->lives, c)));
    if (open)
        thread_states_emit_resumed(
            w,
            (struct thread_state_interval){.from_ns =
                                               int64_max(open->from_ns, thread_states_known_end(c)),
                                           .to_ns = open->to_ns,
                                           .position = open->begin,
                                           .place = open->place,
                                           .about = open->about,
                                           .state = THREAD_STATE_BLOCKED,
                                           .unexplained = open->unexplained},
            UINT32_MAX);
}

void thread_states_visit(const struct lifetimes *lives, const struct thread_timeline *c,
                         int64_t from_ns, int64_t to_ns,
                         void (*visit)(void *context, const struct thread_state_interval *spell),
                         void *context)
{
    struct state_walk w = {
        .lives = lives, .all = lives->all, .course = c, .visit = visit, .context = context};
    w.spans.most = lives->source;
    int64_t begin, end, began = c->start_ns != INTERVALS_NEVER ? c->start_ns : c->end_ns;
    if (!thread_states_lifetime(lives, c, &begin, &end))
        return;
    w.from_ns = int64_max(from_ns, begin);
    w.to_ns = int64_min(to_ns, end);
    struct thread_state_interval start = {.from_ns = begin,
                                          .to_ns = began == INTERVALS_NEVER ? end : began,
                                          .position = c->made,
                                          .state = THREAD_STATE_CREATED};
    thread_states_emit_resumed(&w, start, 0);
    if (c->start_ns != INTERVALS_NEVER) {
        visit_intervals(&w);
        visit_rest(&w);
    }
    const struct wait_record *open = thread_states_open_wait(lives, c->thread);
    if (began != INTERVALS_NEVER && c->closed_ns != INTERVALS_NEVER)
        thread_states_emit_resumed(
            &w,
            (struct thread_state_interval){.from_ns = open ? open->to_ns : active_until(c),
                                           .to_ns = c->closed_ns,
                                           .position = c->end,
                                           .state = THREAD_STATE_EXITED},
            0);
    thread_states_emit_runnable(&w);
}

/* Returns whether a state interval ends where item i begins: at a border between running and
 * waiting, unless the wait is a request during which a task may have run on. */
static bool is_state_border(const struct lifetimes *lives, const struct thread_timeline *c,
                            size_t i)
{
    const struct interval *before = &c->items[i - 1], *item = &c->items[i],
                          *wait = item->is == INTERVAL_RUNS ? before : item;
    return (item->is == INTERVAL_RUNS) != (before->is == INTERVAL_RUNS) &&
           !thread_states_request_runs(lives, c, wait);
}

int64_t thread_states_cut(const struct lifetimes *lives, const struct thread_timeline *c,
                          int64_t from_ns, uint64_t most_items, size_t *looked)
{
    size_t first = c->start_ns == INTERVALS_NEVER ? c->count : intervals_at(c, from_ns), i = first;
    uint64_t left = c->count - first;
    *looked = (size_t)(most_items < left ? most_items : left);
    if (most_items >= left)
        return INT64_MAX;
    for (i += most_items > 1 ? most_items : 1; i < c->count; i++)
        if (is_state_border(lives, c, i))
            return interval_begin(c, i);
    return INT64_MAX;
}

/* ---- sums ---- */

static void thread_states_add_interval(void *context, const struct thread_state_interval *spell)
{
    struct thread_states *s = context;
    struct state_sum *sum = &s->of[spell->state];
    int64_t took = spell->to_ns - spell->from_ns;
    sum->least_ns = sum->count ? int64_min(sum->least_ns, took) : took;
    sum->most_ns = int64_max(sum->most_ns, took);
    sum->total_ns += took;
    sum->count++;
    s->life_ns += took;
    s->estimated_ns += spell->accuracy == CPU_STATE_ESTIMATE ? took : 0;
    if (spell->active)
        s->active_ns += took;
    else if (spell->state == THREAD_STATE_RUNNABLE)
        s->let_go_ns += took;
    if (spell->unexplained && spell->unexplained < UNATTRIBUTED_OPEN) {
        s->unexplained++;
        s->unexplained_ns += took;
    }
}

void thread_states_sum(const struct lifetimes *lives, const struct thread_timeline *course,
                       int64_t from_ns, int64_t to_ns, struct thread_states *states)
{
    *states = (struct thread_states){0};
    thread_states_visit(lives, course, from_ns, to_ns, thread_states_add_interval, states);
}

void thread_states_add(struct thread_states *to, const struct thread_states *s)
{
    for (unsigned i = 0; i < THREAD_STATES; i++) {
        struct state_sum *sum = &to->of[i];
        if (s->of[i].count) {
            sum->least_ns =
                sum->count ? int64_min(sum->least_ns, s->of[i].least_ns) : s->of[i].least_ns;
            sum->most_ns = int64_max(sum->most_ns, s->of[i].most_ns);
        }
        sum->total_ns += s->of[i].total_ns;
        sum->count += s->of[i].count;
    }
    to->life_ns += s->life_ns;
    to->active_ns += s->active_ns;
    to->let_go_ns += s->let_go_ns;
    to->estimated_ns += s->estimated_ns;
    to->unexplained_ns += s->unexplained_ns;
    to->unexplained += s->unexplained;
}
