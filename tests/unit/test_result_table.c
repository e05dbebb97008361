/* Tables: encoding and decoding, rejection of invalid ones, sorting and limiting rows together
 * with their subrows. */
#include "base/alloc.h"
#include "clients/connection/result_table.h"
#include "server/queries/tables/table_query.h"
#include "tests/bruteforce.h"
#include "tests/unit/viewer_requests.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

/* Returns a table of two rows with a subrow each, and with every kind of cell. */
static struct result_table some_table(void)
{
    struct result_table t = {.title = xstrdup("some"), .known = 5, .count = 9};
    static const char *const names[] = {"thread", "where", "did",     "what",
                                        "at",     "n",     "took_ns", "share"};
    static const enum table_kind kinds[] = {TABLE_LINE,  TABLE_PLACE, TABLE_STEP, TABLE_TEXT,
                                            TABLE_EVENT, TABLE_COUNT, TABLE_NS,   TABLE_SHARE};
    for (unsigned i = 0; i < 8; i++)
        table_add_column(&t, names[i], names[i], kinds[i], i == 6 ? "sampled" : NULL);
    table_detail(&t);
    for (uint32_t i = 0; i < 4; i++) {
        struct table_cell *cells = table_add_row(&t, i % 2, (struct event_id){i + 1, 10 * i});
        cells[0] = table_cell_line(i + 1);
        cells[1] = table_cell_place((struct table_place){1, 0x1000 + i});
        cells[2] = table_cell_step_name(i ? CELL_STEP_CALLS : CELL_STEP_TIMER,
                                        (struct table_place){1, 2}, (struct table_place){0});
        cells[2].between.caller = (struct table_place){1, i ? 7 + i : 0};
        cells[3] = table_cell_text(i % 2 ? "below" : "above");
        cells[4] = table_cell_event((struct event_id){i, 3});
        cells[5] = table_cell_number((int64_t)i * (i == 2 ? -1 : 1));
        if (i != 1)
            cells[6] = table_cell_number(100 * (int64_t)i);
        cells[7] = table_cell_real(0.25 * i);
        table_row_line(&t, i + 1);
        table_row_line(&t, 9);
        table_row_line(&t, 9);
    }
    table_make_total(&t)[5] = table_cell_number(77);
    table_add_note(&t, "a %s", "note");
    return t;
}

static struct decoder body_of(const struct encoder *out)
{
    return decoder_init(out->data, out->size);
}

static void same_cell(const struct table_cell *a, const struct table_cell *b)
{
    assert_int_equal(a->is, b->is);
    if (a->is == CELL_TEXT)
        assert_string_equal(a->text, b->text);
    else if (a->is == CELL_STEP)
        assert_true(a->step == b->step && a->between.from.address == b->between.from.address &&
                    a->between.caller.address == b->between.caller.address);
    else if (a->is == CELL_REAL)
        assert_true(a->real == b->real);
    else if (a->is == CELL_PLACE)
        assert_true(a->place.process == b->place.process && a->place.address == b->place.address);
    else if (a->is == CELL_EVENT)
        assert_true(event_id_equal(a->event, b->event));
    else if (a->is == CELL_LINE)
        assert_int_equal(a->line, b->line);
    else if (a->is == CELL_NUMBER)
        assert_int_equal(a->number, b->number);
}

static void what_is_put_is_got(void **context)
{
    (void)context;
    struct result_table t = some_table(), got = {0};
    struct encoder head = {0}, rows = {0}, more = {0}, end = {0};
    encode_table_head(&head, &t);
    encode_table_rows(&rows, &t, 0, 3);
    encode_table_rows(&more, &t, 3, 4);
    encode_table_end(&end, &t);
    struct decoder in = body_of(&head);
    decode_table_head(&in, &got);
    assert_true(decoder_finish(&in));
    in = body_of(&rows);
    decode_table_rows(&in, &got);
    assert_true(decoder_finish(&in));
    in = body_of(&more);
    decode_table_rows(&in, &got);
    assert_true(decoder_finish(&in));
    in = body_of(&end);
    decode_table_end(&in, &got);
    assert_true(decoder_finish(&in));
    assert_string_equal(got.title, "some");
    assert_int_equal(got.column_count, 8);
    assert_int_equal(got.row_count, 4);
    assert_true(got.columns[7].detail && !got.columns[0].detail);
    assert_true(got.columns[0].exact && !got.columns[6].exact);
    assert_string_equal(got.columns[6].source, "sampled");
    assert_string_equal(got.columns[6].unit, "ns");
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(got.rows[i].depth == i % 2 && got.rows[i].line_count == 2);
        assert_true(event_id_equal(got.rows[i].event, t.rows[i].event));
        for (uint32_t k = 0; k < 8; k++)
            same_cell(&result_table_cells(&got, i)[k], &result_table_cells(&t, i)[k]);
    }
    assert_true(got.total[5].number == 77 && got.total[0].is == CELL_NULL);
    assert_int_equal(got.note_count, 1);
    assert_string_equal(got.notes[0], "a note");
    assert_true(got.known == 5 && got.count == 9 && !got.problem);
    encoder_free(&head);
    encoder_free(&rows);
    encoder_free(&more);
    encoder_free(&end);
    result_table_free(&got);
    result_table_free(&t);
}

static void questions_are_put_and_got(void **context)
{
    (void)context;
    uint32_t lines[] = {3, 1};
    struct table_option options[] = {{(char *)(uintptr_t) "a", (char *)(uintptr_t) "b"}};
    struct table_request r = {.what = (char *)(uintptr_t) "states",
                              .by = (char *)(uintptr_t) "",
                              .from = {TABLE_AT_NS, -5, {0}},
                              .to = {TABLE_AT_EVENT, 0, {2, 17}},
                              .past_of = {4, 4},
                              .lines = lines,
                              .line_count = 2,
                              .sort = (char *)(uintptr_t) "life_ns",
                              .top = 3,
                              .flags = TABLE_BACKWARDS,
                              .options = options,
                              .option_count = 1},
                         got;
    struct encoder out = {0};
    encode_table_request(&out, &r);
    struct decoder in = body_of(&out);
    decode_table_request(&in, &got);
    assert_true(decoder_finish(&in));
    assert_string_equal(got.what, "states");
    assert_true(got.from.is == TABLE_AT_NS && got.from.at == -5 && got.to.event.number == 17);
    assert_true(got.line_count == 2 && got.lines[0] == 3 && got.past_of.line == 4);
    assert_string_equal(table_option(&got, "a"), "b");
    assert_null(table_option(&got, "c"));
    assert_true(got.top == 3 && got.flags == TABLE_BACKWARDS);
    table_request_free(&got);
    for (size_t n = 0; n < out.size; n++) { /* every shorter request is rejected */
        in = decoder_init(out.data, n);
        decode_table_request(&in, &got);
        assert_false(decoder_finish(&in));
        table_request_free(&got);
    }
    encoder_free(&out);
}

static void tables_that_are_cut_off_are_refused(void **context)
{
    (void)context;
    struct result_table t = some_table(), got = {0};
    struct encoder head = {0}, rows = {0}, end = {0};
    encode_table_head(&head, &t);
    encode_table_rows(&rows, &t, 0, 4);
    encode_table_end(&end, &t);
    for (size_t n = 0; n < head.size; n++) {
        struct decoder in = decoder_init(head.data, n);
        decode_table_head(&in, &got);
        assert_false(decoder_finish(&in));
    }
    for (size_t n = 0; n < rows.size; n++) {
        struct decoder in = body_of(&head);
        decode_table_head(&in, &got);
        in = decoder_init(rows.data, n);
        decode_table_rows(&in, &got);
        assert_false(decoder_finish(&in));
    }
    struct decoder in = body_of(&head);
    decode_table_head(&in, &got);
    for (size_t n = 0; n < end.size; n++) {
        in = decoder_init(end.data, n);
        decode_table_end(&in, &got);
        assert_false(decoder_finish(&in));
        free(got.total);
        got.total = NULL;
        for (uint32_t i = 0; i < got.note_count; i++)
            free(got.notes[i]);
        free(got.notes);
        got.notes = NULL;
        got.note_count = 0;
    }
    result_table_free(&got);
    in = body_of(&rows); /* rows without a head */
    decode_table_rows(&in, &got);
    assert_non_null(in.error);
    result_table_free(&got);
    encoder_free(&head);
    encoder_free(&rows);
    encoder_free(&end);
    result_table_free(&t);
}

static void expect_order(const char *sort, uint32_t flags, uint32_t top, const char *threads)
{
    struct result_table t = some_table();
    struct table_request r = {.sort = (char *)(uintptr_t)sort, .flags = flags, .top = top};
    char got[16] = "";
    table_arrange(&t, &r, NULL);
    for (uint32_t i = 0; i < t.row_count; i++)
        got[i] = (char)('0' + result_table_cells(&t, i)[0].line);
    assert_string_equal(got, threads);
    result_table_free(&t);
}

static void rows_are_sorted_with_what_belongs_to_them(void **context)
{
    (void)context;
    expect_order("", 0, 0, "1234");
    expect_order("took", 0, 0, "3412");
    expect_order("took_ns", TABLE_BACKWARDS, 0, "1234");
    expect_order("thread", 0, 0, "1234");
    expect_order("thread", TABLE_BACKWARDS, 0, "3412");
    expect_order("n", 0, 1, "12");
    expect_order("took", 0, 1, "34");
    expect_order("there_is_none", 0, 9, "1234");
}

/* ---- tables as answered by the server ---- */

static struct run *some_run(struct execution *x, unsigned seed)
{
    struct run *run = run_new("test", 1, NULL);
    execution_make(x, seed);
    for (uint32_t line = 1; line <= x->lines; line++)
        run_line(run, 1, line, "task", x->shared[line], (struct run_line){0});
    order_free(run->order);
    run->order = execution_order(x);
    execution_feed(x, run->order, 5);
    return run;
}

/* Returns a table of a new run, computed in steps of a budget. */
static struct result_table answered(unsigned seed, const char *what, uint64_t budget)
{
    static struct execution x;
    struct run *run = some_run(&x, seed);
    struct table_request r = {.what = (char *)(uintptr_t)what};
    struct encoder body = {0};
    encode_table_request(&body, &r);
    struct encoder out = answer_to(run, &query_table, body, budget);
    struct result_table t = {0};
    struct response_chunk answer;
    struct decoder in;
    for (size_t at = 0; next_part(&out, &at, &answer, &in);)
        result_table_receive(&t, &answer);
    encoder_free(&out);
    run_free(run);
    return t;
}

static struct encoder bytes_of(const struct result_table *t)
{
    struct encoder out = {0};
    encode_table_head(&out, t);
    encode_table_rows(&out, t, 0, t->row_count);
    encode_table_end(&out, t);
    return out;
}

static void a_table_is_the_same_in_whatever_steps(void **context)
{
    static const char *const presets[] = {"states", "intervals", "tasks", "created"};
    uint32_t rows = 0;
    (void)context;
    for (unsigned seed = 1; seed <= 10; seed++)
        for (unsigned i = 0; i < sizeof presets / sizeof *presets; i++) {
            struct result_table whole = answered(seed, presets[i], 1u << 30);
            struct encoder wanted = bytes_of(&whole);
            for (uint64_t budget = 1; budget < 20; budget += 6) {
                struct result_table t = answered(seed, presets[i], budget);
                struct encoder got = bytes_of(&t);
                assert_null(t.problem);
                assert_int_equal(t.known, t.count);
                assert_int_equal(got.size, wanted.size);
                assert_memory_equal(got.data, wanted.data, got.size);
                encoder_free(&got);
                result_table_free(&t);
            }
            rows += whole.row_count;
            encoder_free(&wanted);
            result_table_free(&whole);
        }
    assert_true(rows > 0);
}

static void what_is_no_table_is_said_to_be_none(void **context)
{
    (void)context;
    struct result_table t = answered(1, "nonsense", 100);
    assert_string_equal(t.problem, "unknown table \"nonsense\"");
    assert_int_equal(t.row_count, 0);
    result_table_free(&t);
}

static void what_rounds_to_nothing_has_no_sign(void **state)
{
    (void)state;
    static const struct {
        enum table_kind kind;
        struct table_cell cell;
        const char *said;
    } all[] = {{TABLE_NS, {.is = CELL_NUMBER, .number = -499}, "0.000"},
               {TABLE_NS, {.is = CELL_NUMBER, .number = -501}, "-0.001"},
               {TABLE_NS, {.is = CELL_NUMBER, .number = 0}, "0.000"},
               {TABLE_SHARE, {.is = CELL_REAL, .real = -0.0004}, "0.0 %"},
               {TABLE_SHARE, {.is = CELL_REAL, .real = -0.1}, "-10.0 %"},
               {TABLE_COUNT, {.is = CELL_NUMBER, .number = -7}, "-7"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct table_column column = {.kind = (uint8_t)all[i].kind};
        char *said = result_table_cell_text(NULL, &column, &all[i].cell);
        assert_string_equal(said, all[i].said);
        free(said);
    }
}

/* Of the code segments with one name, those with different callers keep them; a unique segment, or
 * those with the same caller, do not. */
static void namesakes_say_who_called(void **context)
{
    (void)context;
    static const uint64_t of[][2] = {{2, 10}, {2, 11}, {2, 10}, {3, 12}, {4, 13}, {4, 13}};
    struct result_table t = {.title = xstrdup("some")};
    table_add_column(&t, "did", "did", TABLE_STEP, NULL);
    for (uint32_t i = 0; i < 6; i++) {
        struct table_cell *cell = table_add_row(&t, 0, (struct event_id){0});
        *cell = table_cell_step_name(CELL_STEP_CALLS, (struct table_place){1, of[i][0]},
                                     (struct table_place){0});
        cell->between.caller = (struct table_place){1, of[i][1]};
    }
    disambiguate_names(&t);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(result_table_cells(&t, i)->between.caller.address, i < 3 ? of[i][1] : 0);
    result_table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namesakes_say_who_called),

        cmocka_unit_test(what_is_put_is_got),
        cmocka_unit_test(questions_are_put_and_got),
        cmocka_unit_test(tables_that_are_cut_off_are_refused),
        cmocka_unit_test(rows_are_sorted_with_what_belongs_to_them),
        cmocka_unit_test(a_table_is_the_same_in_whatever_steps),
        cmocka_unit_test(what_is_no_table_is_said_to_be_none),
        cmocka_unit_test(what_rounds_to_nothing_has_no_sign),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
