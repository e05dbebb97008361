/* State bands of threads and lines, as shares, compared with the recorded changes. */
#include "base/alloc.h"
#include "tests/unit/viewer_requests.h"
#include "tests/unit/session_program.h"
#include "wire/request.h"
#include "wire/state_bands.h"

static const char description[] =
    "name = \"test\"; title = \"test\"; version = 1;\n"
    "line_types = ( { name = \"task\"; letter = \"T\"; title = \"thread\"; color = \"#000000\"; "
    "},\n"
    "          { name = \"monitor\"; letter = \"M\"; title = \"mutex\"; color = \"#000000\"; } );\n"
    "events = (\n"
    " { name = \"start\"; label = \"s\"; verb = \"s\"; shape = \"square\"; filled = true;\n"
    "   color = \"#000000\"; thread_state = \"running\"; state_of = \"own_thread\"; },\n"
    " { name = \"petition\"; label = \"p\"; verb = \"p\"; shape = \"circle\"; filled = false;\n"
    "   color = \"#000000\"; thread_state = \"blocked\"; wait_class = \"rendezvous\"; },\n"
    " { name = \"enter\"; label = \"e\"; verb = \"e\"; shape = \"circle\"; filled = true;\n"
    "   color = \"#000000\"; thread_state = \"left\"; },\n"
    " { name = \"entered\"; label = \"e\"; verb = \"e\"; shape = \"circle\"; filled = true;\n"
    "   color = \"#000000\"; thread_state = \"running\"; },\n"
    " { name = \"leave\"; label = \"l\"; verb = \"l\"; shape = \"circle\"; filled = true;\n"
    "   color = \"#000000\"; thread_state = \"left\"; },\n"
    " { name = \"left\"; label = \"l\"; verb = \"l\"; shape = \"circle\"; filled = true;\n"
    "   color = \"#000000\"; thread_state = \"running\"; },\n"
    " { name = \"end\"; label = \"e\"; verb = \"e\"; shape = \"square\"; filled = true;\n"
    "   color = \"#000000\"; thread_state = \"blocked\"; state_of = \"own_thread\"; },\n"
    " { name = \"close\"; label = \"c\"; verb = \"c\"; shape = \"square\"; filled = false;\n"
    "   color = \"#000000\"; thread_state = \"left\"; state_of = \"own_thread\"; } );\n";

static const char *const types[] = {"start", "petition", "enter", "entered",
                                    "leave", "left",     "end",   "close"};
enum { START = 1, PETITION, ENTER, ENTERED, LEAVE, LEFT, END, CLOSE };

struct told {
    struct run *run;
    struct program_session *session;
    uint64_t numbers[3];
};

/* Lines alternate between threads and monitors. */
static struct told begin_with(uint32_t lines)
{
    struct told t = {.run = run_new("test@1", 1, NULL)};
    struct hello_message hello = {.version = 1,
                                  .role = ROLE_PROGRAM,
                                  .run = strdup("test@1"),
                                  .environment = strdup("test"),
                                  .path = strdup("/bin/x"),
                                  .host = strdup("here")};
    struct encoder out = {0};
    const char *error;
    assert_true(run_describe(t.run, "test", description));
    t.session = program_session_new(t.run, 0, &hello);
    hello_message_free(&hello);
    for (uint16_t code = 1; code <= CLOSE; code++) {
        out.size = 0;
        put_test_type(&out, code, types[code - 1]);
        assert_true(
            program_session_decode_message(t.session, MESSAGE_TYPE, 0, out.data, out.size, &error));
    }
    for (uint32_t line = 1; line <= lines; line++) {
        out.size = 0;
        put_test_line(&out, line, line % 2 ? "task" : "monitor", line % 2 ? "t" : "m");
        assert_true(program_session_decode_message(t.session, MESSAGE_LINE, line, out.data,
                                                   out.size, &error));
    }
    encoder_free(&out);
    return t;
}

static struct told begin(void) { return begin_with(2); }

static void end(struct told *t)
{
    program_session_close(t->session);
    run_free(t->run);
}

/* Records an event of the thread of line 1; about: 0 for none. */
static void tell(struct told *t, uint16_t type, uint32_t line, uint32_t about, uint64_t ns)
{
    const char *error;
    struct ring_slot slot = {.shape = type,
                             .time_ns = ns,
                             .line_a = line,
                             .number_a = ++t->numbers[line],
                             .about = about,
                             .flags = RELATION_NONE};
    assert_true(program_session_decode_slots(t->session, 1, &slot, 1, &error));
}

/* Gets the last part of a response, which alone covers all events. */
static void get_last(const struct encoder *out, struct state_bands *s)
{
    struct response_chunk answer;
    struct decoder in;
    *s = (struct state_bands){0};
    for (size_t at = 0; next_part(out, &at, &answer, &in);) {
        assert_int_equal(answer.part, RESPONSE_STATE_BANDS);
        state_bands_free(s);
        decode_state_bands(&in, s);
        assert_true(decoder_finish(&in));
        assert_int_equal(s->known == s->count, answer.last);
    }
}

/* Checks the shares of a range with one pixel, in percent. */
static void expect(struct told *t, bool by_time, int64_t from, int64_t to, uint32_t line,
                   const unsigned *percent)
{
    struct density_request r = {
        .by_time = by_time, .from = from, .to = to, .pixels = 1, .rows = &line, .row_count = 1};
    uint8_t joined = 0;
    struct encoder body = {0};
    struct state_bands s;
    r.joined = &joined;
    encode_density_request(&body, &r);
    struct encoder out = answer_to(t->run, &query_state_bands, body, 3);
    get_last(&out, &s);
    assert_int_equal(s.row_count, 1);
    for (unsigned k = 0; k < BAND_CLASSES; k++)
        if (abs((int)(s.cells[0].share[k] * 100 / 255) - (int)percent[k]) > 1)
            fail_msg("%s %lld to %lld, line %u, class %u: %u %%, not %u", by_time ? "ns" : "at",
                     (long long)from, (long long)to, line, k, s.cells[0].share[k] * 100u / 255u,
                     percent[k]);
    state_bands_free(&s);
    encoder_free(&out);
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
    tell(&t, START, 1, 0, 12000); /* new events are included */
    tell(&t, PETITION, 1, 2, 14000);
    expect(&t, true, 12000, 14000, 1, (unsigned[]){100, 0, 0, 0});
    end(&t);
}

/* With very many changes, the shares remain correct. */
static void many_changes_are_kept_as_shares(void **state)
{
    (void)state;
    struct told t = begin();
    for (uint64_t i = 0; i < 40000; i++) { /* blocked for three of ten ns */
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

/* The first part of a response covers the prefix that is known, correctly, and nothing after it;
 * canceling the request loses nothing. */
static void check_first_look(bool by_time)
{
    struct told t = begin();
    struct request_queue queue = {.run = t.run};
    struct density_request r = {
        .by_time = by_time, .from = 0, .to = by_time ? 20000 : 4000, .pixels = 4000};
    struct encoder body = {0}, out = {0};
    struct response reply = {&out, 1, 0};
    for (uint64_t i = 0; i < 2000; i++) {
        tell(&t, START, 1, 0, 10 * i);
        tell(&t, PETITION, 1, 2, 10 * i + 7);
    }
    encode_density_request(&body, &r);
    struct decoder in = decoder_init(body.data, body.size);
    void *job = query_state_bands.begin(&queue, &in);
    while (!query_state_bands.step(job, 50))
        ;
    assert_false(query_state_bands.put(job, &reply));
    query_state_bands.free(job); /* canceled */
    response_finish(&reply);
    struct decoder part = part_of(&out, RESPONSE_STATE_BANDS);
    struct state_bands s;
    decode_state_bands(&part, &s);
    assert_true(decoder_finish(&part) && s.known >= 300 && s.known < s.count && s.count == 4000);
    /* by time, each pixel is 5 ns long; the last known event is in the last pixel with a share */
    uint64_t last = s.known - 1, whole = by_time ? last / 2 * 2 + (last % 2) : s.known;
    for (uint32_t i = 0; i < s.pixels; i++) {
        unsigned waits = i % 2 == 0 ? 0 : by_time ? 153 : 255, runs = 255 - waits;
        if (by_time && i == whole)
            continue;
        assert_int_equal(s.cells[i].share[BAND_RUNS], i < whole ? runs : 0);
        assert_int_equal(s.cells[i].share[BAND_WAITS], i < whole ? waits : 0);
    }
    state_bands_free(&s);
    encoder_free(&out);
    encoder_free(&body);
    expect(&t, false, 0, 4000, 1, (unsigned[]){50, 0, 50, 0});
    end(&t);
}

static void the_first_look_tells_how_far_it_is(void **state)
{
    (void)state;
    check_first_look(false);
    check_first_look(true);
}

/* ---- random runs, compared with the definition ---- */

#define THREADS 4u
#define LINES (2 * THREADS) /* the even ones are monitors */
#define MODEL_EVENTS 1000u

/* A state interval that the test recorded: a line is in this state from here on. */
struct stretch {
    uint32_t line;
    uint8_t class; /* BAND_CLASSES: in none */
    uint32_t about;
    int64_t ns, at;
};

struct model {
    struct told told;
    struct stretch stretches[2 * MODEL_EVENTS];
    unsigned count;
    uint64_t numbers[LINES + 1], ns;
    int64_t position;
    /* at: the monitor where the thread is; 0: none */
    unsigned state, random, holder[LINES + 1], at[THREADS];
    bool asks[THREADS];
};

static unsigned below(struct model *m, unsigned n)
{
    m->random = m->random * 1103515245 + 12345;
    return (m->random >> 8) % n;
}

/* Records an event; the threads' own lines are 1, 3, 5, ... */
static void model_tell(struct model *m, unsigned thread, uint16_t type, uint32_t line,
                       uint32_t about)
{
    const char *error;
    struct ring_slot slot = {.shape = type,
                             .time_ns = m->ns,
                             .line_a = line,
                             .number_a = ++m->numbers[line],
                             .about = about,
                             .flags = RELATION_NONE};
    assert_true(program_session_decode_slots(m->told.session, 2 * thread + 1, &slot, 1, &error));
    m->position++;
}

static void model_is(struct model *m, uint32_t line, uint8_t class, uint32_t about)
{
    m->stretches[m->count++] = (struct stretch){line, class, about, (int64_t)m->ns, m->position};
}

/* Makes one step of a thread: it requests a monitor, enters it once it is free, or leaves it. */
static void model_step(struct model *m, unsigned thread)
{
    uint32_t own = 2 * thread + 1, monitor = m->at[thread];
    m->ns += below(m, 300);
    if (!m->numbers[own]) {
        model_is(m, own, BAND_RUNS, 0);
        model_tell(m, thread, START, own, 0);
    } else if (!monitor) {
        m->at[thread] = monitor = 2 + 2 * below(m, THREADS);
        m->asks[thread] = true;
        model_is(m, own, BAND_WAITS, monitor);
        model_tell(m, thread, PETITION, own, monitor);
    } else if (m->asks[thread] && !m->holder[monitor]) {
        m->asks[thread] = false;
        m->holder[monitor] = own;
        model_is(m, own, BAND_CLASSES, 0);
        model_tell(m, thread, ENTER, own, 0);
        m->ns += below(m, 50);
        model_is(m, own, BAND_INSIDE, monitor);
        model_is(m, monitor, BAND_INSIDE, own);
        model_tell(m, thread, ENTERED, monitor, 0);
    } else if (!m->asks[thread]) {
        m->holder[monitor] = m->at[thread] = 0;
        model_is(m, own, BAND_CLASSES, 0);
        model_is(m, monitor, BAND_CLASSES, 0);
        model_tell(m, thread, LEAVE, monitor, 0);
        m->ns += below(m, 50);
        model_is(m, own, BAND_RUNS, 0);
        model_tell(m, thread, LEFT, own, 0);
    }
}

/* Adds the time of a line in each state within from..to, in 1/pixels; *about is that of the
 * longest interval. */
static void model_sum(const struct model *m, const struct density_request *r, uint32_t line,
                      int64_t from, int64_t to, uint64_t *parts, int64_t *longest, uint32_t *about)
{
    int64_t end = r->by_time ? (int64_t)m->told.run->clock.last_ns + 1 : m->position;
    for (unsigned i = 0; i < m->count; i++) {
        const struct stretch *s = &m->stretches[i];
        if (s->line != line)
            continue;
        unsigned k = i + 1;
        while (k < m->count && m->stretches[k].line != line)
            k++;
        int64_t a = r->by_time ? s->ns : s->at;
        int64_t b = k == m->count ? end : r->by_time ? m->stretches[k].ns : m->stretches[k].at;
        a = (a - r->from) * r->pixels;
        b = (b - r->from) * r->pixels;
        a = a < from ? from : a;
        b = b > to ? to : b;
        if (b <= a || s->class == BAND_CLASSES)
            continue;
        parts[s->class] += (uint64_t)(b - a);
        if (s->about && b - a > *longest) {
            *longest = b - a;
            *about = s->about;
        }
    }
}

/* Checks the shares: rounded half up, at least 1 if not 0; the largest one absorbs the rounding
 * error of the sum. */
static void expect_shares(const struct state_band_cell *cell, const uint64_t *parts, uint64_t all)
{
    int wanted[BAND_CLASSES], rest = 0;
    unsigned most = 0;
    uint64_t sum = 0;
    for (unsigned k = 0; k < BAND_CLASSES; k++) {
        wanted[k] = (int)((510 * parts[k] + all) / (2 * all));
        wanted[k] += parts[k] && !wanted[k];
        most = parts[k] > parts[most] ? k : most;
        sum += parts[k];
        rest -= wanted[k];
    }
    rest += (int)((510 * sum + all) / (2 * all));
    wanted[most] += wanted[most] + rest > 0 ? rest : 0;
    for (unsigned k = 0; k < BAND_CLASSES; k++)
        assert_int_equal(cell->share[k], wanted[k]);
}

static void model_expect(struct model *m, const struct density_request *r,
                         const struct state_bands *s)
{
    int64_t span = r->to - r->from;
    uint32_t row = 0;
    for (uint32_t i = 0, end; i < r->row_count; i = end, row++) {
        for (end = i + 1; end < r->row_count && r->joined[end];)
            end++;
        assert_int_equal(s->rows[row], r->rows[i]);
        for (uint32_t pixel = 0; pixel < r->pixels; pixel++) {
            uint64_t parts[BAND_CLASSES] = {0}, all = (uint64_t)span * (end - i);
            int64_t longest = 0;
            uint32_t about = 0;
            for (uint32_t k = i; k < end; k++)
                model_sum(m, r, r->rows[k], span * pixel, span * (pixel + 1), parts, &longest,
                          &about);
            const struct state_band_cell *cell = &s->cells[(size_t)row * r->pixels + pixel];
            expect_shares(cell, parts, all);
            assert_int_equal(cell->about, about);
        }
    }
    assert_int_equal(s->row_count, row);
}

static void model_look(struct model *m)
{
    uint32_t rows[LINES];
    uint8_t joined[LINES];
    struct density_request r = {
        .by_time = below(m, 2), .rows = rows, .joined = joined, .row_count = LINES};
    int64_t all = r.by_time ? (int64_t)m->told.run->clock.last_ns + 1 : m->position;
    for (uint32_t i = 0; i < LINES; i++) {
        rows[i] = 1 + (i * 3 + below(m, 2) * 4) % LINES;
        joined[i] = i && below(m, 3) == 0;
    }
    r.from = (int64_t)below(m, (unsigned)all + 40) - 20;
    r.to = r.from + 1 + (int64_t)below(m, below(m, 2) ? (unsigned)all + 50 : 60);
    r.pixels = 1 + below(m, 150);
    struct encoder body = {0};
    struct state_bands s;
    encode_density_request(&body, &r);
    struct encoder out = answer_to(m->told.run, &query_state_bands, body, 1 + below(m, 900));
    get_last(&out, &s);
    model_expect(m, &r, &s);
    state_bands_free(&s);
    encoder_free(&out);
}

static void shares_are_what_the_definition_says(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 4; run++) {
        struct model *m = xcalloc(1, sizeof *m);
        m->told = begin_with(LINES);
        m->random = run + 1;
        m->ns = 1000;
        while (m->position < (run < 2 ? 60 : 900)) {
            model_step(m, below(m, THREADS));
            if (below(m, run < 2 ? 10 : 60) == 0)
                model_look(m);
        }
        end(&m->told);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_told_by_time_and_by_order),
        cmocka_unit_test(many_changes_are_kept_as_shares),
        cmocka_unit_test(the_first_look_tells_how_far_it_is),
        cmocka_unit_test(shares_are_what_the_definition_says),
    };
    return cmocka_run_group_tests_name("strip", tests, NULL, NULL);
}
