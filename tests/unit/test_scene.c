/* Scenes: nothing overlaps, the result is independent of names, and golden text. */
#define _GNU_SOURCE
#include "render/scene.h"
#include "render/scene_text.h"
#include "tests/bruteforce.h"
#include "tests/unit/viewed_window.h"

#include <stdlib.h>
#include <string.h>

static const char description[] =
    "name=\"test\";line_types=({name=\"line\";letter=\"L\";});"
    "events=({name=\"e1\";shape=\"square\";filled=true;relation=\"any\";arrow=\"to-partner\";},"
    "{name=\"e2\";shape=\"circle\";},{name=\"e3\";shape=\"square\";wait_class=\"rendezvous\";});";

/* Returns a run with `lines` lines and random pairs, messages, texts and losses, as on the
 * server. */
static struct run *random_run(unsigned seed, uint32_t lines, uint32_t steps)
{
    struct run *run = run_new("random", 1, NULL);
    uint64_t *numbers = calloc(lines + 1, sizeof *numbers);
    struct event_id send = {0, 0};
    unsigned random = seed;
    assert_true(run_describe(run, "test", description));
    for (uint32_t i = 1; i <= lines; i++) {
        char name[16];
        snprintf(name, sizeof name, "line %u", i);
        run_line(run, 1, i, "line", false, (struct run_line){.name = name});
    }
    for (uint32_t type = 1; type <= 3; type++) {
        char name[8];
        snprintf(name, sizeof name, "e%u", type);
        assert_int_equal(run_type(run, name), type);
    }
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t a = 1 + execution_random(&random, lines), b = 1 + execution_random(&random, lines);
        uint32_t what = execution_random(&random, 12);
        struct arrival x = {
            .thread = a, .type = 1 + execution_random(&random, 3), .about = b, .time_ns = i};
        if (what == 11) {
            order_note_loss(run->order, a, numbers[a] + 1, 3);
            numbers[a] += 3;
        }
        x.at = (struct event_id){a, ++numbers[a]};
        if (what < 5 && a != b) {
            struct event_id at_b = {b, ++numbers[b]};
            struct arrival y = x;
            x.relation = y.relation = RELATION_SYNC;
            y.at = at_b;
            y.partners = &x.at;
            x.partners = &at_b;
            x.partner_count = y.partner_count = 1;
            order_insert(run->order, &x);
            order_insert(run->order, &y);
        } else {
            if (what == 6) {
                x.relation = RELATION_SEND;
                send = x.at;
            } else if (what == 7 && send.line) {
                x.relation = RELATION_RECEIVE;
                x.partners = &send;
                x.partner_count = 1;
            } else if (what == 8) {
                run_add_text(run, x.at, "a named event with a rather long text, longer than fits");
            }
            order_insert(run->order, &x);
        }
    }
    free(numbers);
    return run;
}

struct box {
    double x0, y0, x1, y1;
};

static bool meet(struct box a, struct box b)
{
    const double slack = 0.01;
    return a.x0 < b.x1 - slack && b.x0 < a.x1 - slack && a.y0 < b.y1 - slack && b.y0 < a.y1 - slack;
}

static struct box of_text(const struct scene_text *t)
{
    return (struct box){t->x_pt, t->y_pt, t->x_pt + t->width_pt, t->y_pt + t->height_pt};
}

static struct box of_mark(const struct scene_mark *m)
{
    double half = SCENE_MARK_PT / 2;
    return (struct box){m->x_pt - half, m->y_pt - half, m->x_pt + half, m->y_pt + half};
}

/* Returns the box of an arrow head: 5 points long, ending at the mark's edge. */
static struct box of_head(const struct scene_link *l)
{
    double dx = l->x1_pt - l->x0_pt, dy = l->y1_pt - l->y0_pt;
    double length = dx * dx + dy * dy, r = 0;
    for (r = 1; r * r < length; r++)
        ;
    double tip_x = l->x1_pt - dx / r * 4.7, tip_y = l->y1_pt - dy / r * 4.7;
    double end_x = tip_x - dx / r * 5, end_y = tip_y - dy / r * 5;
    struct box b = {tip_x < end_x ? tip_x : end_x, tip_y < end_y ? tip_y : end_y,
                    tip_x > end_x ? tip_x : end_x, tip_y > end_y ? tip_y : end_y};
    return b;
}

static void no_label_meets_anything(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 30, 300};
    for (unsigned n = 0; n < 1000; n++) {
        unsigned random = n + 1;
        uint32_t lines = sizes[n % 3];
        struct run *run = random_run(n + 1, lines, lines == 300 ? 600 : 200);
        uint64_t count = order_count(run->order);
        struct viewed_window v;
        viewed_window_receive(
            &v, run,
            (struct window_request){.anchor = ANCHOR_POSITION,
                                    .position = execution_random(&random, (uint32_t)count),
                                    .from = (int32_t)execution_random(&random, 40) - 20,
                                    .columns = 1 + execution_random(&random, 60)});
        struct scene *s = scene_build(&v.window, &v.book, &(struct scene_options){0});
        for (uint32_t i = 0; i < s->text_count; i++) {
            struct box text = of_text(&s->texts[i]);
            for (uint32_t k = 0; k < s->mark_count; k++)
                if (meet(text, of_mark(&s->marks[k])))
                    fail_msg("window %u: \"%s\" meets a mark", n, s->texts[i].text);
            for (uint32_t k = 0; k < s->link_count; k++)
                if (s->links[k].head && meet(text, of_head(&s->links[k])))
                    fail_msg("window %u: \"%s\" meets an arrow head", n, s->texts[i].text);
            for (uint32_t k = 0; k < i; k++)
                if (meet(text, of_text(&s->texts[k])))
                    fail_msg("window %u: \"%s\" meets \"%s\"", n, s->texts[i].text,
                             s->texts[k].text);
        }
        scene_free(s);
        viewed_window_free(&v);
        run_free(run);
    }
}

static uint64_t shown_of(const struct window_info *w, uint32_t line)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < w->event_count; i++)
        n += w->events[i].at.line == line;
    return n;
}

/* The edge of a window, given by the number of events left of it on each line, is an anchor of the
 * same window: the left edge of a window right of its anchor, and vice versa. */
static void an_edge_is_an_anchor(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 12, 40};
    unsigned events = 0;
    for (unsigned n = 0; n < 400; n++) {
        unsigned random = n + 1;
        struct run *run = random_run(n + 1, sizes[n % 3], 300);
        uint64_t count = order_count(run->order);
        struct viewed_window v, again;
        bool right = n % 4 >= 2; /* of the two edges */
        struct window_request r = {.anchor = ANCHOR_POSITION,
                                   .position = execution_random(&random, (uint32_t)count),
                                   .columns = 1 + execution_random(&random, 60)};
        r.from = (int32_t)execution_random(&random, 20);
        r.from = right ? -(int32_t)r.columns - r.from : r.from;
        viewed_window_receive(&v, run, r);
        struct layout_move *moves = calloc(v.window.row_count + 1, sizeof *moves);
        uint64_t least = count, greatest = 0;
        for (uint32_t i = 0; i < v.window.event_count; i++) {
            uint64_t at = v.window.events[i].position;
            least = at < least ? at : least;
            greatest = at >= greatest ? at + 1 : greatest;
        }
        for (uint32_t i = 0; i < v.window.row_count; i++) {
            const struct row_info *row = &v.window.rows[i];
            moves[i] = (struct layout_move){row->line, true, (int64_t)row->left};
            moves[i].events += right ? (int64_t)shown_of(&v.window, row->line) : 0;
        }
        viewed_window_receive(&again, run,
                              (struct window_request){.anchor = ANCHOR_POSITION,
                                                      .position = right ? greatest : least,
                                                      .columns = r.columns,
                                                      .from = right ? -(int32_t)r.columns : 0,
                                                      .moves = moves,
                                                      .move_count = v.window.row_count});
        if (v.window.event_count) {
            if (again.window.event_count != v.window.event_count)
                fail_msg("case %u: %u events, not %u", n, again.window.event_count,
                         v.window.event_count);
            for (uint32_t i = 0; i < v.window.event_count; i++) {
                assert_true(event_id_equal(again.window.events[i].at, v.window.events[i].at));
                assert_int_equal(again.window.events[i].column - again.window.from,
                                 v.window.events[i].column - r.from);
            }
        }
        events += v.window.event_count;
        viewed_window_free(&v);
        viewed_window_free(&again);
        run_free(run);
    }
    assert_true(events > 10000);
}

/* The event at the begin of a dashed link happened before that at its end. If all lines are drawn,
 * there are no dashed links. */
static void order_through_hidden_lines_is_order(void **state)
{
    (void)state;
    unsigned found = 0;
    for (unsigned n = 0; n < 200; n++) {
        unsigned random = n + 1;
        struct run *run = random_run(n + 1, 12, 300);
        struct viewed_window v;
        uint32_t *rows = calloc(12, sizeof *rows), count = 0;
        for (uint32_t line = 1; line <= 12; line++)
            if (n % 10 == 0 || execution_random(&random, 2))
                rows[count++] = line;
        viewed_window_receive(&v, run,
                              (struct window_request){.anchor = ANCHOR_START,
                                                      .columns = 100,
                                                      .rows = rows,
                                                      .joined = calloc(12, 1),
                                                      .row_count = count});
        if (n % 10 == 0)
            assert_int_equal(v.window.via_count, 0);
        for (uint32_t i = 0; count && i < v.window.via_count; i++)
            assert_int_equal(order_compare(run->order, v.window.vias[i].from, v.window.vias[i].to),
                             ORDER_BEFORE);
        found += v.window.via_count;
        viewed_window_free(&v);
        run_free(run);
    }
    assert_true(found > 1000);
}

static void golden(const char *name, const char *ending, const char *text)
{
    char path[128], *wanted = NULL;
    size_t room;
    FILE *f;
    snprintf(path, sizeof path, "tests/golden/%s%s.txt", name, ending);
    if (getenv("POET_WRITE_GOLDEN")) {
        f = fopen(path, "w");
        fputs(text, f);
        fclose(f);
    }
    f = fopen(path, "r");
    assert_non_null(f);
    ssize_t n = getdelim(&wanted, &room, 0, f);
    fclose(f);
    assert_true(n > 0);
    assert_string_equal(text, wanted);
    free(wanted);
}

static void golden_scene(const char *name, const struct scene *scene)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    scene_print(scene, f);
    fclose(f);
    golden(name, "", text);
    free(text);
}

static void golden_terminal(const char *name, const char *ending, const struct scene *scene,
                            const struct trace_metadata *book, struct text_options options)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    scene_text_write(scene, book, &options, f);
    fclose(f);
    golden(name, ending, text);
    free(text);
}

static void scenes_are_as_they_were(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct window_request request;
    } cases[] = {
        {"random-start", {.anchor = ANCHOR_START, .columns = 30}},
        {"random-end", {.anchor = ANCHOR_END, .from = -20, .columns = 20}},
        {"random-middle", {.anchor = ANCHOR_FRACTION, .fraction = 0.5, .from = -8, .columns = 16}}};
    struct run *run = random_run(4, 5, 60);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct viewed_window v;
        viewed_window_receive(&v, run, cases[i].request);
        struct scene *s = scene_build(&v.window, &v.book,
                                      &(struct scene_options){.title = "random", .legend = true});
        golden_scene(cases[i].name, s);
        golden_terminal(cases[i].name, "-terminal", s, &v.book, (struct text_options){0});
        golden_terminal(cases[i].name, "-ascii", s, &v.book,
                        (struct text_options){.ascii = true, .width = 60});
        scene_free(s);
        viewed_window_free(&v);
    }
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_label_meets_anything),
        cmocka_unit_test(an_edge_is_an_anchor),
        cmocka_unit_test(order_through_hidden_lines_is_order),
        cmocka_unit_test(scenes_are_as_they_were),
    };
    return cmocka_run_group_tests_name("scene", tests, NULL, NULL);
}
