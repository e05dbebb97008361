/* The states of threads and lines, told by shares: compared with what was told. */
#include "server/run/course.h"
#include "tests/unit/asking.h"
#include "tests/unit/program.h"
#include "wire/asked.h"
#include "wire/strip.h"

static const char description[] =
    "name = \"test\"; title = \"test\"; version = 1;\n"
    "kinds = ( { name = \"task\"; letter = \"T\"; title = \"thread\"; colour = \"#000000\"; },\n"
    "          { name = \"monitor\"; letter = \"M\"; title = \"mutex\"; colour = \"#000000\"; } );\n"
    "events = (\n"
    " { name = \"start\"; label = \"s\"; text = \"s\"; shape = \"square\"; filled = true;\n"
    "   colour = \"#000000\"; thread = \"active\"; whose = \"own\"; },\n"
    " { name = \"petition\"; label = \"p\"; text = \"p\"; shape = \"circle\"; filled = false;\n"
    "   colour = \"#000000\"; thread = \"blocked\"; waits = true; },\n"
    " { name = \"enter\"; label = \"e\"; text = \"e\"; shape = \"circle\"; filled = true;\n"
    "   colour = \"#000000\"; thread = \"out\"; },\n"
    " { name = \"entered\"; label = \"e\"; text = \"e\"; shape = \"circle\"; filled = true;\n"
    "   colour = \"#000000\"; thread = \"active\"; },\n"
    " { name = \"leave\"; label = \"l\"; text = \"l\"; shape = \"circle\"; filled = true;\n"
    "   colour = \"#000000\"; thread = \"out\"; },\n"
    " { name = \"left\"; label = \"l\"; text = \"l\"; shape = \"circle\"; filled = true;\n"
    "   colour = \"#000000\"; thread = \"active\"; },\n"
    " { name = \"end\"; label = \"e\"; text = \"e\"; shape = \"square\"; filled = true;\n"
    "   colour = \"#000000\"; thread = \"blocked\"; whose = \"own\"; },\n"
    " { name = \"close\"; label = \"c\"; text = \"c\"; shape = \"square\"; filled = false;\n"
    "   colour = \"#000000\"; thread = \"out\"; whose = \"own\"; } );\n";

static const char *const types[] = {"start", "petition", "enter", "entered",
                                    "leave", "left",     "end",   "close"};
enum { START = 1, PETITION, ENTER, ENTERED, LEAVE, LEFT, END, CLOSE };

struct told {
    struct run *run;
    struct session *session;
    uint64_t numbers[3];
};

static struct told begin(void)
{
    struct told t = {.run = run_new("test@1", 1, NULL)};
    struct hello hello = {.version = 1,
                          .role = ROLE_PROGRAM,
                          .run = strdup("test@1"),
                          .environment = strdup("test"),
                          .path = strdup("/bin/x"),
                          .host = strdup("here")};
    struct out out = {0};
    const char *error;
    assert_true(run_describe(t.run, "test", description));
    t.session = session_new(t.run, 0, &hello);
    hello_free(&hello);
    for (uint16_t code = 1; code <= CLOSE; code++) {
        out.size = 0;
        put_test_type(&out, code, types[code - 1]);
        assert_true(session_message(t.session, MESSAGE_TYPE, 0, out.data, out.size, &error));
    }
    for (uint32_t line = 1; line <= 2; line++) {
        out.size = 0;
        put_test_line(&out, line, line == 1 ? "task" : "monitor", line == 1 ? "t" : "m");
        assert_true(session_message(t.session, MESSAGE_LINE, line, out.data, out.size, &error));
    }
    out_free(&out);
    return t;
}

static void end(struct told *t)
{
    session_hangup(t->session);
    run_free(t->run);
}

/* By the thread whose line is 1; about: 0 nothing. */
static void tell(struct told *t, uint16_t type, uint32_t line, uint32_t about, uint64_t ns)
{
    const char *error;
    struct slot slot = {.shape = type,
                        .time_ns = ns,
                        .line_a = line,
                        .number_a = ++t->numbers[line],
                        .line_b = about,
                        .flags = RELATION_NONE};
    assert_true(session_slots(t->session, 1, &slot, 1, &error));
}

/* One pixel for all of a stretch: shares in percent. */
static void expect(struct told *t, bool by_time, int64_t from, int64_t to, uint32_t line,
                   const unsigned *percent)
{
    struct density_request r = {
        .by_time = by_time, .from = from, .to = to, .pixels = 1, .rows = &line, .row_count = 1};
    uint8_t joined = 0;
    struct out body = {0};
    struct shown_strip s;
    r.joined = &joined;
    put_density_request(&body, &r);
    struct out out = answer_to(t->run, &question_strip, body, 3);
    struct in in = part_of(&out, PART_STRIP);
    get_strip(&in, &s);
    assert_true(in_done(&in));
    assert_int_equal(s.known, s.count);
    assert_int_equal(s.row_count, 1);
    for (unsigned k = 0; k < STRIP_CLASSES; k++)
        if (abs((int)(s.cells[0].share[k] * 100 / 255) - (int)percent[k]) > 1)
            fail_msg("%s %lld to %lld, line %u, class %u: %u %%, not %u", by_time ? "ns" : "at",
                     (long long)from, (long long)to, line, k, s.cells[0].share[k] * 100u / 255u,
                     percent[k]);
    shown_strip_free(&s);
    out_free(&out);
}

static void a_life_is_told_by_time_and_by_order(void **state)
{
    (void)state;
    struct told t = begin();
    tell(&t, START, 1, 0, 1000);
    tell(&t, PETITION, 1, 2, 3000);
    tell(&t, ENTER, 1, 0, 4000);
    tell(&t, ENTERED, 2, 0, 4000);
    tell(&t, LEAVE, 2, 0, 9000);
    tell(&t, LEFT, 1, 0, 9000);
    tell(&t, END, 1, 0, 10000);
    tell(&t, CLOSE, 1, 0, 11000);
    expect(&t, true, 0, 1000, 1, (unsigned[]){0, 0, 0, 0});
    expect(&t, true, 1000, 3000, 1, (unsigned[]){100, 0, 0, 0});
    expect(&t, true, 3000, 4000, 1, (unsigned[]){0, 0, 100, 0});
    expect(&t, true, 1000, 11000, 1, (unsigned[]){30, 50, 10, 10});
    expect(&t, true, 0, 20000, 1, (unsigned[]){15, 25, 5, 5});
    expect(&t, true, 4000, 9000, 2, (unsigned[]){0, 100, 0, 0});
    expect(&t, true, 0, 10000, 2, (unsigned[]){0, 50, 0, 0});
    expect(&t, false, 0, 8, 1, (unsigned[]){25, 12, 12, 12});
    expect(&t, false, 3, 5, 1, (unsigned[]){0, 50, 0, 0});
    tell(&t, START, 1, 0, 12000); /* what is new is looked at, too */
    tell(&t, PETITION, 1, 2, 14000);
    expect(&t, true, 12000, 14000, 1, (unsigned[]){100, 0, 0, 0});
    end(&t);
}

/* However many changes there are, the sums stay right. */
static void many_changes_are_kept_as_shares(void **state)
{
    (void)state;
    struct told t = begin();
    for (uint64_t i = 0; i < 40000; i++) { /* three of ten it waits */
        tell(&t, START, 1, 0, 10 * i);
        tell(&t, PETITION, 1, 2, 10 * i + 7);
    }
    tell(&t, START, 1, 0, 400000);
    for (int64_t from = 0; from < 400000; from += 40000)
        expect(&t, true, from, from + 40000, 1, (unsigned[]){70, 0, 30, 0});
    expect(&t, true, 0, 400000, 1, (unsigned[]){70, 0, 30, 0});
    expect(&t, false, 0, 80000, 1, (unsigned[]){50, 0, 50, 0});
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_told_by_time_and_by_order),
        cmocka_unit_test(many_changes_are_kept_as_shares),
    };
    return cmocka_run_group_tests_name("strip", tests, NULL, NULL);
}
