#define _GNU_SOURCE
#include "clients/cli/measurement_option.h"

#include "base/alloc.h"
#include "config/measurement_spec.h"
#include "wire/function_names.h"
#include "wire/profile_region.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES (1u << 20) /* maximum size of a file */
#define LIST_BYTES (1u << 17) /* maximum size of a function list in libpoet */

/* ---- the option ---- */

static bool measurement_option_read_file(const struct command *command, const char *path,
                                         struct measurement_spec *measure)
{
    FILE *f = fopen(path, "re");
    char *text = xcalloc(FILE_BYTES + 2, 1);
    size_t size = f ? fread(text, 1, FILE_BYTES + 1, f) : 0;
    bool good = f && !ferror(f) && size <= FILE_BYTES;
    if (!good)
        command_fail(command, "%s: %s", path, strerror(size > FILE_BYTES ? EFBIG : errno));
    else if (memchr(text, 0, size))
        good = command_fail(command, "%s: is not a text file", path) == EXIT_DONE;
    if (f)
        fclose(f);
    good = good && measurement_spec_read(text, path, stderr, measure);
    char absolute[PATH_MAX];
    if (good && measure->metrics && realpath(path, absolute))
        setenv("POET_METRICS", absolute, 1);
    free(text);
    return good;
}

static bool measurement_option_is_file(const char *words)
{
    return strpbrk(words, "/.") || (!strpbrk(words, ",=") && access(words, F_OK) == 0);
}

bool measurement_option_read(const struct command *command, const char *words, const char **list,
                             bool *memory)
{
    struct measurement_spec measure = {0};
    struct error error = {""};
    *list = NULL;
    if (!words)
        return true;
    words += *words == '@';
    if (measurement_option_is_file(words) ? !measurement_option_read_file(command, words, &measure)
                                          : !measurement_spec_parse(words, &measure, &error)) {
        if (*error.text)
            command_usage(command, "--measure %s", error.text);
        return false;
    }
    *list = measurement_spec_list(&measure);
    for (unsigned i = 0; i < MEASURE_LISTS; i++)
        if (measure.lists[i])
            setenv(measurement_spec_variable(i), measure.lists[i], 1);
    measurement_spec_free(&measure);
    *memory = (measure.wanted & WANTED_MEMORY) != 0;
    return true;
}

/* ---- function lists ---- */

struct function_list_check {
    const struct command *command;
    const char *variable;
    bool good;
};

static void measurement_option_check_list(struct function_list_check *c, const char *list,
                                          const char *file);

static void measurement_option_check_file(struct function_list_check *c, const char *file)
{
    char *text = xcalloc(LIST_BYTES, 1);
    FILE *f = fopen(file, "re");
    size_t size = f ? fread(text, 1, LIST_BYTES, f) : 0;
    const char *why = !f || ferror(f)         ? strerror(errno)
                      : size == LIST_BYTES    ? "is too long"
                      : memchr(text, 0, size) ? "not a text file"
                                              : NULL;
    if (why) {
        command_fail(c->command, "%s: @%s: %s", c->variable, file, why);
        c->good = false;
    } else {
        measurement_option_check_list(c, text, file);
    }
    if (f)
        fclose(f);
    free(text);
}

static void measurement_option_check_list(struct function_list_check *c, const char *list,
                                          const char *file)
{
    for (struct function_names n = function_names_parse(list);
         function_names_next(&n, file != NULL);) {
        char *word = xasprintf("%.*s", (int)n.size, n.word);
        if (n.wrong && file)
            command_fail(c->command, "%s: %s:%u: %s: %s", c->variable, file, n.line, word, n.wrong);
        else if (n.wrong)
            command_fail(c->command, "%s: %s: %s", c->variable, word, n.wrong);
        else if (*word == '@')
            measurement_option_check_file(c, word + 1);
        c->good = c->good && !n.wrong;
        free(word);
    }
}

bool measurement_option_check_lists(const struct command *command)
{
    static const char *const variables[] = {"POET_PROFILE_EXCLUDE", "POET_PROFILE_COUNT_ONLY",
                                            "POET_PROFILE_INCLUDE"};
    bool good = true;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        struct function_list_check c = {command, variables[i], true};
        const char *list = getenv(variables[i]);
        if (list)
            measurement_option_check_list(&c, list, NULL);
        good = good && c.good;
    }
    return good;
}
