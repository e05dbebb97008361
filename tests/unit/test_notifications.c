/* Notifications of the viewer: receivers get those that they connected to, stage by stage. */
#include "clients/viewer/state/notifications.h"
#include "tests/unit/unit.h"

#include <string.h>

struct view {
    char order[64]; /* a letter for each receiver that was called */
    struct notifier *notifier;
};

static void note(struct view *view, char letter)
{
    size_t used = strlen(view->order);
    assert_true(used + 1 < sizeof view->order);
    view->order[used] = letter;
}

static void first(struct view *view, enum notification what)
{
    (void)what;
    note(view, 'f');
}

static void middle(struct view *view, enum notification what)
{
    (void)what;
    note(view, 'm');
}

static void next(struct view *view, enum notification what)
{
    (void)what;
    note(view, 'n');
}

static void last(struct view *view, enum notification what)
{
    (void)what;
    note(view, 'l');
}

static void emits_another(struct view *view, enum notification what)
{
    (void)what;
    note(view, '(');
    notifier_emit(view->notifier, NOTIFY_HITS);
    note(view, ')');
}

static void receivers_are_called_by_stage_then_as_connected(void **state)
{
    struct view view = {0};
    struct notifier n = {.view = &view};
    notifier_connect(&n, NOTIFY_LAST, NOTIFY_ALL, last);
    notifier_connect(&n, NOTIFY_MIDDLE, NOTIFY_ALL, middle);
    notifier_connect(&n, NOTIFY_FIRST, NOTIFY_ALL, first);
    notifier_connect(&n, NOTIFY_MIDDLE, NOTIFY_ALL, next);
    notifier_emit(&n, NOTIFY_PLACE);
    assert_string_equal(view.order, "fmnl");
    (void)state;
}

static void a_receiver_gets_only_what_it_connected_to(void **state)
{
    struct view view = {0};
    struct notifier n = {.view = &view};
    notifier_connect(&n, NOTIFY_MIDDLE, NOTIFY_BIT(NOTIFY_TAB_SHOWN), first);
    notifier_connect(&n, NOTIFY_MIDDLE, NOTIFY_BIT(NOTIFY_HITS) | NOTIFY_BIT(NOTIFY_SETTINGS),
                     middle);
    notifier_emit(&n, NOTIFY_HITS);
    assert_string_equal(view.order, "m");
    notifier_emit(&n, NOTIFY_TAB_SHOWN);
    notifier_emit(&n, NOTIFY_SETTINGS);
    notifier_emit(&n, NOTIFY_NOTES);
    assert_string_equal(view.order, "mfm");
    (void)state;
}

static void a_receiver_may_send_a_notification(void **state)
{
    struct view view = {0};
    struct notifier n = {.view = &view};
    view.notifier = &n;
    notifier_connect(&n, NOTIFY_FIRST, NOTIFY_BIT(NOTIFY_DIAGRAM), emits_another);
    notifier_connect(&n, NOTIFY_LAST, NOTIFY_ALL, last);
    notifier_emit(&n, NOTIFY_DIAGRAM);
    assert_string_equal(view.order, "(l)l");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receivers_are_called_by_stage_then_as_connected),
        cmocka_unit_test(a_receiver_gets_only_what_it_connected_to),
        cmocka_unit_test(a_receiver_may_send_a_notification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
