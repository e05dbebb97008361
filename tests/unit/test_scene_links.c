/* Connections between marks of a diagram: order edges, and the occupancy of threads that are
 * elsewhere. */
#define _GNU_SOURCE
#include "render/scene.h"
#include "render/scene_text.h"
#include "tests/bruteforce.h"
#include "tests/unit/viewed_window.h"

#include <stdlib.h>
#include <string.h>

static const char description[] =
    "name=\"test\";"
    "line_types=({name=\"task\";letter=\"T\";show_location=true;},{name=\"monitor\";letter=\"M\";},"
    "{name=\"condition\";letter=\"Q\";visible=false;});"
    "events=({name=\"start\";thread_state=\"running\";state_of=\"own_thread\";},"
    "{name=\"enter\";relation=\"sync\";arrow=\"to-partner\";thread_state=\"left\";"
    "allowed_after_on_line=[\"start\",\"left\"];},"
    "{name=\"entered\";relation=\"sync\";arrow=\"from-partner\";thread_state=\"running\";},"
    "{name=\"wait\";verb=\"waits for\";thread_state=\"blocked\";wait_class=\"rendezvous\";"
    "show_thread_name=true;shape=\"square\";},"
    "{name=\"wake\";thread_state=\"running\";arrow=\"dotted\";show_thread_name=true;"
    "group=\"conditions\";},"
    "{name=\"leave\";relation=\"sync\";arrow=\"to-partner\";thread_state=\"left\";"
    "allowed_after_on_line=[\"entered\"];},"
    "{name=\"left\";relation=\"sync\";arrow=\"from-partner\";thread_state=\"running\";},"
    "{name=\"signal\";group=\"conditions\";label=\"signals\";},"
    "{name=\"note\";group=\"conditions\";label=\"says\";},"
    "{name=\"end\";ends=true;thread_state=\"blocked\";state_of=\"own_thread\";});";

/* ---- a run ---- */

enum { THREADS = 4, MONITORS = 2, LINES = THREADS + MONITORS + 1, CONDITION = LINES };

struct play {
    struct run *run;
    uint64_t numbers[LINES + 1];
    int64_t time;
    uint32_t in[THREADS + 1]; /* the monitor; 0: none */
    bool waits[THREADS + 1];
    uint32_t holder[LINES + 1];
};

static struct play begin(void)
{
    static const char *const kinds[] = {"task", "monitor", "condition"};
    struct play p = {.run = run_new("ties", 1, NULL)};
    assert_true(run_describe(p.run, "test", description));
    for (uint32_t i = 1; i <= LINES; i++) {
        char name[16];
        snprintf(name, sizeof name, i <= THREADS ? "t%u" : i < CONDITION ? "m%u" : "more", i);
        run_line(p.run, 1, i, kinds[(i > THREADS) + (i == CONDITION)], false,
                 (struct run_line){.name = name});
    }
    return p;
}

/* Adds an event of a thread, after another one if that is given. */
static struct event_id act(struct play *p, uint32_t thread, uint32_t line, const char *type,
                           struct event_id after)
{
    struct arrival x = {.at = {line, ++p->numbers[line]},
                        .thread = thread,
                        .type = run_type(p->run, type),
                        .about = strcmp(type, "wait") == 0 ? CONDITION : 0,
                        .relation = after.line ? RELATION_ORDER : RELATION_NONE,
                        .after = {after, {0, 0}},
                        .time_ns = ++p->time};
    order_insert(p->run->order, &x);
    return x.at;
}

static const struct event_id none = {0, 0};

static void go(struct play *p, uint32_t thread, uint32_t from, const char *out, uint32_t to,
               const char *in)
{
    struct event_id a = {from, ++p->numbers[from]}, b = {to, ++p->numbers[to]};
    struct arrival x = {.at = a,
                        .thread = thread,
                        .type = run_type(p->run, out),
                        .relation = RELATION_SYNC,
                        .partners = &b,
                        .partner_count = 1,
                        .time_ns = ++p->time},
                   y = x;
    y.at = b;
    y.type = run_type(p->run, in);
    y.partners = &a;
    order_insert(p->run->order, &x);
    order_insert(p->run->order, &y);
}

static void enter(struct play *p, uint32_t t, uint32_t m)
{
    go(p, t, t, "enter", m, "entered");
    p->in[t] = m;
    p->holder[m] = t;
}

static void leave(struct play *p, uint32_t t)
{
    uint32_t m = p->in[t];
    go(p, t, m, "leave", t, "left");
    p->in[t] = p->holder[m] = 0;
}

static struct event_id wait_in(struct play *p, uint32_t t)
{
    p->holder[p->in[t]] = 0;
    p->waits[t] = true;
    return act(p, t, p->in[t], "wait", none);
}

static void wake(struct play *p, uint32_t t, struct event_id signal)
{
    p->holder[p->in[t]] = t;
    p->waits[t] = false;
    act(p, t, p->in[t], "wake", signal);
}

/* Returns a random run: each thread does something that is possible. */
static struct run *random_play(unsigned seed, unsigned steps)
{
    struct play p = begin();
    struct event_id signal = none;
    unsigned random = seed;
    for (uint32_t t = 1; t <= THREADS; t++)
        act(&p, t, t, "start", none);
    for (unsigned i = 0; i < steps; i++) {
        uint32_t t = 1 + execution_random(&random, THREADS);
        uint32_t m = THREADS + 1 + execution_random(&random, MONITORS);
        uint32_t what = execution_random(&random, 4);
        if (p.waits[t] && !p.holder[p.in[t]])
            wake(&p, t, signal.line && what ? signal : none);
        else if (p.waits[t])
            continue;
        else if (p.in[t])
            what == 0   ? (void)wait_in(&p, t)
            : what == 1 ? (void)act(&p, t, p.in[t], "note", none)
                        : leave(&p, t);
        else if (what && !p.holder[m])
            enter(&p, t, m);
        else
            signal = act(&p, t, t, "signal", none);
    }
    return p.run;
}

static uint64_t left_of(const struct window_info *w, uint32_t line)
{
    for (uint32_t i = 0; i < w->row_count; i++)
        if (w->rows[i].line == line)
            return w->rows[i].left;
    return 0;
}

/* Returns the last event of the thread left of the window, by checking all events. */
static struct event_id plain_last(const struct run *run, const struct window_info *w,
                                  uint32_t thread)
{
    struct event_id last = none;
    for (uint64_t p = 0; p < order_count(run->order); p++) {
        struct order_event e = order_event(run->order, p);
        if (e.thread == thread && e.number <= left_of(w, e.line))
            last = (struct event_id){e.line, e.number};
    }
    return last;
}

/* Returns the point of an event, which both events of a sync pair share. */
static uint64_t point_of(const struct run *run, struct event_id at)
{
    return order_event(run->order, order_position(run->order, at)).point;
}

static bool is_shown(const struct window_info *w, struct event_id at)
{
    for (uint32_t i = 0; i < w->event_count; i++)
        if (event_id_equal(w->events[i].at, at))
            return true;
    return false;
}

static void what_is_told_of_a_window_is_so(void **state)
{
    (void)state;
    unsigned stays = 0, edges = 0;
    for (unsigned n = 0; n < 300; n++) {
        struct run *run = random_play(n + 1, 200);
        unsigned random = n + 1;
        struct viewed_window v;
        viewed_window_receive(
            &v, run,
            (struct window_request){
                .anchor = ANCHOR_POSITION,
                .position = execution_random(&random, (uint32_t)order_count(run->order)),
                .from = (int32_t)execution_random(&random, 20) - 10,
                .columns = 1 + execution_random(&random, 40)});
        const struct window_info *w = &v.window;
        for (uint32_t i = 0; i < w->placement_count; i++) {
            struct event_id wanted = plain_last(run, w, w->placements[i].thread);
            if (point_of(run, w->placements[i].at) != point_of(run, wanted))
                fail_msg("play %u: thread %u is reported to be at %u:%llu, not %u:%llu", n,
                         w->placements[i].thread, w->placements[i].at.line,
                         (unsigned long long)w->placements[i].at.number, wanted.line,
                         (unsigned long long)wanted.number);
        }
        for (uint32_t i = 0; i < w->edge_count; i++) {
            assert_int_equal(order_compare(run->order, w->edges[i].from, w->edges[i].to),
                             ORDER_BEFORE);
            assert_true(is_shown(w, w->edges[i].from) && is_shown(w, w->edges[i].to));
        }
        stays += w->placement_count;
        edges += w->edge_count;
        viewed_window_free(&v);
        run_free(run);
    }
    assert_true(stays > 500 && edges > 500);
}

/* ---- a diagram ---- */

/* t1 waits in m5, t2 signals and ends, t3 waits forever. */
static struct run *small_play(void)
{
    struct play p = begin();
    for (uint32_t t = 1; t <= 3; t++)
        act(&p, t, t, "start", none);
    enter(&p, 1, THREADS + 1);
    wait_in(&p, 1);
    struct event_id signal = act(&p, 2, 2, "signal", none);
    act(&p, 2, 2, "end", none);
    wake(&p, 1, signal);
    leave(&p, 1);
    act(&p, 1, 1, "note", none);
    enter(&p, 3, THREADS + 1);
    wait_in(&p, 3);
    return p.run;
}

static char *styles_of(const struct scene *s, uint32_t row)
{
    static const char letters[] = "-dtsawe"; /* by style */
    static char text[64];
    size_t n = 0;
    for (uint32_t i = 0; i < s->segment_count; i++)
        if (s->segments[i].row == row)
            text[n++] = letters[s->segments[i].style];
    text[n] = 0;
    return text;
}

static unsigned said(const struct scene *s, const char *words)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < s->text_count; i++)
        n += strcmp(s->texts[i].text, words) == 0;
    return n;
}

static bool noted(const struct scene *s, const char *words)
{
    for (uint32_t i = 0; i < s->note_count; i++)
        if (strcmp(s->notes[i].text, words) == 0)
            return true;
    return false;
}

static unsigned orders(const struct scene *s)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < s->link_count; i++)
        n += s->links[i].kind == ARROW_ORDER;
    return n;
}

static void a_blocked_thread_is_seen_on_its_own_row(void **state)
{
    (void)state;
    struct run *run = small_play();
    struct viewed_window v;
    viewed_window_receive(&v, run, (struct window_request){.anchor = ANCHOR_START, .columns = 40});
    struct scene *s = scene_build(&v.window, &v.book,
                                  &(struct scene_options){.order_arrows = true, .legend = true});
    assert_string_equal(styles_of(s, 0), "sawass"); /* runs, is away, waits, is back */
    assert_string_equal(styles_of(s, 1), "sse"); /* it ends: a stub, and nothing after it */
    assert_string_equal(styles_of(s, 2), "saw");
    assert_int_equal(said(s, "waits for Q:more"), 1); /* that of t3; that of t1 is too short */
    assert_int_equal(said(s, "t1"), 2); /* at the wait and at the wake-up */
    assert_int_equal(said(s, "t3"), 1);
    assert_int_equal(orders(s), 1);
    assert_true(noted(s, "conditions") && noted(s, "thread is blocked inside that object") &&
                noted(s, "says, signals, wake"));
    const struct scene_segment *last = &s->segments[0];
    for (uint32_t i = 0; i < s->segment_count; i++)
        last = s->segments[i].row == 2 ? &s->segments[i] : last;
    assert_true(last->lasts && last->on == THREADS + 1 && last->about == CONDITION);
    scene_free(s);
    viewed_window_free(&v);
    run_free(run);
}

static void nothing_moves_for_dotted_arrows(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 50; n++) {
        struct run *run = random_play(n + 1, 120);
        struct viewed_window v;
        viewed_window_receive(&v, run,
                              (struct window_request){.anchor = ANCHOR_START, .columns = 30});
        struct scene *with = scene_build(&v.window, &v.book,
                                         &(struct scene_options){.order_arrows = true}),
                     *without = scene_build(&v.window, &v.book, &(struct scene_options){0});
        assert_int_equal(orders(without), 0);
        assert_true(with->width_pt == without->width_pt && with->height_pt == without->height_pt);
        assert_int_equal(with->mark_count, without->mark_count);
        for (uint32_t i = 0; i < with->mark_count; i++)
            assert_true(with->marks[i].x_pt == without->marks[i].x_pt &&
                        with->marks[i].y_pt == without->marks[i].y_pt);
        assert_int_equal(with->text_count, without->text_count);
        scene_free(with);
        scene_free(without);
        viewed_window_free(&v);
        run_free(run);
    }
}

/* The state of a thread at the left edge of a window is that of the whole diagram. */
static void the_left_edge_is_no_change(void **state)
{
    (void)state;
    struct run *run = small_play();
    struct viewed_window v;
    struct event_id leave = {THREADS + 1, 4}; /* t1 has waited and was woken */
    viewed_window_receive(
        &v, run, (struct window_request){.anchor = ANCHOR_EVENT, .event = leave, .columns = 40});
    struct scene *s = scene_build(&v.window, &v.book, &(struct scene_options){0});
    assert_string_equal(styles_of(s, 0), "ass"); /* in the monitor, back */
    assert_string_equal(styles_of(s, 1), ""); /* ended */
    scene_free(s);
    viewed_window_free(&v);
    run_free(run);
}

/* If the line that a thread waits on has no row, the wait is drawn on the thread's own row. */
static void it_waits_on_a_line_that_is_not_shown(void **state)
{
    (void)state;
    struct run *run = small_play();
    struct viewed_window v;
    uint32_t rows[] = {1, 2, 3};
    viewed_window_receive(
        &v, run,
        (struct window_request){.anchor = ANCHOR_START,
                                .columns = 40,
                                .rows = memcpy(malloc(sizeof rows), rows, sizeof rows),
                                .joined = calloc(3, 1),
                                .row_count = 3});
    struct scene *s = scene_build(&v.window, &v.book, &(struct scene_options){0});
    assert_string_equal(styles_of(s, 2), "sw");
    assert_int_equal(said(s, "waits for Q:more"), 1);
    scene_free(s);
    viewed_window_free(&v);
    run_free(run);
}

static void the_terminal_says_it_too(void **state)
{
    (void)state;
    struct run *run = small_play();
    struct viewed_window v;
    char *text = NULL;
    size_t size;
    viewed_window_receive(&v, run, (struct window_request){.anchor = ANCHOR_START, .columns = 40});
    struct scene *s =
        scene_build(&v.window, &v.book, &(struct scene_options){.order_arrows = true});
    FILE *f = open_memstream(&text, &size);
    scene_text_write(s, &v.book, &(struct text_options){0}, f);
    fclose(f);
    assert_non_null(strstr(text, "2:2 T:t2: signals, before 5:3 T:t1: wake\n"));
    assert_non_null(strstr(text, "T:t3: waits for Q:more, in M:m5\n"));
    assert_non_null(strstr(text, "··╍╍"));
    free(text);
    scene_free(s);
    viewed_window_free(&v);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_of_a_window_is_so),
        cmocka_unit_test(a_blocked_thread_is_seen_on_its_own_row),
        cmocka_unit_test(nothing_moves_for_dotted_arrows),
        cmocka_unit_test(the_left_edge_is_no_change),
        cmocka_unit_test(it_waits_on_a_line_that_is_not_shown),
        cmocka_unit_test(the_terminal_says_it_too),
    };
    return cmocka_run_group_tests_name("ties", tests, NULL, NULL);
}
