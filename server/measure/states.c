#include "server/measure/states.h"

const char *states_word(unsigned state)
{
    static const char *const words[STATES] = {
        [STATE_START] = "start",     [STATE_READY] = "ready",   [STATE_RUNNING] = "running",
        [STATE_BLOCKED] = "blocked", [STATE_SYSTEM] = "system", [STATE_TERMINATE] = "terminate"};
    return state < STATES ? words[state] : "";
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Where its intervals end. */
static int64_t reached(const struct course_of *c)
{
    return c->count ? c->items[c->count - 1].to_ns : c->start_ns;
}

/* Where it ended, or did something last. */
static int64_t active_until(const struct course_of *c)
{
    int64_t to = c->start_ns == INTERVALS_NEVER ? INTERVALS_NEVER : reached(c);
    return c->end_ns == INTERVALS_NEVER ? to : most(c->end_ns, to);
}

static const struct wait *open_wait(const struct lives *lives, uint32_t thread)
{
    size_t low = 0, high = lives->open_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lives->open[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lives->open_count && lives->open[low].thread == thread ? &lives->open[low] : NULL;
}

bool states_life(const struct lives *lives, const struct course_of *c, int64_t *from_ns,
                 int64_t *to_ns)
{
    const struct wait *open = open_wait(lives, c->thread);
    int64_t from = c->made_ns != INTERVALS_NEVER    ? c->made_ns
                   : c->start_ns != INTERVALS_NEVER ? c->start_ns
                                                    : c->end_ns;
    if (from == INTERVALS_NEVER)
        return false;
    if (c->start_ns != INTERVALS_NEVER)
        from = least(from, c->start_ns);
    *from_ns = from;
    *to_ns = most(from, most(active_until(c), c->closed_ns));
    *to_ns = most(*to_ns, open ? open->to_ns : spans_switched_until(lives->spans, c, lives->source));
    return true;
}

/* ---- spells ---- */

struct walk {
    const struct lives *lives;
    const struct intervals *all;
    const struct course_of *course;
    int64_t from_ns, to_ns;
    void (*visit)(void *context, const struct spell *spell);
    void *context;
    struct spell held; /* not told yet, as it may go on */
    uint32_t wait; /* 1 + the wait that it belongs to, 0: none */
    bool holds;
    struct spans_walk spans;
    struct spell split; /* what is cut by them */
};

static void let_go(struct walk *w)
{
    struct spell s = w->held;
    s.from_ns = most(s.from_ns, w->from_ns);
    s.to_ns = least(s.to_ns, w->to_ns);
    if (w->holds && s.from_ns < s.to_ns)
        w->visit(w->context, &s);
    w->holds = false;
}

/* Adds what comes next; it goes on with what is held where that is of the same state, and wait. */
static void go_on(struct walk *w, struct spell spell, uint32_t wait)
{
    if (spell.to_ns <= spell.from_ns)
        return;
    if (w->holds && w->held.state == spell.state && w->held.active == spell.active &&
        w->held.on == spell.on && w->wait == wait) {
        w->held.to_ns = spell.to_ns;
        w->held.unexplained = spell.unexplained ? spell.unexplained : w->held.unexplained;
        return;
    }
    let_go(w);
    w->held = spell;
    w->wait = wait;
    w->holds = true;
}

static uint32_t wait_of(const struct walk *w, const struct interval *item)
{
    return item->is == INTERVAL_SEGMENT ? w->all->segments[item->of].wait : item->of;
}

static void visit_wait(struct walk *w, const struct interval *item, struct spell spell)
{
    uint32_t index = wait_of(w, item);
    const struct wait *wait = &w->all->waits[index];
    spell.state = item->is == INTERVAL_LATENCY ? STATE_READY : STATE_BLOCKED;
    spell.place = wait->place;
    spell.about = wait->about;
    if (spell.from_ns == wait->from_ns)
        spell.position = wait->begin;
    if (item->is == INTERVAL_UNEXPLAINED)
        spell.unexplained = wait->unexplained ? wait->unexplained : UNEXPLAINED_UNSEEN;
    go_on(w, spell, index + 1);
}

static void visit_span(void *context, enum span_is is, int64_t from_ns, int64_t to_ns)
{
    static const uint8_t states[] = {
        [SPAN_RUNNING] = STATE_RUNNING, [SPAN_READY] = STATE_READY, [SPAN_SYSTEM] = STATE_SYSTEM};
    struct walk *w = context;
    struct spell spell = w->split;
    spell.from_ns = from_ns;
    spell.to_ns = to_ns;
    spell.state = states[is];
    spell.on = is == SPAN_RUNNING ? w->spans.on : 0;
    go_on(w, spell, 0);
}

static void visit_interval(struct walk *w, size_t i)
{
    const struct interval *item = &w->course->items[i];
    struct spell spell = {.from_ns = interval_begin(w->course, i),
                          .to_ns = item->to_ns,
                          .position = i ? w->course->items[i - 1].position : w->course->start,
                          .state = STATE_RUNNING};
    if (item->is != INTERVAL_RUNS) {
        visit_wait(w, item, spell);
        return;
    }
    spell.place = item->step ? step_place(steps_at(&w->all->steps, item->step)) : 0;
    spell.active = true;
    w->split = spell;
    spans_visit(w->lives->spans, w->course, &w->spans, most(spell.from_ns, w->from_ns),
                least(spell.to_ns, w->to_ns), visit_span, w);
}

static void visit_intervals(struct walk *w)
{
    const struct course_of *c = w->course;
    size_t i = intervals_at(c, w->from_ns);
    while (i && i < c->count && c->items[i].is != INTERVAL_RUNS &&
           c->items[i - 1].is != INTERVAL_RUNS)
        i--; /* so that a wait is seen from its begin */
    for (; i < c->count && interval_begin(c, i) < w->to_ns; i++)
        visit_interval(w, i);
}

/* After its last event, as the kernel switched it. */
static void visit_switched(struct walk *w, int64_t from_ns, int64_t to_ns)
{
    const struct course_of *c = w->course;
    if (to_ns <= from_ns)
        return;
    w->split = (struct spell){.position = c->count ? c->items[c->count - 1].position : c->start,
                              .state = STATE_RUNNING,
                              .active = true};
    spans_visit(w->lives->spans, c, &w->spans, from_ns, to_ns, visit_span, w);
}

/* From its last interval to its end it did nothing that is known, or waits still. */
static void visit_rest(struct walk *w)
{
    const struct course_of *c = w->course;
    const struct wait *open = open_wait(w->lives, c->thread);
    go_on(w,
          (struct spell){.from_ns = reached(c),
                         .to_ns = open ? open->from_ns : active_until(c),
                         .position = c->count ? c->items[c->count - 1].position : c->start,
                         .state = STATE_RUNNING,
                         .active = true},
          0);
    if (open)
        go_on(w,
              (struct spell){.from_ns = most(open->from_ns, reached(c)),
                             .to_ns = open->to_ns,
                             .position = open->begin,
                             .place = open->place,
                             .about = open->about,
                             .state = STATE_BLOCKED,
                             .unexplained = UNEXPLAINED_OPEN},
              UINT32_MAX);
    else
        visit_switched(w, most(active_until(c), w->from_ns),
                       least(spans_switched_until(w->lives->spans, c, w->lives->source), w->to_ns));
}

void states_visit(const struct lives *lives, const struct course_of *c, int64_t from_ns,
                  int64_t to_ns, void (*visit)(void *context, const struct spell *spell),
                  void *context)
{
    struct walk w = {
        .lives = lives, .all = lives->all, .course = c, .visit = visit, .context = context};
    w.spans.most = lives->source;
    int64_t begin, end, began = c->start_ns != INTERVALS_NEVER ? c->start_ns : c->end_ns;
    if (!states_life(lives, c, &begin, &end))
        return;
    w.from_ns = most(from_ns, begin);
    w.to_ns = least(to_ns, end);
    struct spell start = {.from_ns = begin,
                          .to_ns = began == INTERVALS_NEVER ? end : began,
                          .position = c->made,
                          .state = STATE_START};
    go_on(&w, start, 0);
    if (c->start_ns != INTERVALS_NEVER) {
        visit_intervals(&w);
        visit_rest(&w);
    }
    if (began != INTERVALS_NEVER && c->closed_ns != INTERVALS_NEVER)
        go_on(&w,
              (struct spell){.from_ns = active_until(c),
                             .to_ns = c->closed_ns,
                             .position = c->end,
                             .state = STATE_TERMINATE},
              0);
    let_go(&w);
}

/* Running and waiting are different states, whatever comes before and after. */
int64_t states_cut(const struct course_of *c, int64_t from_ns, uint64_t most_items, size_t *looked)
{
    size_t first = c->start_ns == INTERVALS_NEVER ? c->count : intervals_at(c, from_ns), i = first;
    uint64_t left = c->count - first;
    *looked = (size_t)(most_items < left ? most_items : left);
    if (most_items >= left)
        return INT64_MAX;
    for (i += most_items > 1 ? most_items : 1; i < c->count; i++)
        if ((c->items[i].is == INTERVAL_RUNS) != (c->items[i - 1].is == INTERVAL_RUNS))
            return interval_begin(c, i);
    return INT64_MAX;
}

/* ---- sums ---- */

static void add(void *context, const struct spell *spell)
{
    struct states *s = context;
    struct state_sum *sum = &s->of[spell->state];
    int64_t took = spell->to_ns - spell->from_ns;
    sum->least_ns = sum->count ? least(sum->least_ns, took) : took;
    sum->most_ns = most(sum->most_ns, took);
    sum->total_ns += took;
    sum->count++;
    s->life_ns += took;
    if (spell->active)
        s->active_ns += took;
    else if (spell->state == STATE_READY)
        s->let_go_ns += took;
    if (spell->unexplained && spell->unexplained != UNEXPLAINED_OPEN) {
        s->unexplained++;
        s->unexplained_ns += took;
    }
}

void states_sum(const struct lives *lives, const struct course_of *course, int64_t from_ns,
                int64_t to_ns, struct states *states)
{
    *states = (struct states){0};
    states_visit(lives, course, from_ns, to_ns, add, states);
}

void states_add(struct states *to, const struct states *s)
{
    for (unsigned i = 0; i < STATES; i++) {
        struct state_sum *sum = &to->of[i];
        if (s->of[i].count) {
            sum->least_ns =
                sum->count ? least(sum->least_ns, s->of[i].least_ns) : s->of[i].least_ns;
            sum->most_ns = most(sum->most_ns, s->of[i].most_ns);
        }
        sum->total_ns += s->of[i].total_ns;
        sum->count += s->of[i].count;
    }
    to->life_ns += s->life_ns;
    to->active_ns += s->active_ns;
    to->let_go_ns += s->let_go_ns;
    to->unexplained_ns += s->unexplained_ns;
    to->unexplained += s->unexplained;
}
