/* Target descriptions: each error is reported, with its line. */
#define _GNU_SOURCE
#include "config/description_path.h"
#include "config/description_read.h"
#include "config/target.h"
#include "tests/unit/unit.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *complaints_of(const char *text, bool *good)
{
    char *said = NULL;
    size_t size;
    FILE *f = open_memstream(&said, &size);
    struct target *target = target_read(text, "x.conf", f);
    fclose(f);
    *good = target != NULL;
    target_free(target);
    return said;
}

#define HEAD "name=\"x\";\nline_types=({name=\"k\";letter=\"K\";});\n"

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said; /* NULL: it is valid */
    } cases[] = {
        {HEAD "events=({name=\"e\";});", NULL},
        {HEAD "events=({name=\"e\";shap=\"square\";});",
         "x.conf:3: unknown key \"shap\"; did you mean \"shape\"?\n"},
        {HEAD "events=({name=\"e\";shape=\"squar\";});",
         "x.conf:3: invalid value \"squar\" for \"shape\"; did you mean \"square\"?\n"},
        {HEAD "events=({name=\"e\";filled=1;});", "x.conf:3: \"filled\" must be true or false\n"},
        {HEAD "events=({name=\"e\";color=\"red\";});",
         "x.conf:3: invalid color \"red\"; use \"#RRGGBB\"\n"},
        {HEAD "events=({name=\"e\";},\n{name=\"e\";});",
         "x.conf:4: duplicate type \"e\" (first in line 3)\n"},
        {HEAD "events=({name=\"e\";line_types=[\"nowhere\"];});",
         "x.conf:3: \"line_types\": unknown line type \"nowhere\"\n"},
        {HEAD "events=({name=\"e\";relation=\"sync\";partner=\"f\";});",
         "x.conf:3: \"partner\": unknown type \"f\"\n"},
        {HEAD "events=({name=\"e\";relation=\"sync\";partner=\"f\";},\n"
              "{name=\"f\";relation=\"sync\";partner=\"f\";});",
         "x.conf:3: \"partner\": the type \"f\" does not refer back to \"e\"\n"},
        {HEAD "events=({name=\"e\";ordered_after=[\"g\"];allowed_after_on_line=[\"h\"];});",
         "x.conf:3: \"ordered_after\": unknown type \"g\"\n"
         "x.conf:3: \"allowed_after_on_line\": unknown type \"h\"\n"},
        {HEAD "events=({shape=\"circle\";});", "x.conf:3: \"name\" is missing\n"},
        {HEAD "events=({name=\"e\";arrow=\"dotted\";relation=\"order\";},\n"
              "{name=\"f\";arrow=\"dotted\";});",
         NULL},
        {HEAD "events=({name=\"e\";relation=\"send\";arrow=\"dotted\";});",
         "x.conf:3: \"arrow\" is \"dotted\", and there is one to its partner\n"},
        {HEAD "events=({name=\"e\";order=\"dotted\";});", "x.conf:3: unknown key \"order\"\n"},
        {HEAD "events=(1);", "x.conf:3: \"events\" must hold groups only: { ... }\n"},
        {"name=\"x\";\n", "x.conf:1: \"line_types\" is missing\nx.conf:1: \"events\" is missing\n"},
        {"name=\n\n;", "x.conf:3: syntax error\n"},
        {"name=\"x\";\nline_types=({name=\"k\";letter=\"K\";},\n{name=\"k\";letter=\"K\";});"
         "\nevents=();",
         "x.conf:3: duplicate line type \"k\"\n"},
        {"@include \"/etc/passwd\"\n",
         "x.conf:1: @include is not supported; use include = \"NAME\";\n"},
        {HEAD "include=\"nowhere\";events=({name=\"e\";});",
         "x.conf:3: \"include\": cannot read \"nowhere\"\n"},
        {HEAD "events=({name=\"e\";thread_state=\"left\";});",
         "x.conf:3: \"thread_state\": no event makes a thread enter the lines that this one "
         "leaves\n"},
        {HEAD "events=({name=\"i\";thread_state=\"running\";},\n{name=\"e\";thread_state=\"left\";"
              "allowed_after_on_line=[\"\"];});",
         "x.conf:4: \"thread_state\": the first event on a line makes a thread leave that never "
         "entered\n"},
        {HEAD "events=({name=\"e\";shap=1;},\n{name=\"f\";filled=\"no\";line_types=[\"q\"];},"
              "\n{name=\"f\";line_types=[\"q\"];});",
         "x.conf:3: unknown key \"shap\"; did you mean \"shape\"?\n"
         "x.conf:4: \"filled\" must be true or false\n"
         "x.conf:4: \"line_types\": unknown line type \"q\"\n"
         "x.conf:5: \"line_types\": unknown line type \"q\"\n"
         "x.conf:5: duplicate type \"f\" (first in line 4)\n"},
        {HEAD "events=({name=\"e\";wait_class=\"rendezvous\";ended_by=[\"f\"];category=\"lock\";},"
              "{name=\"f\";});",
         NULL},
        {HEAD "events=({name=\"e\";wait_class=\"contentio\";category=\"locks\";});",
         "x.conf:3: invalid value \"contentio\" for \"wait_class\"; did you mean \"contention\"?\n"
         "x.conf:3: invalid value \"locks\" for \"category\"; did you mean \"lock\"?\n"},
        {HEAD "events=({name=\"e\";wait_class=1;});",
         "x.conf:3: \"wait_class\" must be a string\n"},
        {HEAD "events=({name=\"e\";ended_by=[\"f\"];});",
         "x.conf:3: \"ended_by\": unknown type \"f\"\n"
         "x.conf:3: \"ended_by\" without \"wait_class\"\n"},
        {HEAD "events=({name=\"e\";wait_class=\"timeout\";allowed_after_in_thread=[\"f\"];},"
              "\n{name=\"f\";opens=true;});",
         "x.conf:3: \"wait_class\": no type can follow on its thread\n"},
        {HEAD "events=({name=\"e\";wait_class=\"timeout\";allowed_after_in_thread=[\"f\"];},"
              "\n{name=\"f\";wait_class=\"timeout\";allowed_after_in_thread=[\"e\"];});",
         "x.conf:3: \"wait_class\": nothing can end it: all types that can follow wait, too\n"
         "x.conf:4: \"wait_class\": nothing can end it: all types that can follow wait, too\n"},
        {HEAD "events=();line_groups=({name=\"c\";line_type=\"k\";},\n{name=\"c\";match=\"*\";});",
         "x.conf:4: duplicate line group \"c\"\n"},
        {HEAD "events=();function_categories=({match=\"io_*\";category=\"system\";});", NULL},
        {HEAD
         "events=();function_categories=({match=\"a\";},\n{match=\"b\";category=\"timeout\";},\n"
         "{match=\"b\";category=\"lock\";});",
         "x.conf:3: a scope needs \"category\"\n"
         "x.conf:4: the category \"timeout\" is for events, not for functions\n"
         "x.conf:5: duplicate scope \"b\"\n"},
        {HEAD "events=({name=\"e\";});patterns=({name=\"p\";pattern=\"e -> f; f: e\";});", NULL},
        {HEAD "events=({name=\"e\";});patterns=({name=\"p\";pattern=\"e ->\";},\n"
              "{name=\"q\";pattern=\"f\";},\n{name=\"q\";pattern=\"e\";});",
         "x.conf:3: pattern \"p\": column 5: expected an event at the end\n"
         "x.conf:5: duplicate pattern \"q\"\n"},
        {HEAD "events=({name=\"e\";});patterns=({name=\"q\";pattern=\"f\";});",
         "x.conf:3: pattern \"q\": unknown type \"f\"\n"},
        {HEAD "events=({name=\"e\";});assertions=({name=\"a\";never=\"e\";},"
              "{name=\"b\";always=\"e\";},{name=\"c\";at_most=3;pattern=\"e\";});",
         NULL},
        {HEAD "events=({name=\"e\";});assertions=({name=\"a\";never=\"e\";always=\"e\";},\n"
              "{name=\"b\";at_most=3;},\n{name=\"c\";at_most=-1;pattern=\"e\";},\n"
              "{name=\"a\";never=\"e\";});",
         "x.conf:3: an assertion needs \"never\", \"always\", or \"at_most\" and \"pattern\"\n"
         "x.conf:4: an assertion needs \"never\", \"always\", or \"at_most\" and \"pattern\"\n"
         "x.conf:5: \"at_most\" must be a whole number, not negative\n"
         "x.conf:6: duplicate assertion \"a\"\n"},
        {"versio=1;" HEAD "events=();",
         "x.conf:1: unknown key \"versio\"; did you mean \"version\"?\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool good;
        char *said = complaints_of(cases[i].text, &good);
        const char *wanted = cases[i].said ? cases[i].said : "";
        if (good != !cases[i].said || strcmp(said, wanted) != 0)
            fail_msg("case %zu: got:\n%swanted:\n%s", i, said, wanted);
        free(said);
    }
}

static void all_shipped_descriptions_are_good(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("config/*.conf", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path, *text = target_load(found.gl_pathv[i], &path);
        assert_non_null(text);
        struct target *target = target_read(text, path, stderr);
        assert_non_null(target);
        target_free(target);
        free(text);
        free(path);
    }
    assert_true(found.gl_pathc > 3);
    globfree(&found);
}

static void the_entry_that_fits_best_is_found(void **state)
{
    (void)state;
    char *path, *text = target_load("config/pthread.conf", &path);
    struct target *target = target_read(text, path, stderr);
    assert_non_null(target);
    const struct target_event *e = target_event(target, "mutex", "lock", RELATION_SYNC);
    assert_non_null(e);
    assert_int_equal(e->presence, OCCUPANCY_AWAY);
    assert_int_equal(target_event(target, "mutex", "relock", RELATION_NONE)->presence,
                     OCCUPANCY_ACTIVE);
    assert_int_equal(target_event(target, "thread", "lock", RELATION_SYNC)->presence,
                     OCCUPANCY_OUT);
    assert_null(target_event(target, "thread", "no such type", RELATION_NONE));
    target_free(target);
    free(text);
    free(path);
}

static const struct target_event *waiting(const struct target *target, const char *kind,
                                          const char *type)
{
    return target_event(target, kind, type, RELATION_NONE);
}

static void what_waiting_is(void **state)
{
    (void)state;
    char *path, *text = target_load("config/pthread.conf", &path);
    struct target *target = target_read(text, path, stderr);
    assert_int_equal(waiting(target, "thread", "acquire")->waits_as, WAITS_EXCLUSION);
    assert_int_equal(waiting(target, "mutex", "wait")->waits_as, WAITS_MEETING);
    assert_int_equal(waiting(target, "thread", "start")->waits_as, WAITS_NOT);
    assert_true(target_has_line_type(target_ended_by(waiting(target, "mutex", "wait")), "signal"));
    assert_int_equal(waiting(target, "mutex", "timeout")->category, CATEGORY_CLOCK);
    assert_int_equal(target_line_type(target, "rwlock")->category, CATEGORY_LOCK);
    target_free(target);
    free(text);
    free(path);
}

/* A newer description replaces the wait classes of the one that a run was recorded with. */
static void waiting_is_renewed(void **state)
{
    (void)state;
    static const char old[] =
        HEAD "version=1;events=({name=\"e\";wait_class=\"rendezvous\";},{name=\"f\";});",
                      newer[] = "name=\"x\";version=2;\n"
                                "line_types=({name=\"k\";letter=\"K\";category=\"lock\";});\n"
                                "events=({name=\"e\";wait_class=\"contention\";ended_by=[\"f\"];},"
                                "{name=\"f\";category=\"timeout\";});";
    struct target *target = target_read(old, "x.conf", stderr);
    assert_int_equal(waiting(target, "k", "e")->waits_as, WAITS_MEETING);
    assert_true(target_apply_layer(target, newer, "x.conf", DRESS_AS_LAYER, stderr));
    assert_int_equal(waiting(target, "k", "e")->waits_as, WAITS_MEETING);
    assert_true(target_apply_layer(target, newer, "x.conf", DRESS_AS_NEWER, stderr));
    assert_int_equal(waiting(target, "k", "e")->waits_as, WAITS_EXCLUSION);
    assert_true(target_has_line_type(&waiting(target, "k", "e")->causes, "f"));
    assert_int_equal(waiting(target, "k", "f")->category, CATEGORY_CLOCK);
    assert_int_equal(target_line_type(target, "k")->category, CATEGORY_LOCK);
    target_free(target);
}

/* A description that includes another one, and overrides an event for some line types. */
static void what_is_said_of_one_kind_leaves_the_general(void **state)
{
    (void)state;
    static const char text[] =
        "\f\tbase.conf\n" HEAD "events=({name=\"e\";label=\"one\";verb=\"two\";group=\"three\";"
        "undelivered_label=\"four\";broadcast_text=\"five\";partner=\"e\";ordered_after=[\"e\"];"
        "allowed_after_on_line=[\"e\"];allowed_after_in_thread=[\"e\"];relation=\"sync\";});\n"
        "\f\tx.conf\nname=\"y\";line_types=({name=\"j\";letter=\"J\";});events=({name=\"e\";"
        "line_types=[\"j\"];label=\"other\";broadcast_text=\"all "
        "others\";});\n";
    struct target *target = target_read(text, "x.conf", stderr);
    assert_non_null(target);
    const struct target_event *general = target_event(target, "k", "e", RELATION_SYNC);
    const struct target_event *special = target_event(target, "j", "e", RELATION_SYNC);
    assert_ptr_not_equal(general, special);
    assert_string_equal(general->label, "one");
    assert_string_equal(general->all, "five");
    assert_string_equal(special->label, "other");
    assert_string_equal(special->text, "two");
    assert_string_equal(special->undelivered, "four");
    assert_string_equal(special->all, "all others");
    assert_true(target_has_line_type(&special->in_thread.types, "e"));
    assert_true(target_apply_layer(
        target, "events=({name=\"e\";line_types=[\"j\"];undelivered_label=\"six\";});", "l.conf",
        DRESS_AS_LAYER, stderr));
    assert_string_equal(target_event(target, "k", "e", RELATION_SYNC)->undelivered, "four");
    assert_string_equal(target_event(target, "j", "e", RELATION_SYNC)->undelivered, "six");
    target_free(target);
}

/* ---- layers ---- */

static char folder[] = "/tmp/poet-target-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    char path[128];
    const char *const files[] = {"base.conf", "layer.conf", "poet/base.conf", "poet", ""};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    return 0;
}

static const char base[] =
    HEAD "events=({name=\"e\";label=\"E\";color=\"#ff0000\";thread_state=\"running\";},\n"
         "{name=\"e\";line_types=[\"k\"];label=\"on "
         "k\";},\n{name=\"f\";shape=\"square\";allowed_after_on_line=[\"e\"];});\n"
         "line_groups=({name=\"c\";line_type=\"k\";});";

static struct target *load(const char *name, char **said)
{
    char path[128], *found;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = target_load(path, &found);
    assert_non_null(text);
    FILE *f = open_memstream(said, &size);
    struct target *target = target_read(text, found, f);
    fclose(f);
    free(text);
    free(found);
    return target;
}

static void a_layer_changes_what_it_names(void **state)
{
    (void)state;
    char *said;
    put("base.conf", base);
    put("layer.conf",
        "name=\"x\"; include=\"base\";\nline_types=({name=\"k\";letter=\"L\";});\n"
        "events=({name=\"e\";color=\"#0000ff\";},{name=\"f\";line_types=[\"k\"];label=\"F\";},\n"
        "{name=\"g\";});line_groups=({name=\"c\";match=\"*\";});");
    struct target *t = load("layer.conf", &said);
    assert_string_equal(said, "");
    assert_non_null(t);
    assert_string_equal(t->kinds[0].letter, "L");
    const struct target_event *e = target_event(t, "other", "e", RELATION_NONE);
    assert_true(e->color.blue == 1 && e->color.red == 0 && e->has_presence);
    assert_string_equal(e->label, "E");
    e = target_event(t, "k", "e", RELATION_NONE);
    assert_true(e->color.blue == 1);
    assert_string_equal(e->label, "on k");
    /* the special one inherits from the general one */
    e = target_event(t, "k", "f", RELATION_NONE);
    assert_string_equal(e->label, "F");
    assert_int_equal(e->shape, SHAPE_SQUARE);
    assert_true(!e->on_line.any && target_has_line_type(&e->on_line.types, "e"));
    assert_string_equal(target_event(t, "other", "f", RELATION_NONE)->label, "f");
    assert_non_null(target_event(t, "k", "g", RELATION_NONE));
    assert_int_equal(t->cluster_count, 1);
    assert_null(t->clusters[0].kind);
    target_free(t);
    free(said);
}

static void mistakes_name_the_file_that_has_them(void **state)
{
    (void)state;
    char *said, wanted[512];
    put("base.conf", "name=\"x\";\nline_types=({name=\"k\";letter=1;});\nevents=();");
    put("layer.conf", "name=\"x\"; include=[\"base\",\n\"gone\"];\nevents=({name=\"e\";shap=1;});");
    assert_null(load("layer.conf", &said));
    snprintf(wanted, sizeof wanted,
             "%s/base.conf:2: \"letter\" must be a string\n"
             "%s/layer.conf:3: unknown key \"shap\"; did you mean \"shape\"?\n"
             "%s/layer.conf:1: \"include\": cannot read \"gone\"\n",
             folder, folder, folder);
    for (const char *line = wanted; *line; line = strchr(line, '\n') + 1) {
        char one[256];
        snprintf(one, sizeof one, "%.*s", (int)(strchr(line, '\n') - line), line);
        if (!strstr(said, one))
            fail_msg("not said: %s\nsaid:\n%s", one, said);
    }
    free(said);
    /* the files include each other */
    put("base.conf", "name=\"x\"; include=\"layer\"; line_types=(); events=();");
    assert_null(load("layer.conf", &said));
    assert_non_null(strstr(said, "base.conf:1: \"include\": cannot read \"layer\""));
    free(said);
}

static const struct target_line_type *odd_is_sorted(const void *context, uint32_t line)
{
    static const struct target_line_type plain = {0}, sorted = {.sorted = true};
    (void)context;
    return line == 9 ? NULL : line % 2 ? &sorted : &plain;
}

static const char *function_names_parse(const void *context, uint32_t line)
{
    return ((const char *const *)context)[line];
}

static void lines_of_sorted_kinds_stand_by_name(void **state)
{
    (void)state;
    const char *const names[] = {"",       "rank 10", "b",      "rank 2", "a",
                                 "rank 1", "x",       "rank 2", "y",      "rank 0"};
    uint32_t lines[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, wanted[] = {5, 2, 3, 4, 7, 6, 1, 8, 9};
    target_sort(lines, 9, &(struct target_lines){names, odd_is_sorted, function_names_parse});
    assert_memory_equal(lines, wanted, sizeof wanted);
    target_sort(lines, 0, &(struct target_lines){names, odd_is_sorted, function_names_parse});
}

static void a_user_changes_looks_and_nothing_else(void **state)
{
    (void)state;
    char path[128], *file, *text;
    struct target *t = target_read(base, "base", stderr);
    snprintf(path, sizeof path, "%s/poet", folder);
    mkdir(path, 0700);
    setenv("XDG_CONFIG_HOME", folder, 1);
    assert_null(target_own_layer("base", &file));
    put("poet/base.conf",
        "include=\"base\"; events=({name=\"e\";label=\"mine\";thread_state=\"left\";},"
        "{name=\"f\";allowed_after_on_line=[];},{name=\"new\";});");
    text = target_own_layer("base", &file);
    assert_non_null(text);
    assert_true(target_apply_layer(t, text, file, DRESS_AS_LAYER, stderr));
    const struct target_event *e = target_event(t, "other", "e", RELATION_NONE);
    assert_string_equal(e->label, "mine");
    assert_int_equal(e->presence, OCCUPANCY_ACTIVE);
    assert_true(
        target_has_line_type(&target_event(t, "k", "f", RELATION_NONE)->on_line.types, "e"));
    assert_null(target_event(t, "k", "new", RELATION_NONE));
    free(text);
    free(file);
    put("poet/base.conf", base); /* a complete description is not a layer */
    assert_null(target_own_layer("base", &file));
    unsetenv("XDG_CONFIG_HOME");
    target_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(all_shipped_descriptions_are_good),
        cmocka_unit_test(the_entry_that_fits_best_is_found),
        cmocka_unit_test(what_waiting_is),
        cmocka_unit_test(waiting_is_renewed),
        cmocka_unit_test(what_is_said_of_one_kind_leaves_the_general),
        cmocka_unit_test(a_layer_changes_what_it_names),
        cmocka_unit_test(mistakes_name_the_file_that_has_them),
        cmocka_unit_test(lines_of_sorted_kinds_stand_by_name),
        cmocka_unit_test(a_user_changes_looks_and_nothing_else),
    };
    return cmocka_run_group_tests_name("target", tests, make_folder, drop_folder);
}
