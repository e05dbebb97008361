/* Releases of waits, compared with their definition: in random programs each wait is looked up in
 * the whole log, without any index. */
#include "server/queries/interval_cache.h"
#include "tests/unit/random_run.h"

/* ---- the definition ---- */

struct looked {
    const struct run *run;
    uint64_t causes[4096];
    size_t count;
    uint32_t visitor, visited;
    struct wait_interval segments[512]; /* the last one first */
    size_t segment_count;
};

static struct order_event at(const struct looked *l, uint64_t position)
{
    return order_event(l->run->order, position);
}

static bool is(const struct looked *l, uint64_t position, const char *types)
{
    char name[64];
    snprintf(name, sizeof name, " %s ", run_type_name(l->run, at(l, position).type));
    return strstr(types, name) != NULL;
}

/* Returns the previous event of the same thread or the same line; NO_POSITION if there is none. */
static uint64_t before(const struct looked *l, uint64_t position, bool of_thread)
{
    struct order_event e = at(l, position);
    for (uint64_t p = position; p-- > 0;) {
        struct order_event b = at(l, p);
        if (of_thread ? b.thread == e.thread && !(b.line & HIDDEN_LINE) : b.line == e.line)
            return p;
    }
    return NO_POSITION;
}

static uint64_t entry(const struct looked *l, uint64_t position);

/* Adds a cause; of the visitor itself, only the end of an earlier visit of the object counts. */
static void add_cause(struct looked *l, uint64_t position)
{
    struct order_event e = at(l, position);
    if (e.thread == l->visitor && (e.line != l->visited || entry(l, position) == NO_POSITION))
        return;
    assert_true(l->count < 4096);
    l->causes[l->count++] = position;
}

static void add_all_behind(struct looked *l, uint64_t position)
{
    struct order_event e = at(l, position);
    for (uint32_t i = 0; i < e.edge_count; i++) {
        uint64_t from = order_edge(l->run->order, position, i);
        if (!(at(l, from).line & HIDDEN_LINE)) {
            add_cause(l, from);
            continue;
        }
        for (; from != NO_POSITION; from = before(l, from, false))
            for (uint32_t k = 0; k < at(l, from).edge_count; k++)
                add_cause(l, order_edge(l->run->order, from, k));
    }
    if (!order_line_shared(l->run->order, e.line) && before(l, position, false) != NO_POSITION)
        add_cause(l, before(l, position, false));
    if (e.relation == RELATION_GROUP && before(l, position, true) != NO_POSITION)
        add_cause(l, before(l, position, true));
}

static void add_point(struct looked *l, uint64_t position)
{
    for (uint64_t p = at(l, position).point; p <= order_point_end(l->run->order, position); p++)
        add_all_behind(l, p);
}

/* Returns where the visit began that an event ended; NO_POSITION if it ended none. */
static uint64_t entry(const struct looked *l, uint64_t position)
{
    static const char outs[] = " released wait read_released write_released sem_post ",
                      ins[] = " acquired read_acquired write_acquired wake sem_acquired ";
    struct order_event e = at(l, position);
    if (!is(l, position, outs) ||
        (order_line_shared(l->run->order, e.line) && is(l, position, " wait ")))
        return NO_POSITION;
    for (uint64_t p = position; p-- > 0;) {
        struct order_event b = at(l, p);
        if (b.line != e.line || b.thread != e.thread)
            continue;
        if (is(l, p, ins))
            return p;
        if (is(l, p, outs) && !(is(l, p, " wait ") && order_line_shared(l->run->order, e.line)))
            return NO_POSITION;
    }
    return NO_POSITION;
}

static uint64_t latest(const struct looked *l, uint32_t thread, int64_t after, int64_t until,
                       const char *types)
{
    uint64_t best = NO_POSITION;
    for (size_t i = 0; i < l->count; i++) {
        struct order_event c = at(l, l->causes[i]);
        if (c.thread == thread || !c.thread || c.time_ns <= after || c.time_ns > until ||
            (types && !is(l, l->causes[i], types)))
            continue;
        if (best == NO_POSITION || c.time_ns > at(l, best).time_ns ||
            (c.time_ns == at(l, best).time_ns && l->causes[i] > best))
            best = l->causes[i];
    }
    return best;
}

static void drop(struct looked *l, uint64_t position)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->causes[i] == position)
            l->causes[i--] = l->causes[--l->count];
}

static void cut(struct looked *l, uint64_t c, bool meeting)
{
    struct order_event e = at(l, c);
    if (l->segment_count && l->segments[l->segment_count - 1].to_ns == e.time_ns)
        l->segment_count--;
    l->segments[l->segment_count++] =
        (struct wait_interval){.to_ns = e.time_ns,
                               .release = c,
                               .thread = e.thread,
                               .class = meeting ? WAIT_RENDEZVOUS : WAIT_CONTENTION};
}

static void walk_back(struct looked *l, uint32_t thread, int64_t after, int64_t until,
                      const char *types, bool exclusion)
{
    uint64_t c;
    while ((c = latest(l, thread, after, until, types)) != NO_POSITION) {
        uint64_t in = entry(l, c);
        cut(l, c, in == NO_POSITION && !exclusion);
        drop(l, c);
        if (in == NO_POSITION || at(l, in).time_ns <= after)
            return;
        until = at(l, in).time_ns;
        for (size_t i = 0; i < l->count; i++) /* signals were not meant for the earlier visitor */
            if (entry(l, l->causes[i]) == NO_POSITION)
                l->causes[i--] = l->causes[--l->count];
        l->visitor = at(l, in).thread;
        l->visited = at(l, in).line;
        add_point(l, in);
    }
}

static void define(struct looked *l, uint64_t w, uint64_t v)
{
    struct order_event from = at(l, w), to = at(l, v);
    l->count = l->segment_count = 0;
    l->visitor = l->visited = 0;
    add_point(l, v);
    bool condition = is(l, w, " wait ") && !order_line_shared(l->run->order, from.line);
    uint64_t call =
        condition ? latest(l, from.thread, from.time_ns, to.time_ns, " signal ") : NO_POSITION;
    if (condition && call == NO_POSITION)
        return;
    walk_back(l, from.thread, condition ? at(l, call).time_ns : from.time_ns, to.time_ns,
              condition ? " released wait " : NULL, is(l, w, " acquire "));
    if (condition)
        cut(l, call, true);
}

static void compare(struct looked *l, const struct intervals *all, const struct wait_record *w,
                    unsigned seed)
{
    define(l, w->begin, w->end);
    bool same = w->count == l->segment_count;
    for (uint32_t i = 0; i < w->count && same; i++) {
        const struct wait_interval *s = &all->segments[w->segment + i],
                                   *t = &l->segments[l->segment_count - 1 - i];
        same = s->to_ns == t->to_ns && s->release == t->release && s->thread == t->thread &&
               s->class == t->class;
    }
    if (!same)
        fail_msg("seed %u: the wait of %u from %lld to %lld has %u segments, not %zu as defined",
                 seed, w->thread, (long long)(w->from_ns / PLAYED_MS),
                 (long long)(w->to_ns / PLAYED_MS), w->count, l->segment_count);
}

/* Returns the number of waits of a thread, which must all be known. */
static uint32_t count_waits(const struct looked *l, uint32_t thread)
{
    uint32_t count = 0;
    for (uint64_t p = 0; p < order_count(l->run->order); p++) {
        struct order_event e = at(l, p);
        uint64_t b =
            e.thread == thread && !(e.line & HIDDEN_LINE) ? before(l, p, true) : NO_POSITION;
        count +=
            b != NO_POSITION && at(l, b).time_ns < e.time_ns && is(l, b, " acquire wait arrive ");
    }
    return count;
}

static void random_programs(void **state)
{
    (void)state;
    static struct looked l;
    size_t waits = 0, segments = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        struct playing g = play_random(seed);
        uint64_t budget;
        l.run = g.p.run;
        do /* in steps, like a job */
            budget = 1 + chance(&g, 20);
        while (!interval_cache_step(g.p.run, &budget));
        const struct intervals *all = interval_cache_get(g.p.run);
        for (size_t i = 0; i < all->wait_count; i++)
            compare(&l, all, &all->waits[i], seed);
        for (unsigned i = 0; i < THREADS; i++) {
            uint32_t count = 0, thread = g.actors[i].line;
            for (size_t k = 0; k < all->wait_count; k++)
                count += all->waits[k].thread == thread;
            assert_int_equal(count, count_waits(&l, thread));
        }
        waits += all->wait_count;
        segments += all->segment_count;
        run_free(g.p.run);
    }
    assert_true(waits > 4000 && segments > 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
