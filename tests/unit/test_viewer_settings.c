/* Settings of the viewer: what is saved is loaded again, and what cannot be read keeps its
 * default. */
#include "clients/viewer/state/viewer_settings.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/settings.XXXXXX", folder[64], path[96];

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(folder, sizeof folder, "%s/poet", directory);
    snprintf(path, sizeof path, "%s/view.conf", folder);
    return setenv("XDG_CONFIG_HOME", directory, 1);
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    rmdir(folder);
    return rmdir(directory);
}

static void settings_free(struct viewer_settings *s)
{
    g_free(s->drawer_page);
    g_free(s->editor);
    g_strfreev(s->recent);
}

static void write_settings(const char *text)
{
    g_mkdir_with_parents(folder, 0700);
    assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void are_equal(const struct viewer_settings *a, const struct viewer_settings *b)
{
    assert_int_equal(a->tint, b->tint);
    assert_int_equal(a->reselect, b->reselect);
    assert_int_equal(a->busy_rows, b->busy_rows);
    assert_int_equal(a->panel, b->panel);
    assert_int_equal(a->map, b->map);
    assert_int_equal(a->drawer, b->drawer);
    assert_int_equal(a->path, b->path);
    assert_int_equal(a->tints, b->tints);
    assert_int_equal(a->drawer_px, b->drawer_px);
    assert_int_equal(a->dark_follows, b->dark_follows);
    assert_int_equal(a->names_px, b->names_px);
    assert_int_equal(a->width_px, b->width_px);
    assert_int_equal(a->height_px, b->height_px);
    assert_int_equal(a->maximized, b->maximized);
    assert_int_equal(a->look.dark, b->look.dark);
    assert_int_equal(a->look.grey, b->look.grey);
    assert_int_equal(a->look.hairlines, b->look.hairlines);
    assert_int_equal(a->look.legend, b->look.legend);
    assert_int_equal(a->look.squeeze, b->look.squeeze);
    assert_int_equal(a->look.vertical, b->look.vertical);
    assert_int_equal(a->look.no_order, b->look.no_order);
    assert_int_equal(a->look.labels, b->look.labels);
    assert_int_equal(a->look.threshold_ns, b->look.threshold_ns);
}

static void defaults_are_those_of_no_file(void **state)
{
    struct viewer_settings s;
    (void)state;
    unlink(path);
    viewer_settings_load(&s);
    assert_true(s.tint && s.reselect && s.panel && s.map && s.dark_follows);
    assert_true(s.look.legend && s.look.squeeze);
    assert_false(s.drawer || s.busy_rows || s.maximized || s.look.dark || s.look.no_order);
    assert_int_equal(s.width_px, 1200);
    assert_int_equal(s.look.labels, LABELS_NAME);
    assert_null(s.recent);
    assert_null(s.drawer_page);
    settings_free(&s);
}

static void what_is_saved_is_loaded(void **state)
{
    unsigned random = 9;
    (void)state;
    for (unsigned round = 0; round < 50; round++) {
#define FLAG (execution_random(&random, 2) == 1)
        struct viewer_settings s = {.tint = FLAG,
                                    .reselect = FLAG,
                                    .busy_rows = FLAG,
                                    .panel = FLAG,
                                    .map = FLAG,
                                    .drawer = FLAG,
                                    .path = FLAG,
                                    .tints = FLAG,
                                    .drawer_px = 60 + (int)execution_random(&random, 3941),
                                    .drawer_page = g_strdup("critical path; \"ä\"\n"),
                                    .names_px = 40 + (int)execution_random(&random, 861),
                                    .width_px = 300 + (int)execution_random(&random, 19701),
                                    .height_px = 200 + (int)execution_random(&random, 19801),
                                    .maximized = FLAG,
                                    .editor = g_strdup(" vi +%d '%s' "),
                                    .recent = g_strsplit("/a;b\\;c|/d e|poet://h:1", "|", -1)};
        s.look = (struct view_style){.labels = (enum labels)execution_random(&random, 3),
                                     .grey = FLAG,
                                     .dark = FLAG,
                                     .hairlines = FLAG,
                                     .legend = FLAG,
                                     .squeeze = FLAG,
                                     .vertical = FLAG,
                                     .no_order = FLAG,
                                     .threshold_ns = execution_random(&random, 1000000) * 1000};
        struct viewer_settings again;
        viewer_settings_save(&s);
        viewer_settings_load(&again);
        are_equal(&s, &again);
        assert_string_equal(again.drawer_page, s.drawer_page);
        assert_string_equal(again.editor, s.editor);
        assert_true(g_strv_equal((const char *const *)again.recent, (const char *const *)s.recent));
        settings_free(&s);
        settings_free(&again);
    }
}

static void what_the_user_wrote_besides_stays(void **state)
{
    struct viewer_settings s;
    char *text;
    (void)state;
    write_settings("# mine\n[other]\nkey=1\n\n[view]\n# above\ntint=false\nlater=7\n");
    viewer_settings_load(&s);
    assert_false(s.tint);
    s.tint = true;
    viewer_settings_save(&s);
    settings_free(&s);
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    static const char *const kept[] = {"# mine", "[other]\nkey=1", "# above\ntint=true", "later=7"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_non_null(strstr(text, kept[i]));
    g_free(text);
}

static void what_cannot_be_read_keeps_its_default(void **state)
{
    static const char *const files[] = {
        "",
        "no settings",
        "[view]\n",
        "[view]\ntint=maybe\nwidth=wide\nlabels=address\nnames=\n",
        "[view]\nwidth=299\nheight=20001\ndrawer_height=-1\nlabels=3\nthreshold_us=1000000001\n",
        "[view]\nwidth=99999999999999999999\nlabels=-1\n"};
    struct viewer_settings s, usual;
    (void)state;
    unlink(path);
    viewer_settings_load(&usual);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_settings(files[i]);
        viewer_settings_load(&s);
        are_equal(&s, &usual);
        settings_free(&s);
    }
    settings_free(&usual);
}

static void the_window_is_dark_by_choice_or_as_the_desktop(void **state)
{
    struct viewer_settings s;
    (void)state;
    unlink(path);
    viewer_settings_load(&s);
    viewer_settings_save(&s);
    settings_free(&s);
    viewer_settings_load(&s);
    assert_true(s.dark_follows);
    s.dark_follows = false;
    viewer_settings_save(&s);
    settings_free(&s);
    viewer_settings_load(&s);
    assert_false(s.dark_follows);
    assert_false(s.look.dark);
    settings_free(&s);
}

/* ---- recent sources ---- */

static void recent_are(const struct viewer_settings *s, const char *wanted)
{
    char *is = s->recent ? g_strjoinv(" ", s->recent) : g_strdup("");
    assert_string_equal(is, wanted);
    g_free(is);
}

static void the_latest_source_is_the_first(void **state)
{
    struct viewer_settings s = {.recent = NULL};
    (void)state;
    viewer_settings_remember(&s, NULL);
    viewer_settings_remember(&s, "latest");
    recent_are(&s, "");
    viewer_settings_remember(&s, "/a/b.poet");
    viewer_settings_remember(&s, "unix:/run/s");
    viewer_settings_remember(&s, "ssh:host");
    recent_are(&s, "ssh:host unix:/run/s /a/b.poet");
    viewer_settings_remember(&s, "/a/./c/../b.poet"); /* the same file */
    recent_are(&s, "/a/b.poet ssh:host unix:/run/s");
    settings_free(&s);
}

static void ten_sources_are_kept(void **state)
{
    struct viewer_settings s = {.recent = NULL};
    (void)state;
    for (char name[] = "/a"; name[1] <= 'l'; name[1]++)
        viewer_settings_remember(&s, name);
    recent_are(&s, "/l /k /j /i /h /g /f /e /d /c");
    viewer_settings_remember(&s, "/c");
    recent_are(&s, "/c /l /k /j /i /h /g /f /e /d");
    settings_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_no_file),
        cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(what_the_user_wrote_besides_stays),
        cmocka_unit_test(what_cannot_be_read_keeps_its_default),
        cmocka_unit_test(the_window_is_dark_by_choice_or_as_the_desktop),
        cmocka_unit_test(the_latest_source_is_the_first),
        cmocka_unit_test(ten_sources_are_kept),
    };
    return cmocka_run_group_tests_name("settings", tests, begin, end);
}
