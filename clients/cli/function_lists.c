#include "clients/cli/function_lists.h"

#include "base/alloc.h"
#include "wire/function_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES (1u << 17) /* as libpoet takes at most */

struct function_list_check {
    const struct command *command;
    const char *variable;
    bool good;
};

static void check_list(struct function_list_check *c, const char *list, const char *file);

static void check_file(struct function_list_check *c, const char *file)
{
    char *text = xcalloc(FILE_BYTES, 1);
    FILE *f = fopen(file, "re");
    size_t size = f ? fread(text, 1, FILE_BYTES, f) : 0;
    const char *why = !f || ferror(f)         ? strerror(errno)
                      : size == FILE_BYTES    ? "is too long"
                      : memchr(text, 0, size) ? "not a text file"
                                              : NULL;
    if (why) {
        command_fail(c->command, "%s: @%s: %s", c->variable, file, why);
        c->good = false;
    } else {
        check_list(c, text, file);
    }
    if (f)
        fclose(f);
    free(text);
}

static void check_list(struct function_list_check *c, const char *list, const char *file)
{
    for (struct function_names n = function_names_parse(list);
         function_names_next(&n, file != NULL);) {
        char *word = xasprintf("%.*s", (int)n.size, n.word);
        if (n.wrong && file)
            command_fail(c->command, "%s: %s:%u: %s: %s", c->variable, file, n.line, word, n.wrong);
        else if (n.wrong)
            command_fail(c->command, "%s: %s: %s", c->variable, word, n.wrong);
        else if (*word == '@')
            check_file(c, word + 1);
        c->good = c->good && !n.wrong;
        free(word);
    }
}

bool function_lists_check(const struct command *command)
{
    static const char *const variables[] = {"POET_PROFILE_EXCLUDE", "POET_PROFILE_COUNT_ONLY",
                                            "POET_PROFILE_INCLUDE"};
    bool good = true;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        struct function_list_check c = {command, variables[i], true};
        const char *list = getenv(variables[i]);
        if (list)
            check_list(&c, list, NULL);
        good = good && c.good;
    }
    return good;
}
