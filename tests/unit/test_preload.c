/* Libraries that are preloaded for a command line, and programs for which none can be. */
#define _GNU_SOURCE
#include "clients/cli/preload.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory, with libraries a, b, c and rules for them, in poet/ and in itself; and programs.
 */
static char directory[] = "/tmp/libraries.XXXXXX";
static char made[32][96];
static unsigned made_count;

static const char *write_file(const char *name, const char *text, mode_t mode)
{
    char *path = made[made_count++];
    snprintf(path, sizeof *made, "%s/%s", directory, name);
    FILE *f = fopen(path, "we");
    if (!f)
        abort();
    fputs(text, f);
    fchmod(fileno(f), mode);
    fclose(f);
    return path;
}

static void remove_files(void)
{
    while (made_count)
        unlink(made[--made_count]);
}

static int begin(void **state)
{
    char sub[64];
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(sub, sizeof sub, "%s/poet", directory);
    return mkdir(sub, 0700);
}

static int end(void **state)
{
    char sub[64];
    (void)state;
    snprintf(sub, sizeof sub, "%s/poet", directory);
    rmdir(sub);
    return rmdir(directory);
}

static int clean(void **state)
{
    (void)state;
    remove_files();
    return 0;
}

static void add_library(const char *name, const char *rules)
{
    char file[64];
    snprintf(file, sizeof file, "%s.so", name);
    write_file(file, "", 0600);
    snprintf(file, sizeof file, "%s.preload", name);
    write_file(file, rules, 0600);
}

/* Expects the names of the libraries for a command line; the test itself is linked with the C
 * library. */
static void adds(const char *first, const char *second, const char *without, const char *wanted)
{
    char *arguments[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL};
    char list[2048] = "", names[256] = "";
    preload_add(list, sizeof list, directory, arguments, without);
    for (char *at = strtok(list, " "); at; at = strtok(NULL, " ")) {
        const char *slash = strrchr(at, '/');
        strcat(strcat(names, *names ? " " : ""), slash ? slash + 1 : at);
    }
    assert_string_equal(names, wanted);
}

#define TEST "/proc/self/exe"

static void a_library_is_added_where_a_program_needs_it(void **state)
{
    (void)state;
    add_library("poet/libpoet-a", "# comment\nneeds libnone.so* libc.so.*\n");
    add_library("libpoet-b", "needs libnone.so.[0-9] # libc.so.6\n");
    adds(TEST, NULL, NULL, "libpoet-a.so");
    adds("/nowhere/program", TEST, NULL, "libpoet-a.so");
    adds("/nowhere/program", NULL, NULL, "");
    adds(NULL, NULL, NULL, "");
    adds(TEST, NULL, "a", "");
    adds(TEST, NULL, "b", "libpoet-a.so");
}

static void another_is_added_otherwise_or_always(void **state)
{
    (void)state;
    add_library("poet/libpoet-a", "needs libc.so.*\n");
    add_library("poet/libpoet-b", "needs libnone.so\notherwise\n");
    add_library("poet/libpoet-c", "always\n");
    adds(TEST, NULL, NULL, "libpoet-a.so libpoet-c.so");
    adds("/nowhere/program", NULL, NULL, "libpoet-b.so libpoet-c.so");
    adds("/nowhere/program", NULL, "c", "libpoet-b.so");
}

/* A program that starts others, as mpirun: its real name tells to which package it belongs. */
static void a_starter_is_known_by_its_real_name(void **state)
{
    char link[96];
    (void)state;
    const char *program = write_file("run.one", "#!/bin/sh\n", 0700);
    snprintf(link, sizeof link, "%s/run", directory);
    assert_int_equal(symlink(program, link), 0);
    strcpy(made[made_count++], link);
    add_library("poet/libpoet-a",
                "starts run runner\nstarter *.one\nalso libextra.so\notherwise\n");
    add_library("poet/libpoet-b", "starts run\nstarter *.two\n");
    add_library("poet/libpoet-c", "needs libcmocka.so.*\n");
    adds(link, NULL, NULL, "libpoet-a.so libextra.so");
    adds(link, TEST, NULL, "libpoet-c.so"); /* what is linked is the stronger reason */
    adds("/nowhere/program", link, NULL, "libpoet-a.so"); /* it is not the first one */
}

static void rules_without_a_library_are_ignored(void **state)
{
    (void)state;
    write_file("poet/libpoet-a.preload", "always\n", 0600);
    adds(TEST, NULL, NULL, "");
    assert_false(preload_is_installed(directory, "a"));
    add_library("libpoet-b", "");
    assert_true(preload_is_installed(directory, "b"));
    add_library("poet/libpoet-c", "");
    assert_true(preload_is_installed(directory, "c"));
    adds(TEST, NULL, NULL, "");
}

/* ---- programs ---- */

/* Expects that a program cannot be recorded, with a part of the reason; NULL: it can. */
static void checked(const char *program, bool wanted_found, const char *reason)
{
    struct preload_check loadable;
    bool found;
    char why[256] = "";
    assert_int_equal(preload_check_program(program, &loadable, &found, why, sizeof why), !reason);
    assert_int_equal(found, wanted_found);
    if (reason && !strstr(why, reason))
        fail_msg("%s: %s", program, why);
}

static void a_program_with_the_c_library_can_be_recorded(void **state)
{
    struct preload_check loadable;
    bool found;
    char why[256];
    (void)state;
    assert_true(preload_check_program(TEST, &loadable, &found, why, sizeof why));
    assert_true(found);
    assert_string_equal(loadable.path, TEST);
    assert_non_null(strstr(loadable.needed, "libc.so."));
    /* of unit tests; some compilers link it statically */
    assert_int_equal(!*loadable.sanitizers, !strstr(loadable.needed, "libasan.so."));
    assert_false(loadable.traced);
    assert_true(preload_check_program("sh", &loadable, &found, why, sizeof why));
    assert_non_null(strrchr(loadable.path, '/'));
    assert_string_equal(loadable.sanitizers, "");
}

static void scripts_are_checked_as_their_interpreters(void **state)
{
    char line[128];
    (void)state;
    checked(write_file("script", "#! /bin/sh -e\n", 0700), true, NULL);
    checked(write_file("text", "echo\n", 0700), true, "neither a program nor a script");
    checked(write_file("empty", "", 0700), true, "neither a program nor a script");
    for (unsigned i = 0; i < 6; i++) { /* each is the interpreter of the next one */
        char name[16];
        snprintf(line, sizeof line, "#!%s\n", i ? made[made_count - 1] : "/bin/sh");
        snprintf(name, sizeof name, "nested.%u", i);
        checked(write_file(name, line, 0700), true,
                i < 5 ? NULL : "neither a program nor a script");
    }
    checked(write_file("elf", "\177ELF", 0700), true, "");
}

static void a_program_is_searched_as_by_execvp(void **state)
{
    char list[256], name[96], *before = strdup(getenv("PATH") ? getenv("PATH") : "");
    (void)state;
    write_file("poet/once", "#!/bin/sh\n", 0700);
    write_file("once", "echo\n", 0600); /* not executable */
    snprintf(list, sizeof list, "/nowhere:%s:%s/poet", directory, directory);
    setenv("PATH", list, 1);
    checked("once", true, NULL);
    checked("poet", false, strerror(ENOENT)); /* it is a directory */
    checked("never", false, strerror(ENOENT));
    snprintf(name, sizeof name, "%s/never", directory);
    checked(name, false, strerror(ENOENT));
    setenv("PATH", "", 1);
    checked("once", false, strerror(ENOENT));
    setenv("PATH", before, 1);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_library_is_added_where_a_program_needs_it, clean),
        cmocka_unit_test_teardown(another_is_added_otherwise_or_always, clean),
        cmocka_unit_test_teardown(a_starter_is_known_by_its_real_name, clean),
        cmocka_unit_test_teardown(rules_without_a_library_are_ignored, clean),
        cmocka_unit_test_teardown(a_program_with_the_c_library_can_be_recorded, clean),
        cmocka_unit_test_teardown(scripts_are_checked_as_their_interpreters, clean),
        cmocka_unit_test_teardown(a_program_is_searched_as_by_execvp, clean),
    };
    return cmocka_run_group_tests_name("libraries", tests, begin, end);
}
