/* Two runs in one diagram: equal events share a column, order is kept, rows are aligned; and
 * golden text. */
#define _GNU_SOURCE
#include "clients/cli/two_run_diagram.h"
#include "base/alloc.h"
#include "render/scene_text.h"
#include "server/queries/run_notifications.h"
#include "server/queries/event_answer.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const char description[] =
    "name=\"test\";line_types=({name=\"thread\";letter=\"T\";show_location=true;"
    "number_duplicates=true;},{name=\"lock\";letter=\"M\";});"
    "events=({name=\"start\";shape=\"square\";filled=true;thread_state=\"running\";"
    "state_of=\"own_thread\";},"
    "{name=\"ask\";line_types=[\"thread\"];shape=\"circle\";verb=\"asks for\";"
    "thread_state=\"blocked\";wait_class=\"contention\";},"
    "{name=\"enter\";line_types=[\"thread\"];shape=\"circle\";filled=true;relation=\"sync\";"
    "arrow=\"to-partner\";thread_state=\"left\";},"
    "{name=\"entered\";line_types=[\"lock\"];shape=\"circle\";filled=true;relation=\"sync\";"
    "arrow=\"from-partner\";thread_state=\"running\";},"
    "{name=\"leave\";line_types=[\"lock\"];shape=\"circle\";filled=true;relation=\"sync\";"
    "arrow=\"to-partner\";thread_state=\"left\";},"
    "{name=\"left\";line_types=[\"thread\"];shape=\"circle\";filled=true;relation=\"sync\";"
    "arrow=\"from-partner\";thread_state=\"running\";});";

static const char *const types[] = {"start", "ask", "enter", "entered", "leave", "left"};
enum { START, ASK, ENTER, ENTERED, LEAVE, LEFT, TYPES };
enum { THREADS = 3, LOCKS = 2, LINES = THREADS + LOCKS };

/* A run as on the server, and its metadata as in a viewer. The second run numbers lines and types
 * differently. */
struct made {
    struct run *run;
    struct trace_metadata book;
    uint32_t lines[LINES], codes[TYPES];
    uint64_t numbers[LINES + 1];
};

static void begin(struct made *m, unsigned turn)
{
    *m = (struct made){.run = run_new("made", 1, NULL)};
    assert_true(run_describe(m->run, "test", description));
    for (uint32_t i = 0; i < LINES; i++) {
        static char names[LINES][8] = {"main", "alice", "bob", "forks", "knives"};
        uint32_t what = (i + turn) % LINES;
        m->lines[what] = i + 1;
        run_line(m->run, 1, i + 1, what < THREADS ? "thread" : "lock", false,
                 (struct run_line){.name = names[what]});
    }
    for (uint32_t i = 0; i < TYPES; i++)
        m->codes[(i + turn) % TYPES] = run_type(m->run, types[(i + turn) % TYPES]);
}

static struct arrival one(struct made *m, unsigned line, unsigned thread, unsigned type)
{
    uint32_t number = m->lines[line];
    return (struct arrival){
        .at = {number, ++m->numbers[number]}, .type = m->codes[type], .thread = m->lines[thread]};
}

static void pair(struct made *m, unsigned thread, unsigned lock, unsigned own, unsigned other)
{
    struct arrival x = one(m, thread, thread, own), y = one(m, THREADS + lock, thread, other);
    x.relation = y.relation = RELATION_SYNC;
    x.partners = &y.at, y.partners = &x.at;
    x.partner_count = y.partner_count = 1;
    order_insert(m->run->order, &x);
    order_insert(m->run->order, &y);
}

static void start(struct made *m)
{
    for (unsigned i = 0; i < THREADS; i++) {
        struct arrival x = one(m, i, i, START);
        order_insert(m->run->order, &x);
    }
}

static void ask(struct made *m, unsigned thread, unsigned lock)
{
    struct arrival x = one(m, thread, thread, ASK);
    x.about = m->lines[THREADS + lock];
    order_insert(m->run->order, &x);
}

static void visit(struct made *m, unsigned thread, unsigned lock)
{
    pair(m, thread, lock, ENTER, ENTERED);
    pair(m, thread, lock, LEFT, LEAVE);
}

static void end(struct made *m)
{
    struct encoder out = {0};
    struct viewer_knowledge known = {0};
    notify_updates(&out, m->run, &known);
    for (size_t at = 0; at < out.size;) {
        unsigned type;
        size_t length;
        const char *error;
        assert_int_equal(frame_read(out.data + at, out.size - at, SIZE_MAX, &type, &length, &error),
                         1);
        struct decoder in = decoder_init(out.data + at + MESSAGE_FRAME_BYTES, length);
        assert_true(metadata_update(&m->book, type, &in));
        at += MESSAGE_FRAME_BYTES + length;
    }
    encoder_free(&out);
}

/* Passes each event to f, decoded from its encoding; f may take ownership. */
static void tell(const struct made *m, void (*f)(void *, unsigned, struct event_info *), void *user,
                 unsigned run)
{
    for (uint64_t i = 0; i < order_count(m->run->order); i++) {
        struct event_info told = event_answer_info(m->run, i), e;
        struct encoder out = {0};
        encode_event_info(&out, &told);
        event_answer_free(&told);
        struct decoder in = decoder_init(out.data, out.size);
        decode_event_info(&in, &e);
        assert_null(in.error);
        encoder_free(&out);
        f(user, run, &e);
        event_info_free(&e);
    }
}

struct drawn {
    struct made runs[2];
    struct trace_alignment *beside;
    struct two_run_diagram halves;
};

static void align(void *user, unsigned run, struct event_info *e)
{
    struct drawn *d = user;
    assert_true(
        alignment_event(d->beside, run, e, metadata_type_name(&d->runs[run].book, e->type)));
}

static void take(void *user, unsigned run, struct event_info *e)
{
    struct drawn *d = user;
    two_run_diagram_add_event(&d->halves, run, e);
}

static void draw(struct drawn *d)
{
    static const char *const headings[] = {"recorded: a.poet", "again: b.poet"};
    d->beside = alignment_new();
    for (unsigned run = 0; run < 2; run++) {
        const struct trace_metadata *book = &d->runs[run].book;
        end(&d->runs[run]);
        tell(&d->runs[run], align, d, run);
        for (uint32_t i = 1; i <= book->line_count; i++) {
            alignment_name(d->beside, run, i, metadata_line(book, i)->is.name);
            alignment_rename_line(d->beside, run, i, metadata_label(book, i));
        }
    }
    align_traces(d->beside);
    struct event_id at[] = {alignment_first_divergence(d->beside, 0),
                            alignment_first_divergence(d->beside, 1)};
    two_run_diagram_begin(&d->halves, &d->runs[0].book, &d->runs[1].book, d->beside, at);
    tell(&d->runs[0], take, d, 0);
    tell(&d->runs[1], take, d, 1);
    char *said[] = {xstrdup("did this"), xstrdup("did that")};
    two_run_diagram_finish(&d->halves, headings, said);
}

static void visible_rows_free(struct drawn *d)
{
    two_run_diagram_free(&d->halves);
    alignment_free(d->beside);
    for (unsigned run = 0; run < 2; run++) {
        metadata_free(&d->runs[run].book);
        run_free(d->runs[run].run);
    }
}

static struct scene *scene_of(const struct drawn *d)
{
    struct scene_options options = {.title = "made", .caption = "flipped"};
    two_run_diagram_options(&d->halves, &options);
    return scene_build(&d->halves.window, &d->halves.both.book, &options);
}

/* ---- invariants ---- */

/* Returns the mark in the other half of the event that is equal to this mark's; NULL if there is
 * none. */
static const struct scene_mark *equal_of(const struct drawn *d, const struct scene *s,
                                         const struct scene_mark *m)
{
    const struct merged_metadata *both = &d->halves.both;
    struct event_id own = merged_metadata_own_line(both, m->event->at);
    unsigned run = merged_metadata_run(both, m->event->at.line);
    if (!alignment_equal(d->beside, run, own))
        return NULL;
    struct event_id there = {
        merged_metadata_line(both, !run, alignment_line(d->beside, run, own.line)), own.number};
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (event_id_equal(s->marks[i].event->at, there))
            return &s->marks[i];
    fail_msg("it is not drawn");
    return NULL;
}

static unsigned check(const struct drawn *d, const struct scene *s)
{
    unsigned equal = 0;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i], *there = equal_of(d, s, m);
        if (there) {
            assert_true(m->x_pt == there->x_pt);
            assert_string_equal(metadata_type_name(&d->halves.both.book, m->event->type),
                                metadata_type_name(&d->halves.both.book, there->event->type));
            assert_string_equal(s->rows[m->row].label, s->rows[there->row].label);
            equal++;
        }
        if (i && s->marks[i - 1].row == m->row) { /* on the same line */
            assert_true(s->marks[i - 1].x_pt < m->x_pt);
            assert_true(s->marks[i - 1].event->at.number < m->event->at.number);
        }
    }
    for (uint32_t i = 0; i < s->link_count; i++) { /* no link leads from one half to the other */
        double middle = s->rows[d->halves.headings[1].row].y_pt;
        assert_true((s->links[i].y0_pt < middle) == (s->links[i].y1_pt < middle));
    }
    return equal;
}

/* Counts the numbers of notes between the rows of a diagram as text. */
static unsigned numbers_in_text(const struct scene *s, const struct drawn *d)
{
    char *text = NULL;
    size_t size;
    unsigned numbers = 0;
    FILE *f = open_memstream(&text, &size);
    scene_text_write(s, &d->halves.both.book, &(struct text_options){0}, f);
    fclose(f);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        for (size_t i = 0; *line == ' ' && line[i] && line[i] != '\n'; i++)
            numbers += line[i] >= '1' && line[i] <= '9';
    free(text);
    return numbers;
}

static void what_is_equal_is_aligned(void **context)
{
    (void)context;
    unsigned equal = 0;
    srandom(3);
    for (unsigned round = 0; round < 100; round++) {
        struct drawn d = {0};
        begin(&d.runs[0], 0), begin(&d.runs[1], (unsigned)random() % LINES);
        start(&d.runs[0]), start(&d.runs[1]);
        unsigned same = (unsigned)random() % 60;
        for (unsigned i = 0; i < 90; i++) {
            unsigned thread = (unsigned)random() % THREADS, lock = (unsigned)random() % LOCKS;
            visit(&d.runs[0], thread, lock);
            if (i >= same)
                thread = (unsigned)random() % THREADS, lock = (unsigned)random() % LOCKS;
            visit(&d.runs[1], thread, lock);
        }
        draw(&d);
        struct scene *s = scene_of(&d);
        equal += check(&d, s);
        assert_true(s->column_count <= 102);
        assert_int_equal(s->flag_count, d.halves.noted_count);
        assert_int_equal(numbers_in_text(s, &d), s->flag_count);
        scene_free(s);
        visible_rows_free(&d);
    }
    assert_true(equal > 1000);
}

/* In run 1, another thread visits the lock first; each line is once the first row. */
static void a_note_is_numbered_also_where_an_arrow_ends(void **context)
{
    (void)context;
    for (unsigned first = 0; first < LINES; first++) {
        struct drawn d = {0};
        for (unsigned run = 0; run < 2; run++) {
            begin(&d.runs[run], first);
            start(&d.runs[run]);
            for (unsigned i = 0; i < THREADS; i++)
                visit(&d.runs[run], run ? THREADS - 1 - i : i, 0);
        }
        draw(&d);
        struct scene *s = scene_of(&d);
        assert_int_equal(s->flag_count, 2);
        assert_int_equal(numbers_in_text(s, &d), 2);
        scene_free(s);
        visible_rows_free(&d);
    }
}

static void what_is_not_in_the_picture_is_said_at_its_edge(void **context)
{
    (void)context;
    struct drawn d = {0};
    begin(&d.runs[0], 0), begin(&d.runs[1], 1);
    for (unsigned run = 0; run < 2; run++) {
        start(&d.runs[run]);
        pair(&d.runs[run], 2, 1, ENTER, ENTERED); /* bob stays in it */
        for (unsigned i = 0; i < 40; i++)
            visit(&d.runs[run], 0, 0);
        visit(&d.runs[run], run, 0);
        visit(&d.runs[run], 2, 0); /* gives bob a row */
    }
    draw(&d);
    assert_true(d.halves.window.more_left);
    for (uint32_t i = 0; i < d.halves.window.row_count; i++) {
        const struct row_info *row = &d.halves.window.rows[i];
        const char *label = metadata_label(&d.halves.both.book, row->line);
        assert_true(strcmp(label, "T:main") != 0 || row->left > 40);
        assert_true(strcmp(label, "T:bob") != 0 || row->left == 2);
    }
    bool at_knives = false; /* bob is in it, not on its own line */
    for (uint32_t i = 0; i < d.halves.window.placement_count; i++)
        at_knives |= d.halves.window.placements[i].at.line == d.runs[0].lines[THREADS + 1];
    assert_true(at_knives);
    visible_rows_free(&d);
}

/* ---- golden text ---- */

static void golden(const char *name, const struct drawn *d)
{
    char path[128], *text = NULL, *wanted = NULL;
    size_t size, room;
    struct scene *s = scene_of(d);
    FILE *f = open_memstream(&text, &size);
    scene_text_write(s, &d->halves.both.book, &(struct text_options){0}, f);
    fputs("\n", f);
    scene_print(s, f);
    for (uint32_t i = 0; i < d->halves.equal_count; i++)
        fprintf(f, "equal %u:%llu\n", d->halves.equal[i].line,
                (unsigned long long)d->halves.equal[i].number);
    fclose(f);
    scene_free(s);
    snprintf(path, sizeof path, "tests/golden/%s.txt", name);
    if (getenv("POET_WRITE_GOLDEN")) {
        f = fopen(path, "w");
        fputs(text, f);
        fclose(f);
    }
    f = fopen(path, "r");
    assert_non_null(f);
    assert_true(getdelim(&wanted, &room, 0, f) > 0);
    fclose(f);
    assert_string_equal(text, wanted);
    free(wanted);
    free(text);
}

static void a_flip_is_drawn_as_it_was(void **context)
{
    (void)context;
    struct drawn d = {0};
    begin(&d.runs[0], 0), begin(&d.runs[1], 2);
    for (unsigned run = 0; run < 2; run++) {
        start(&d.runs[run]);
        visit(&d.runs[run], 0, 1);
        ask(&d.runs[run], 1, 0);
        ask(&d.runs[run], 2, 0);
        visit(&d.runs[run], run ? 2 : 1, 0);
        visit(&d.runs[run], run ? 1 : 2, 0);
        ask(&d.runs[run], 0, 1);
        visit(&d.runs[run], 0, 1); /* concurrent with the request */
    }
    draw(&d);
    golden("halves-flip", &d);
    visible_rows_free(&d);
}

static void a_run_that_ended_early_is_drawn_as_it_was(void **context)
{
    (void)context;
    struct drawn d = {0};
    begin(&d.runs[0], 0), begin(&d.runs[1], 1);
    for (unsigned run = 0; run < 2; run++) {
        start(&d.runs[run]);
        visit(&d.runs[run], 1, 0);
        ask(&d.runs[run], 2, 0);
        if (!run)
            visit(&d.runs[run], 2, 0);
    }
    draw(&d);
    assert_int_equal(d.halves.at[1].line, 0);
    golden("halves-early", &d);
    visible_rows_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_equal_is_aligned),
        cmocka_unit_test(a_note_is_numbered_also_where_an_arrow_ends),
        cmocka_unit_test(what_is_not_in_the_picture_is_said_at_its_edge),
        cmocka_unit_test(a_flip_is_drawn_as_it_was),
        cmocka_unit_test(a_run_that_ended_early_is_drawn_as_it_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
