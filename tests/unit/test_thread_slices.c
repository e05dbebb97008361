/* Activities of threads as nested slices, as written to Chrome's format. */
#define _GNU_SOURCE
#include "clients/cli/thread_slices.h"
#include "base/alloc.h"
#include "config/description_read.h"
#include "config/target.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char description[] =
    "name=\"test\";line_types=({name=\"thread\";letter=\"T\";},{name=\"lock\";letter=\"M\";});"
    "events=({name=\"start\";shape=\"square\";thread_state=\"running\";state_of=\"own_thread\";},"
    "{name=\"ask\";line_types=[\"thread\"];shape=\"circle\";thread_state=\"blocked\";"
    "wait_class=\"contention\";},"
    "{name=\"enter\";line_types=[\"thread\"];shape=\"circle\";thread_state=\"left\";},"
    "{name=\"entered\";line_types=[\"lock\"];shape=\"circle\";thread_state=\"running\";},"
    "{name=\"leave\";line_types=[\"lock\"];shape=\"circle\";thread_state=\"left\";},"
    "{name=\"left\";line_types=[\"thread\"];shape=\"circle\";thread_state=\"running\";},"
    "{name=\"note\";shape=\"circle\";});";

enum { START = 1, ASK, ENTER, ENTERED, LEAVE, LEFT, NOTE, TYPES };
enum { THREADS = 2, LOCKS = 2, LINES = THREADS + LOCKS };

#define A (THREADS + 1u)
#define B (THREADS + 2u)
#define DEEPEST 8u

struct told {
    struct trace_metadata book;
    struct target *target;
    struct line_metadata *page;
    struct thread_slices *slices;
    char all[1000]; /* what was reported of line 1: "running( )", "in a( in b( ) )" */
    char *open[LINES + 1][DEEPEST];
    unsigned depth[LINES + 1];
};

static void tell(void *context, uint32_t line, const char *name)
{
    struct told *t = context;
    size_t used = strlen(t->all);
    assert_true(line >= 1 && line <= LINES);
    if (line == 1)
        snprintf(t->all + used, sizeof t->all - used, "%s%s", name ? name : "", name ? "(" : ")");
    if (name) {
        assert_true(t->depth[line] < DEEPEST);
        t->open[line][t->depth[line]++] = xstrdup(name);
    } else {
        assert_true(t->depth[line] > 0);
        free(t->open[line][--t->depth[line]]);
    }
}

static void begin(struct told *t)
{
    static char names[TYPES - 1][8] = {"start", "ask", "enter", "entered", "leave", "left", "note"},
                              labels[LINES][8] = {"T:one", "T:two", "a", "b"},
                              kinds[2][8] = {"thread", "lock"};
    static char *types[TYPES - 1];
    for (unsigned i = 0; i < TYPES - 1; i++)
        types[i] = names[i];
    memset(t, 0, sizeof *t);
    t->target = target_read(description, "test", stderr);
    assert_non_null(t->target);
    t->page = xcalloc(METADATA_PAGE_LINES, sizeof *t->page);
    t->book = (struct trace_metadata){.types = types,
                                      .type_count = TYPES - 1,
                                      .targets = &t->target,
                                      .target_count = 1,
                                      .lines = {.pages = &t->page, .room = 1},
                                      .line_count = LINES};
    for (uint32_t i = 1; i <= LINES; i++) {
        struct line_metadata *line = &t->page[i - 1];
        line->is = (struct line_info){.line = i, .kind = kinds[i > THREADS]};
        line->label = labels[i - 1];
        assert_ptr_equal(metadata_line(&t->book, i), line);
    }
    t->slices = thread_slices_new(&t->book, tell, t);
}

static void end(struct told *t)
{
    for (uint32_t line = 1; line <= LINES; line++) {
        assert_int_equal(thread_slices_open(t->slices, line), t->depth[line] > 0);
        thread_slices_close(t->slices, line);
        assert_int_equal(t->depth[line], 0);
    }
    thread_slices_free(t->slices);
    target_free(t->target);
    free(t->page);
}

static void event(struct told *t, uint32_t line, uint32_t thread, uint32_t type, uint32_t about)
{
    thread_slices_add_event(
        t->slices,
        &(struct event_info){.at = {line, 1}, .thread = thread, .type = type, .about = about});
}

static void enter(struct told *t, uint32_t thread, uint32_t lock)
{
    event(t, thread, thread, ENTER, 0);
    event(t, lock, thread, ENTERED, 0);
}

static void leave(struct told *t, uint32_t thread, uint32_t lock)
{
    event(t, lock, thread, LEAVE, 0);
    event(t, thread, thread, LEFT, 0);
}

static void a_thread_runs_waits_and_is_in_a_lock(void **state)
{
    static struct told t;
    (void)state;
    begin(&t);
    event(&t, 1, 1, START, 0);
    event(&t, 1, 1, NOTE, 0); /* changes nothing */
    event(&t, 1, 1, ASK, A);
    enter(&t, 1, A);
    leave(&t, 1, A);
    assert_string_equal(t.all, "running()blocked: a()in a()running(");
    end(&t);
}

static void a_lock_within_another_is_nested(void **state)
{
    static struct told t;
    (void)state;
    begin(&t);
    event(&t, 1, 1, START, 0);
    enter(&t, 1, A);
    event(&t, 1, 1, ASK, B);
    enter(&t, 1, B);
    leave(&t, 1, B);
    leave(&t, 1, A);
    assert_string_equal(t.all, "running()in a(blocked: b()in b()running())running(");
    end(&t);
}

/* What is inside ends with it, and begins again. */
static void a_lock_may_be_left_before_one_within_it(void **state)
{
    static struct told t;
    (void)state;
    begin(&t);
    event(&t, 1, 1, START, 0);
    enter(&t, 1, A);
    enter(&t, 1, B);
    event(&t, A, 1, LEAVE, 0);
    assert_string_equal(t.all, "running()in a(in b())in b(");
    end(&t);
}

static void threads_do_not_disturb_each_other(void **state)
{
    static struct told t;
    (void)state;
    begin(&t);
    event(&t, 1, 1, START, 0);
    event(&t, 2, 2, START, 0);
    enter(&t, 2, A);
    event(&t, 1, 1, ASK, A);
    leave(&t, 2, A);
    assert_string_equal(t.all, "running()blocked: a(");
    assert_int_equal(t.depth[2], 1);
    assert_string_equal(t.open[2][0], "running");
    end(&t);
}

/* A lock's slice is named by the threads in it. */
static void a_line_of_no_thread_is_in_use(void **state)
{
    static struct told t;
    (void)state;
    begin(&t);
    struct event_info e = {.at = {A, 1}, .thread = 1, .type = NOTE, .in = {.active = 1}};
    thread_slices_add_event(t.slices, &e);
    assert_int_equal(t.depth[A], 1);
    assert_string_equal(t.open[A][0], "in use");
    e.in = (struct occupants){.blocked = 2};
    thread_slices_add_event(t.slices, &e);
    assert_string_equal(t.open[A][0], "only blocked threads");
    e.in.away = 1;
    thread_slices_add_event(t.slices, &e);
    assert_string_equal(t.open[A][0], "in use");
    e.in = (struct occupants){.blocked = 0};
    thread_slices_add_event(t.slices, &e);
    assert_false(thread_slices_open(t.slices, A));
    end(&t);
}

/* What is open is where the thread is, in the order in which it came there. */
static void any_run_has_the_slices_of_its_state(void **state)
{
    static struct told t;
    unsigned random = 13;
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        unsigned seats[THREADS + 1][LOCKS + 1], count[THREADS + 1] = {0}; /* 0: its own line */
        begin(&t);
        for (uint32_t thread = 1; thread <= THREADS; thread++) {
            event(&t, thread, thread, START, 0);
            seats[thread][count[thread]++] = 0;
        }
        for (unsigned step = 0; step < 40; step++) {
            uint32_t thread = 1 + execution_random(&random, THREADS),
                     lock = A + execution_random(&random, LOCKS);
            unsigned at = 0;
            while (at < count[thread] && seats[thread][at] != lock)
                at++;
            unsigned removed = at < count[thread] ? lock : 0, kept = 0,
                     added = at < count[thread] ? 0 : lock;
            if (removed)
                leave(&t, thread, lock);
            else
                enter(&t, thread, lock);
            bool has_added = false;
            for (unsigned i = 0; i < count[thread]; i++)
                if (seats[thread][i] != removed) {
                    seats[thread][kept++] = seats[thread][i];
                    has_added |= seats[thread][i] == added;
                }
            if (!has_added)
                seats[thread][kept++] = added;
            count[thread] = kept;
            assert_int_equal(t.depth[thread], kept);
            for (unsigned i = 0; i < kept; i++)
                assert_string_equal(t.open[thread][i], !seats[thread][i]       ? "running"
                                                       : seats[thread][i] == A ? "in a"
                                                                               : "in b");
        }
        end(&t);
    }
}

static void lines_that_are_not_known_are_ignored(void **state)
{
    static struct told t;
    (void)state;
    begin(&t);
    event(&t, LINES + 1, 1, ENTERED, 0);
    event(&t, A, LINES + 1, ENTERED, 0);
    event(&t, A, 0, ENTERED, 0);
    event(&t, 1, 1, TYPES, 0); /* a type that is not described */
    for (uint32_t line = 1; line <= LINES; line++)
        assert_int_equal(t.depth[line], 0);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_runs_waits_and_is_in_a_lock),
        cmocka_unit_test(a_lock_within_another_is_nested),
        cmocka_unit_test(a_lock_may_be_left_before_one_within_it),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(a_line_of_no_thread_is_in_use),
        cmocka_unit_test(any_run_has_the_slices_of_its_state),
        cmocka_unit_test(lines_that_are_not_known_are_ignored),
    };
    return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
