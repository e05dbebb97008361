/* Undo and redo of navigation in the viewer. */
#include "clients/viewer/state/history.h"
#include "tests/unit/unit.h"

struct received {
    unsigned restored, switches;
};

static void receive_notification(struct view *user, enum notification what)
{
    struct received *received = (void *)user;
    received->restored += what == NOTIFY_RESTORED;
    received->switches += what == NOTIFY_ACTIONS;
}

struct setting {
    struct received received;
    struct notifier news;
    struct view_state place;
    struct view_history history;
};

static void begin(struct setting *s)
{
    *s = (struct setting){.place = {.zoom = 1}};
    s->news.view = (void *)&s->received;
    notifier_connect(&s->news, NOTIFY_MIDDLE, NOTIFY_ALL, receive_notification);
    s->history = (struct view_history){.place = &s->place, .notifier = &s->news};
}

static void end(struct setting *s)
{
    history_clear(&s->history);
    view_state_free(&s->place);
}

static void a_range_and_cursors_come_back(void **state)
{
    struct setting s;
    uint32_t lines[] = {3, 5};
    struct view_state_range range = {.from_ns = 10, .to_ns = 20, .lines = lines, .line_count = 2};
    begin(&s);
    history_mark(&s.history, "range");
    s.place.range = view_state_range_copy(&range);
    history_mark(&s.history, "cursor");
    s.place.cursors_ns[s.place.cursor_count++] = 15;
    history_undo(&s.history);
    assert_int_equal(s.place.cursor_count, 0);
    assert_true(view_state_range_equal(&s.place.range, &range));
    history_undo(&s.history);
    assert_int_equal(s.place.range.to_ns, 0);
    history_redo(&s.history);
    assert_true(view_state_range_equal(&s.place.range, &range));
    lines[1] = 6;
    assert_false(view_state_range_equal(&s.place.range, &range));
    end(&s);
    (void)state;
}

static void what_was_changed_comes_back(void **state)
{
    struct setting s;
    begin(&s);
    for (int i = 1; i <= 50; i++) {
        history_mark(&s.history, "jump");
        s.place.from = i;
    }
    for (int i = 49; i >= 0; i--) {
        history_undo(&s.history);
        assert_int_equal(s.place.from, i);
    }
    history_undo(&s.history); /* there is nothing before the first place */
    assert_int_equal(s.place.from, 0);
    for (int i = 1; i <= 50; i++) {
        history_redo(&s.history);
        assert_int_equal(s.place.from, i);
    }
    history_redo(&s.history);
    assert_int_equal(s.place.from, 50);
    assert_int_equal(s.received.restored, 100);
    end(&s);
    (void)state;
}

static void a_change_after_undo_forgets_what_was_undone(void **state)
{
    struct setting s;
    begin(&s);
    history_mark(&s.history, "jump");
    s.place.from = 1;
    history_undo(&s.history);
    assert_int_equal(s.history.forth_count, 1);
    history_mark(&s.history, "fold");
    s.place.fold = true;
    assert_int_equal(s.history.forth_count, 0);
    history_redo(&s.history);
    assert_int_equal(s.place.from, 0);
    assert_true(s.place.fold);
    end(&s);
    (void)state;
}

static void small_steps_of_one_sort_are_one(void **state)
{
    struct setting s;
    begin(&s);
    for (int i = 1; i <= 20; i++) { /* within less than the time that separates steps */
        history_mark(&s.history, "scroll");
        s.place.from = i;
    }
    assert_int_equal(s.history.back_count, 1);
    history_mark(&s.history, "zoom");
    s.place.zoom = 2;
    history_undo(&s.history);
    assert_int_equal(s.place.from, 20);
    history_undo(&s.history);
    assert_int_equal(s.place.from, 0);
    end(&s);
    (void)state;
}

static void what_changed_nothing_is_passed_over(void **state)
{
    struct setting s;
    begin(&s);
    history_mark(&s.history, "jump");
    s.place.from = 1;
    history_mark(&s.history, "jump"); /* to the same place */
    history_mark(&s.history, "select");
    history_undo(&s.history);
    assert_int_equal(s.place.from, 0);
    end(&s);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_changed_comes_back),
        cmocka_unit_test(a_change_after_undo_forgets_what_was_undone),
        cmocka_unit_test(small_steps_of_one_sort_are_one),
        cmocka_unit_test(a_range_and_cursors_come_back),
        cmocka_unit_test(what_changed_nothing_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
