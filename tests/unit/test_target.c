/* Target descriptions: every mistake is named, with its line. */
#define _GNU_SOURCE
#include "config/target.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

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

#define HEAD "name=\"x\";\nkinds=({name=\"k\";letter=\"K\";});\n"

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said; /* NULL: it is good */
    } cases[] = {
        {HEAD "events=({name=\"e\";});", NULL},
        {HEAD "events=({name=\"e\";shap=\"square\";});",
         "x.conf:3: unknown key \"shap\": did you mean \"shape\"?\n"},
        {HEAD "events=({name=\"e\";shape=\"squar\";});",
         "x.conf:3: \"squar\" is no value of \"shape\": did you mean \"square\"?\n"},
        {HEAD "events=({name=\"e\";filled=1;});", "x.conf:3: \"filled\" must be true or false\n"},
        {HEAD "events=({name=\"e\";colour=\"red\";});",
         "x.conf:3: \"red\" is no colour: write \"#RRGGBB\"\n"},
        {HEAD "events=({name=\"e\";},\n{name=\"e\";});",
         "x.conf:4: the type \"e\" stands already in line 3\n"},
        {HEAD "events=({name=\"e\";on=[\"nowhere\"];});",
         "x.conf:3: \"on\" names the kind \"nowhere\", which does not exist\n"},
        {HEAD "events=({name=\"e\";relation=\"sync\";partner=\"f\";});",
         "x.conf:3: \"partner\" names the type \"f\", which does not exist\n"},
        {HEAD "events=({name=\"e\";relation=\"sync\";partner=\"f\";},\n"
              "{name=\"f\";relation=\"sync\";partner=\"f\";});",
         "x.conf:3: \"partner\" names the type \"f\", which does not name \"e\" back\n"},
        {HEAD "events=({name=\"e\";after=[\"g\"];line_after=[\"h\"];});",
         "x.conf:3: \"after\" names the type \"g\", which does not exist\n"
         "x.conf:3: \"line_after\" names the type \"h\", which does not exist\n"},
        {HEAD "events=({shape=\"circle\";});", "x.conf:3: \"name\" is missing\n"},
        {HEAD "events=(1);", "x.conf:3: \"events\" must hold groups only: { ... }\n"},
        {"name=\"x\";\n", "x.conf:1: \"kinds\" is missing\nx.conf:1: \"events\" is missing\n"},
        {"name=\n\n;", "x.conf:3: syntax error\n"},
        {"name=\"x\";\nkinds=({name=\"k\";letter=\"K\";},\n{name=\"k\";letter=\"K\";});\nevents=();",
         "x.conf:3: the kind \"k\" stands twice\n"},
        {"@include \"/etc/passwd\"\n", "x.conf:1: @include is not served\n"},
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
    char *path, *text = target_load("config/pthread.conf", &path);
    assert_non_null(text);
    struct target *target = target_read(text, path, stderr);
    assert_non_null(target);
    const struct target_event *e = target_event(target, "monitor", "enter", RELATION_SYNC);
    assert_non_null(e);
    assert_int_equal(e->presence, PRESENCE_AWAY);
    assert_int_equal(target_event(target, "monitor", "enter", RELATION_NONE)->presence, PRESENCE_ACTIVE);
    assert_int_equal(target_event(target, "task", "enter", RELATION_SYNC)->presence, PRESENCE_OUT);
    assert_null(target_event(target, "task", "no such type", RELATION_NONE));
    target_free(target);
    free(text);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(all_shipped_descriptions_are_good),
    };
    return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
