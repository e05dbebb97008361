/* Windows that are placed by time, compared with all events: nothing is lost, each event is at its
 * time, no cause is right of its effect; in a scene, not even at the same place. */
#include "clients/metadata/trace_metadata.h"
#include "base/alloc.h"
#include "render/scene.h"
#include "server/queries/window.h"
#include "tests/bruteforce.h"
#include "tests/unit/viewer_requests.h"
#include "wire/layout_results.h"

#include <stdlib.h>
#include <string.h>

static struct execution x;

/* Returns a run with times that mostly agree with the order; for some seeds they contradict it, as
 * with clocks of several hosts, or each line is ahead of others by more than the length of the
 * run. */
static struct run *run_of(unsigned seed)
{
    struct run *run = run_new("test", 1, NULL);
    unsigned random = seed;
    execution_make(&x, seed);
    for (uint32_t line = 1; line <= x.lines; line++)
        run_line(run, 1, line, "task", x.shared[line], (struct run_line){0});
    order_free(run->order);
    run->order = execution_order(&x);
    for (uint32_t i = 0; i < x.count; i++) {
        int64_t astray = seed % 3 == 0 ? execution_random(&random, 400) : 0;
        if (seed % 5 == 0)
            astray += 3000000 * (int64_t)(x.arrivals[i].at.line * 7 % 5);
        x.arrivals[i].time_ns =
            1000 + 100 * (int64_t)x.point[i] + (x.point[i] > x.points / 2 ? 500000 : 0) + astray;
        run->clock.last_ns =
            x.arrivals[i].time_ns > run->clock.last_ns ? x.arrivals[i].time_ns : run->clock.last_ns;
    }
    execution_feed(&x, run->order, seed + 5);
    return run;
}

static struct window_info ask(const struct run *run, struct window_request *request)
{
    struct encoder body = {0};
    struct window_info w;
    encode_window_request(&body, request);
    struct encoder out = answer_to(run, &query_window, body, 50);
    struct decoder in = part_of(&out, RESPONSE_WINDOW);
    decode_window(&in, &w);
    if (!decoder_finish(&in))
        fail_msg("%s", in.error);
    encoder_free(&out);
    return w;
}

static uint32_t index_of(struct event_id at)
{
    for (uint32_t i = 0; i < x.count; i++)
        if (event_id_equal(x.arrivals[i].at, at))
            return i;
    fail_msg("an event that was not recorded");
    return 0;
}

static int64_t cell(const struct window_info *w, int64_t column_ns, int64_t ns)
{
    int64_t from = ns - w->time_ns;
    return (from - ((from % column_ns) + column_ns) % column_ns) / column_ns;
}

static const struct scene_mark *mark_of(const struct scene *scene, struct event_id at)
{
    for (uint32_t i = 0; i < scene->mark_count; i++)
        if (event_id_equal(scene->marks[i].event->at, at))
            return &scene->marks[i];
    return NULL;
}

static uint32_t links_between(const struct scene *scene, const struct scene_mark *a,
                              const struct scene_mark *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->link_count; i++) {
        const struct scene_link *l = &scene->links[i];
        count += l->x0_pt == a->x_pt && l->y0_pt == a->y_pt && l->x1_pt == b->x_pt &&
                 l->y1_pt == b->y_pt;
    }
    return count;
}

/* Checks that marks of partners are connected by an arrow. */
static void check_arrows(const struct scene *scene, unsigned seed)
{
    for (uint32_t i = 0; i < scene->mark_count; i++) {
        const struct scene_mark *m = &scene->marks[i], *other;
        const struct event_info *e = m->event;
        bool sync = e->relation == RELATION_SYNC, receives = e->relation == RELATION_RECEIVE;
        for (uint32_t k = 0; e->state == EVENT_ORDERED && k < e->partner_count; k++) {
            other = sync || receives ? mark_of(scene, e->partners[k]) : NULL;
            if (other && (receives || m->row < other->row) &&
                !links_between(scene, sync ? m : other, sync ? other : m))
                fail_msg("seed %u: no arrow ties %u:%llu to its partner", seed, e->at.line,
                         (unsigned long long)e->at.number);
        }
    }
}

/* Checks that positions are strictly increasing in the order, except for members of one point. */
static void check_scene(const struct window_info *w, uint64_t column_ns, unsigned seed)
{
    struct trace_metadata book = {.line_count = x.lines};
    struct scene_options options = {.column_ns = column_ns, .squeeze = true};
    struct scene *scene = scene_build(w, &book, &options);
    assert_int_equal(scene->mark_count != 0, w->event_count + w->pending_count != 0);
    uint32_t *index = xcalloc(scene->mark_count + 1, sizeof *index);
    for (uint32_t i = 0; i < scene->mark_count; i++)
        index[i] = index_of(scene->marks[i].event->at);
    for (uint32_t i = 0; i < scene->mark_count; i++)
        for (uint32_t k = 0; k < scene->mark_count; k++) {
            const struct scene_mark *a = &scene->marks[i], *b = &scene->marks[k];
            if (i == k || a->event->state != EVENT_ORDERED || b->event->state != EVENT_ORDERED)
                continue;
            uint32_t p = index[i], q = index[k];
            if (execution_compare(&x, p, q) == ORDER_BEFORE && a->x_pt >= b->x_pt)
                fail_msg("seed %u: %u:%llu at %.1f is before %u:%llu at %.1f", seed,
                         a->event->at.line, (unsigned long long)a->event->at.number, a->x_pt,
                         b->event->at.line, (unsigned long long)b->event->at.number, b->x_pt);
            if (a->event->time_ns < b->event->time_ns && a->x_pt > b->x_pt)
                fail_msg("seed %u: %lld ns stands right of %lld ns", seed,
                         (long long)a->event->time_ns, (long long)b->event->time_ns);
        }
    check_arrows(scene, seed);
    for (uint32_t i = 1; i < scene->tick_count; i++)
        assert_true(scene->ticks[i].x_pt > scene->ticks[i - 1].x_pt);
    free(index);
    scene_free(scene);
}

static bool is_drawn(const struct window_request *r, uint32_t line)
{
    bool drawn = !r->row_count && !(line & HIDDEN_LINE);
    for (uint32_t i = 0; i < r->row_count; i++)
        drawn |= r->rows[i] == line;
    return drawn;
}

/* Gets the adjusted time of each event: the latest time of the drawn events that happened before
 * it or are simultaneous; all members of a point have the latest time among them. */
static void repair_all(const struct window_request *r, int64_t *repaired)
{
    int64_t clock[EXECUTION_EVENTS]; /* by point */
    for (uint32_t i = 0; i < x.count; i++)
        clock[x.point[i]] = INT64_MIN;
    for (uint32_t i = 0; i < x.count; i++)
        if (x.arrivals[i].time_ns > clock[x.point[i]])
            clock[x.point[i]] = x.arrivals[i].time_ns;
    for (uint32_t i = 0; i < x.count; i++) {
        repaired[i] = clock[x.point[i]];
        for (uint32_t k = 0; k < x.count; k++)
            if (is_drawn(r, x.arrivals[k].at.line) && clock[x.point[k]] > repaired[i] &&
                execution_compare(&x, k, i) == ORDER_BEFORE)
                repaired[i] = clock[x.point[k]];
    }
}

/* Checks that the window contains exactly the events between its least and its greatest adjusted
 * time, so that no event is shown without its causes, except for those left of the window. */
static void check_window(const struct window_info *w, const struct window_request *r,
                         int64_t column_ns, unsigned seed)
{
    bool seen[EXECUTION_EVENTS] = {false};
    int64_t repaired[EXECUTION_EVENTS], least = INT64_MAX, most = INT64_MIN;
    repair_all(r, repaired);
    for (uint32_t i = 0; i < w->event_count; i++) {
        const struct event_info *e = &w->events[i];
        uint32_t index = index_of(e->at);
        assert_true(is_drawn(r, e->at.line) && !seen[index]);
        seen[index] = true;
        if (e->time_ns != repaired[index])
            fail_msg("seed %u: %u:%llu at %lld, which is %lld", seed, e->at.line,
                     (unsigned long long)e->at.number, (long long)e->time_ns,
                     (long long)repaired[index]);
        assert_int_equal(e->column, cell(w, column_ns, e->time_ns));
        least = e->time_ns < least ? e->time_ns : least;
        most = e->time_ns > most ? e->time_ns : most;
    }
    for (uint32_t i = 0; i < x.count; i++)
        if (!seen[i] && is_drawn(r, x.arrivals[i].at.line) && repaired[i] >= least &&
            repaired[i] <= most)
            fail_msg("seed %u: %u:%llu is not there", seed, x.arrivals[i].at.line,
                     (unsigned long long)x.arrivals[i].at.number);
    if (r->anchor == ANCHOR_EVENT && is_drawn(r, r->event.line) && r->from <= 0)
        if (!seen[index_of(r->event)])
            fail_msg("seed %u: %u:%llu is not there, around which it was asked", seed,
                     r->event.line, (unsigned long long)r->event.number);
}

struct told { /* an event that is drawn, and its adjusted time */
    int64_t time_ns;
    uint32_t index, point;
};

static int by_time(const void *a, const void *b)
{
    const struct told *p = a, *q = b;
    if (p->time_ns != q->time_ns)
        return p->time_ns < q->time_ns ? -1 : 1;
    return p->point < q->point ? -1 : p->point > q->point;
}

static int by_time_back(const void *a, const void *b) { return by_time(b, a); }

/* Returns the number of columns from one to another; many empty ones count as a few. */
static int64_t columns_between(int64_t from, int64_t to)
{
    int64_t empty = llabs(to - from) - 1;
    return 1 + (empty < 0 ? -1 : empty >= 12 ? 3 : empty);
}

/* Checks that everything that fits into the requested columns, from the middle on in one
 * direction, is there. */
static void check_side(const struct window_info *w, struct told *told, uint32_t count, int way,
                       int64_t column_ns, int64_t columns, unsigned seed)
{
    int64_t middle = way > 0 ? w->from : w->from + (int64_t)w->columns;
    middle = middle < 0 && way > 0 ? 0 : middle > 0 && way < 0 ? 0 : middle;
    int64_t last = way > 0 ? middle - 1 : middle;
    uint32_t point = UINT32_MAX;
    qsort(told, count, sizeof *told, way > 0 ? by_time : by_time_back);
    for (uint32_t i = 0; i < count; i++) {
        int64_t at = cell(w, column_ns, told[i].time_ns), more = columns_between(last, at);
        if (way > 0 ? at < middle : at >= middle)
            continue;
        more = at == last ? told[i].point != point : more;
        if (at != last && more > columns)
            return;
        columns = more > columns ? 0 : columns - more;
        last = at;
        point = told[i].point;
        bool seen = false;
        for (uint32_t k = 0; k < w->event_count; k++)
            seen |= index_of(w->events[k].at) == told[i].index;
        if (!seen)
            fail_msg("seed %u: %u:%llu at %lld is not there, though there is room", seed,
                     x.arrivals[told[i].index].at.line,
                     (unsigned long long)x.arrivals[told[i].index].at.number,
                     (long long)told[i].time_ns);
    }
}

/* Checks that a window is as full as requested, however much the clocks differ. */
static void check_full(const struct window_info *w, const struct window_request *r,
                       int64_t column_ns, unsigned seed)
{
    struct told told[EXECUTION_EVENTS];
    int64_t repaired[EXECUTION_EVENTS], end = (int64_t)r->from + r->columns;
    uint32_t count = 0;
    repair_all(r, repaired);
    for (uint32_t i = 0; i < x.count; i++)
        if (is_drawn(r, x.arrivals[i].at.line))
            told[count++] = (struct told){repaired[i], i, x.point[i]};
    check_side(w, told, count, 1, column_ns, end - (r->from > 0 ? r->from : 0), seed);
    check_side(w, told, count, -1, column_ns, (end < 0 ? end : 0) - (int64_t)r->from, seed);
}

/* Gets a random subset of the lines, in increasing order. */
static uint32_t some_lines(unsigned *random, uint32_t *rows)
{
    uint32_t count = 0;
    for (uint32_t line = 1; line <= x.lines; line++)
        if (execution_random(random, 2))
            rows[count++] = line;
    return count;
}

static void every_event_stands_at_its_time(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 120; seed++) {
        struct run *run = run_of(seed);
        unsigned random = seed;
        for (unsigned n = 0; n < 12; n++) {
            static const uint64_t scales[] = {1, 70, 100, 1000, 30000, 10000000};
            uint64_t column_ns = scales[n % 6];
            struct event_id at = x.arrivals[execution_random(&random, x.count)].at;
            struct window_request r = {.anchor = n % 4 == 0   ? ANCHOR_END
                                                 : n % 4 == 1 ? ANCHOR_START
                                                 : n % 4 == 2 ? ANCHOR_TIME
                                                              : ANCHOR_EVENT,
                                       .event = at,
                                       .time_ns = execution_random(&random, 60000),
                                       .from = -(int32_t)execution_random(&random, 30),
                                       .columns = 40,
                                       .column_ns = column_ns};
            r.from = r.anchor == ANCHOR_START ? 0 : r.anchor == ANCHOR_END ? -40 : r.from;
            uint32_t rows[EXECUTION_LINES + 1];
            uint8_t joined[EXECUTION_LINES + 1] = {0};
            r.rows = rows;
            r.joined = joined;
            r.row_count = n % 3 == 2 ? some_lines(&random, rows) : 0;
            struct window_info w = ask(run, &r);
            assert_true(r.row_count || w.event_count > 0);
            check_window(&w, &r, (int64_t)column_ns, seed);
            if (seed % 3 == 0 || seed % 5 == 0)
                check_full(&w, &r, (int64_t)column_ns, seed);
            check_scene(&w, column_ns, seed);
            window_info_free(&w);
        }
        run_free(run);
    }
}

/* A line with 300 events, one of which is late: the 100 events after it have earlier times, as
 * after a barrier that another thread left late.  All of them are drawn at the time of the late
 * one. */
static void events_behind_a_late_one_are_found(void **state)
{
    (void)state;
    struct run *run = run_new("test", 1, NULL);
    memset(&x, 0, sizeof x);
    x.lines = 1;
    run_line(run, 1, 1, "task", false, (struct run_line){0});
    order_free(run->order);
    run->order = execution_order(&x);
    for (; x.count < 300; x.count++)
        x.arrivals[x.count] = (struct arrival){.at = {1, x.count + 1},
                                               .type = 1,
                                               .thread = 1,
                                               .time_ns = x.count == 100 ? 20000 : 100 * x.count};
    run->clock.last_ns = 100 * x.count;
    execution_feed(&x, run->order, 5);
    for (uint64_t number = 102; number < 201; number += 7) {
        struct window_request r = {
            .anchor = ANCHOR_EVENT, .event = {1, number}, .from = -1, .columns = 2, .column_ns = 1};
        struct window_info w = ask(run, &r);
        bool seen = false;
        for (uint32_t i = 0; i < w.event_count; i++) {
            assert_int_equal(w.events[i].time_ns, 20000);
            seen |= w.events[i].at.number == number;
        }
        assert_true(seen && w.more_left && w.more_right);
        window_info_free(&w);
    }
    run_free(run);
}

/* A window does not end within a column, however many events that has: no other window could begin
 * there. */
static void columns_are_whole(void **state)
{
    (void)state;
    struct run *run = run_new("test", 1, NULL);
    memset(&x, 0, sizeof x);
    x.lines = 1;
    run_line(run, 1, 1, "task", false, (struct run_line){0});
    order_free(run->order);
    run->order = execution_order(&x);
    for (; x.count < EXECUTION_EVENTS; x.count++)
        x.arrivals[x.count] = (struct arrival){
            .at = {1, x.count + 1}, .type = 1, .thread = 1, .time_ns = 100 + 100 * x.count};
    run->clock.last_ns = 100 * x.count;
    execution_feed(&x, run->order, 5);
    for (uint64_t column_ns = 30100; column_ns <= 10000000; column_ns *= 10) {
        uint32_t first = (uint32_t)(column_ns < 100 * x.count ? column_ns / 100 - 1 : x.count);
        struct window_request r = {
            .anchor = ANCHOR_TIME, .time_ns = 0, .from = 0, .columns = 2, .column_ns = column_ns};
        struct window_info w = ask(run, &r);
        assert_int_equal(w.event_count, first);
        assert_int_equal(w.more_right, first < x.count);
        window_info_free(&w);
        r.time_ns = (int64_t)column_ns;
        r.from = -2;
        w = ask(run, &r);
        assert_int_equal(w.event_count, first);
        assert_false(w.more_left);
        window_info_free(&w);
    }
    run_free(run);
}

/* With any time per column, a window that is large enough contains the whole run. */
static void nothing_is_lost(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct run *run = run_of(seed);
        uint64_t drawn = 0;
        for (uint32_t line = 1; line <= order_line_count(run->order); line++)
            drawn += order_line_events(run->order, line);
        for (uint64_t column_ns = 1; column_ns < 100000000; column_ns *= 100) {
            struct window_request r = {.anchor = ANCHOR_TIME,
                                       .time_ns = INT64_MIN,
                                       .columns = 20000,
                                       .column_ns = column_ns};
            struct window_info w = ask(run, &r);
            assert_int_equal(w.event_count, drawn);
            assert_false(w.more_left || w.more_right);
            check_scene(&w, column_ns, seed);
            window_info_free(&w);
        }
        run_free(run);
    }
}

/* A request that asks for an early part gets what is found by then, and at the end the same as one
 * that does not. */
static void what_takes_long_is_told_twice(void **state)
{
    (void)state;
    unsigned twice = 0, beyond = 0;
    for (unsigned seed = 1; seed <= 30; seed++) {
        struct run *run = run_of(seed);
        uint64_t middle = order_event(run->order, order_count(run->order) / 2).point;
        struct window_request request = {
            .anchor = ANCHOR_POSITION, .position = middle, .from = -300, .columns = 600};
        uint32_t rows[] = {1, 2, 3}; /* order leads through the other lines */
        uint8_t joined[3] = {0};
        if (seed % 2) {
            request.rows = rows;
            request.joined = joined;
            request.row_count = 3;
        }
        struct window_info whole = ask(run, &request), told = {0};
        struct encoder body = {0};
        struct response_chunk answer;
        struct decoder in;
        unsigned parts = 0;
        uint32_t early = 0;
        request.early = true;
        encode_window_request(&body, &request);
        struct encoder out = answer_to(run, &query_window, body, 50);
        for (size_t at = 0; next_part(&out, &at, &answer, &in);)
            if (answer.part == RESPONSE_WINDOW) {
                early = told.event_count;
                assert_true(parts == 0 || told.unresolved);
                window_info_free(&told);
                decode_window(&in, &told);
                assert_true(!told.unresolved || (!told.crossing_count && !told.via_count));
                parts++;
            }
        assert_true(parts <= 2 && early <= told.event_count && !told.unresolved);
        assert_int_equal(told.event_count, whole.event_count);
        assert_true(told.crossing_count == whole.crossing_count &&
                    told.via_count == whole.via_count);
        beyond += told.crossing_count + told.via_count;
        for (uint32_t i = 0; i < told.event_count; i++)
            assert_true(event_id_equal(told.events[i].at, whole.events[i].at) &&
                        told.events[i].column == whole.events[i].column);
        twice += parts == 2 && early > 0;
        window_info_free(&told);
        window_info_free(&whole);
        encoder_free(&out);
        run_free(run);
    }
    assert_true(twice > 10 && beyond > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_takes_long_is_told_twice),
        cmocka_unit_test(every_event_stands_at_its_time),
        cmocka_unit_test(events_behind_a_late_one_are_found),
        cmocka_unit_test(columns_are_whole),
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests_name("timed", tests, NULL, NULL);
}
