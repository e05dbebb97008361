/* Random, mostly invalid table requests about random programs: each is answered, or rejected with
 * a reason. */
#include "tests/unit/viewer_requests.h"
#include "tests/unit/random_run.h"
#include "wire/table_rows.h"

extern const struct query query_table;

#define SOME(items) ((items)[rand() % (int)(sizeof(items) / sizeof *(items))])

static struct event_id some_event(void)
{
    return (struct event_id){(uint32_t)(rand() % 12), (uint64_t)(rand() % 40)};
}

static struct table_end some_end(void)
{
    struct table_end end = {(uint8_t)(rand() % TABLE_END_KINDS), rand() % 200 - 20, some_event()};
    if (end.is == TABLE_AT_NS)
        end.at *= rand() % 2 ? PLAYED_MS : INT64_MAX / 256;
    return end;
}

static char *some_value(void)
{
    static const char *const values[] = {
        "",      "0",          "1",   "-1",    "2:3",        "1:1",      "x",   "wait",
        "class", "4294967296", "0:0", "99:99", "rendezvous", "3=500000", "1=0", "2=99999999999",
        "=",     ":"};
    return xstrdup(SOME(values));
}

static struct table_request some_request(void)
{
    static const char *const whats[] = {"states",   "intervals", "tasks",       "created",
                                        "waits",    "knots",     "explanation", "path",
                                        "findings", "nothing",   "waits",       "concurrency"};
    static const char *const bys[] = {"",     "",       "place", "pattern", "object", "site",
                                      "time", "thread", "piece", "level",   "absent", "segment"};
    static const char *const keys[] = {"event", "object",     "while",   "direct",
                                       "since", "factor",     "free",    "cpus",
                                       "zeros", "no-latency", "nonsense"};
    static const char *const sorts[] = {"", "", "waited_ns", "thread", "nowhere", "step"};
    struct table_request r = {.what = xstrdup(SOME(whats)),
                              .by = xstrdup(SOME(bys)),
                              .sort = xstrdup(SOME(sorts)),
                              .top = rand() % 3 ? 0 : (uint32_t)rand(),
                              .flags = (uint32_t)rand() % 8};
    if (rand() % 2)
        r.from = some_end();
    if (rand() % 2)
        r.to = some_end();
    if (rand() % 4 == 0)
        r.past_of = some_event();
    for (int n = rand() % 4; n > 0; n--)
        ARRAY_PUSH(r.lines, r.line_count, (uint32_t)(rand() % 20));
    for (int n = rand() % 5; n > 0; n--) {
        struct table_option option = {xstrdup(SOME(keys)), some_value()};
        ARRAY_PUSH(r.options, r.option_count, option);
    }
    return r;
}

/* Names an event that exists in half of the requests. */
static void about_something(struct table_request *r, const struct run *run)
{
    struct order_event e = order_event(run->order, (uint64_t)rand() % order_count(run->order));
    if (e.line & HIDDEN_LINE || rand() % 2)
        return;
    struct table_option option = {xstrdup("event"),
                                  xasprintf("%u:%llu", e.line, (unsigned long long)e.number)};
    ARRAY_PUSH(r->options, r->option_count, option);
}

/* Returns true if the request was answered, false if it was rejected. */
static bool ask(const struct run *run, struct table_request *r)
{
    struct encoder body = {0};
    encode_table_request(&body, r);
    struct encoder out = answer_to(run, &query_table, body, 500 + (uint64_t)(rand() % 4000));
    struct result_table table = {0};
    struct decoder end = part_of(&out, RESPONSE_TABLE_END);
    decode_table_end(&end, &table);
    bool answered = !table.problem;
    result_table_free(&table);
    encoder_free(&out);
    return answered;
}

static void random_questions(void **state)
{
    (void)state;
    unsigned answered = 0, refused = 0;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct playing g = play_random(seed);
        srand(seed);
        for (unsigned i = 0; i < 60; i++) {
            struct table_request r = some_request();
            about_something(&r, g.p.run);
            if (ask(g.p.run, &r))
                answered++;
            else
                refused++;
            table_request_free(&r);
        }
        run_free(g.p.run);
    }
    assert_true(answered > 500 && refused > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_questions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
