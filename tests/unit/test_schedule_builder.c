/* Replay schedules made from events: those of each thread in order, tickets consistent with the
 * order, and rejection of runs that cannot be replayed. */
#include "clients/schedule/schedule_builder.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { MAKE = 1, TAKE, CALL };

static struct event_id none;

static void put(struct schedule_builder *plan, struct event_id at, uint32_t type, uint32_t thread,
                uint32_t about, int64_t time_ns, struct event_id after)
{
    struct event_info e = {.at = at,
                           .type = type,
                           .thread = thread,
                           .about = about,
                           .time_ns = time_ns,
                           .after = after.line ? &after : NULL,
                           .after_count = after.line != 0};
    schedule_builder_add_event(plan, &e);
}

static struct schedule_head *script_of(struct schedule_builder *plan)
{
    const char *why;
    size_t bytes;
    schedule_builder_set_type(plan, MAKE, "make");
    schedule_builder_set_type(plan, TAKE, "take");
    schedule_builder_set_type(plan, CALL, "call");
    struct schedule_head *s = schedule_builder_write(plan, &bytes, &why);
    assert_non_null(s);
    assert_int_equal(s->bytes, bytes);
    return s;
}

static const struct schedule_line *line_of(const struct schedule_head *s, uint32_t line)
{
    return (const struct schedule_line *)(const void *)((const char *)s + s->lines_at) + line;
}

static const struct schedule_event *events_of(const struct schedule_head *s, uint32_t thread)
{
    const struct schedule_event *all = (const void *)((const char *)s + s->events_at);
    return all + line_of(s, thread)->first;
}

static void each_thread_has_its_own(void **context)
{
    (void)context;
    struct schedule_builder *plan = schedule_builder_new();
    put(plan, (struct event_id){1, 1}, MAKE, 1, 0, 10, none);
    put(plan, (struct event_id){2, 1}, MAKE, 1, 0, 20, none);
    put(plan, (struct event_id){2, 2}, TAKE, 2, 3, 3000030, none);
    put(plan, (struct event_id){1, 2}, TAKE, 1, 2, 40, (struct event_id){2, 2});
    struct schedule_head *s = script_of(plan);
    assert_int_equal(s->main, 1);
    assert_int_equal(line_of(s, 1)->count, 3);
    assert_int_equal(line_of(s, 2)->count, 1);
    const struct schedule_event *mine = events_of(s, 1), *other = events_of(s, 2);
    assert_int_equal(mine[1].line, 2);
    assert_int_equal(mine[1].number, 1);
    assert_int_equal(mine[2].after_line, 2);
    assert_int_equal(mine[2].after_number, 2);
    assert_int_equal(other[0].number, 2);
    assert_int_equal(line_of(s, 2)->last, 2);
    assert_string_equal((const char *)s + s->types_at + other[0].type * SCHEDULE_NAME_BYTES,
                        "take");
    struct event_info e;
    assert_true(schedule_builder_event_at(plan, 2, 0, &e));
    assert_int_equal(e.at.number, 2);
    assert_false(schedule_builder_event_at(plan, 2, 1, &e));
    free(s);
    schedule_builder_free(plan);
}

static void say(struct schedule_builder *plan, struct event_id at, uint32_t type, const char *text)
{
    char *texts[] = {(char *)(uintptr_t)text};
    schedule_builder_add_event(
        plan, &(struct event_info){
                  .at = at, .type = type, .thread = at.line, .texts = texts, .text_count = 1});
}

/* A choice is recognized by its type and its text together. */
static void choices_keep_what_was_chosen(void **context)
{
    (void)context;
    enum { CHOOSE = CALL + 1 };
    struct schedule_builder *plan = schedule_builder_new();
    say(plan, (struct event_id){1, 1}, CHOOSE, "3 of 70000");
    say(plan, (struct event_id){1, 2}, CALL, "3 of 5");
    say(plan, (struct event_id){1, 3}, CHOOSE, "3 of 5 or so");
    schedule_builder_set_type(plan, CHOOSE, "choose");
    struct schedule_head *s = script_of(plan);
    const struct schedule_event *events = events_of(s, 1);
    assert_int_equal(events[0].after_line, 70000);
    assert_int_equal(events[0].after_number, 3);
    assert_int_equal(events[1].after_line, 0);
    assert_int_equal(events[2].after_line, 0);
    free(s);
    schedule_builder_free(plan);
}

/* An event that reports a result names the request that it belongs to; a receive names its
 * sender. */
static void answers_say_what_was_got(void **context)
{
    (void)context;
    char *texts[] = {(char *)(uintptr_t) "got 2, asked 7",
                     (char *)(uintptr_t) "got 2, asked 7 times"};
    struct event_id from = {1, 1};
    struct schedule_builder *plan = schedule_builder_new();
    schedule_builder_add_event(plan, &(struct event_info){.at = {1, 1}, .type = CALL, .thread = 1});
    for (unsigned i = 0; i < 2; i++)
        schedule_builder_add_event(plan, &(struct event_info){.at = {2, i + 1},
                                                              .type = CALL,
                                                              .thread = 2,
                                                              .relation = RELATION_RECEIVE,
                                                              .partners = &from,
                                                              .partner_count = 1,
                                                              .texts = &texts[i],
                                                              .text_count = 1});
    struct schedule_head *s = script_of(plan);
    const struct schedule_event *events = events_of(s, 2);
    assert_int_equal(events[0].after_line, 7);
    assert_int_equal(events[0].after_number, 2);
    assert_int_equal(events[0].text, schedule_text_hash(texts[0], strlen(texts[0])));
    assert_int_equal(events[1].after_line, 1);
    assert_int_equal(events[1].after_number, 1);
    free(s);
    schedule_builder_free(plan);
}

/* Line 9 has no events of its own: by time, thread 2's use comes first, but an order edge says
 * that it followed thread 1's. */
static void tickets_agree_with_the_order(void **context)
{
    (void)context;
    struct schedule_builder *plan = schedule_builder_new();
    put(plan, (struct event_id){1, 1}, CALL, 1, 9, 50, none);
    put(plan, (struct event_id){2, 1}, CALL, 2, 9, 20, (struct event_id){1, 1});
    put(plan, (struct event_id){3, 1}, CALL, 3, 9, 30, none);
    put(plan, (struct event_id){3, 2}, CALL, 3, 1, 60, none);
    struct schedule_head *s = script_of(plan);
    assert_int_equal(events_of(s, 3)[0].ticket, 1);
    assert_int_equal(events_of(s, 1)[0].ticket, 2);
    assert_int_equal(events_of(s, 2)[0].ticket, 3);
    assert_int_equal(events_of(s, 3)[1].ticket, 0);
    assert_int_equal(line_of(s, 9)->last, 3);
    free(s);
    schedule_builder_free(plan);
}

/* A receive follows all of its sends, whatever the times are; it names the first sender. */
static void tickets_agree_with_messages(void **context)
{
    (void)context;
    struct schedule_builder *plan = schedule_builder_new();
    struct event_id sends[2] = {{1, 1}, {3, 1}};
    put(plan, (struct event_id){1, 1}, CALL, 1, 9, 50, none);
    put(plan, (struct event_id){3, 1}, CALL, 3, 9, 60, none);
    schedule_builder_add_event(plan, &(struct event_info){.at = {2, 1},
                                                          .type = TAKE,
                                                          .thread = 2,
                                                          .about = 9,
                                                          .time_ns = 20,
                                                          .relation = RELATION_RECEIVE,
                                                          .partners = sends,
                                                          .partner_count = 2});
    struct schedule_head *s = script_of(plan);
    assert_int_equal(events_of(s, 1)[0].ticket, 1);
    assert_int_equal(events_of(s, 3)[0].ticket, 2);
    assert_int_equal(events_of(s, 2)[0].ticket, 3);
    assert_int_equal(events_of(s, 2)[0].after_line, 1);
    free(s);
    schedule_builder_free(plan);
}

/* A random run of some threads at some locks, added in any order that keeps that of each thread:
 * tickets follow the times, which are consistent with the order. */
#define THREADS 5u
#define EVENTS 400u

static void tickets_are_those_of_the_times(void **context)
{
    (void)context;
    for (unsigned seed = 1; seed <= 200; seed++) {
        struct schedule_builder *plan = schedule_builder_new();
        uint32_t number[THREADS + 1] = {0};
        struct {
            uint32_t thread, number, about;
            bool told;
        } all[EVENTS];
        srand(seed);
        for (unsigned i = 0; i < EVENTS; i++) {
            all[i].thread = 1 + (unsigned)rand() % THREADS;
            all[i].number = ++number[all[i].thread];
            all[i].about = 10 + (unsigned)rand() % 3;
            all[i].told = false;
        }
        uint32_t told[THREADS + 1] = {0};
        for (unsigned left = EVENTS; left;) {
            unsigned i = (unsigned)rand() % EVENTS;
            if (all[i].told || told[all[i].thread] + 1 != all[i].number)
                continue;
            all[i].told = true;
            told[all[i].thread]++;
            left--;
            put(plan, (struct event_id){all[i].thread, all[i].number}, CALL, all[i].thread,
                all[i].about, 1000 * i, none);
        }
        struct schedule_head *s = script_of(plan);
        uint32_t ticket[13] = {0};
        for (unsigned i = 0; i < EVENTS; i++)
            assert_int_equal(events_of(s, all[i].thread)[all[i].number - 1].ticket,
                             ++ticket[all[i].about]);
        free(s);
        schedule_builder_free(plan);
    }
}

static void refused(struct schedule_builder *plan, const char *because)
{
    const char *why;
    size_t bytes;
    assert_null(schedule_builder_write(plan, &bytes, &why));
    assert_non_null(strstr(why, because));
    schedule_builder_free(plan);
}

static void what_cannot_be_repeated_is_refused(void **context)
{
    (void)context;
    refused(schedule_builder_new(), "nothing");
    struct schedule_builder *plan = schedule_builder_new();
    put(plan, (struct event_id){1, 4}, CALL, 1, 0, 0, none);
    refused(plan, "lost or discarded");
    plan = schedule_builder_new();
    struct event_info pending = {.at = {1, 1}, .state = EVENT_PENDING, .thread = 1, .type = CALL};
    schedule_builder_add_event(plan, &pending);
    refused(plan, "ordered");
    plan = schedule_builder_new();
    put(plan, (struct event_id){1, 1}, CALL, 1, 0, 0, (struct event_id){2, 1});
    put(plan, (struct event_id){2, 1}, CALL, 2, 0, 0, (struct event_id){1, 1});
    refused(plan, "contradictory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(choices_keep_what_was_chosen),
                                       cmocka_unit_test(answers_say_what_was_got),
                                       cmocka_unit_test(each_thread_has_its_own),
                                       cmocka_unit_test(tickets_agree_with_the_order),
                                       cmocka_unit_test(tickets_agree_with_messages),
                                       cmocka_unit_test(tickets_are_those_of_the_times),
                                       cmocka_unit_test(what_cannot_be_repeated_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
