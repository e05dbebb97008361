#define _GNU_SOURCE
#include "clients/cli/preload_libraries.h"

#include "clients/cli/preload_check.h"

#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024

struct preload_rules {
    char library[PATH_MAX];
    char needs[LINE_BYTES], starts[LINE_BYTES], starter[LINE_BYTES], also[LINE_BYTES];
    bool otherwise, always;
};

static void read_rules(struct preload_rules *r, const char *path)
{
    char line[LINE_BYTES];
    size_t n = strlen(path) - strlen(".preload");
    *r = (struct preload_rules){0};
    snprintf(r->library, sizeof r->library, "%.*s.so", (int)n, path);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\n")] = 0;
        const char *rest = line + strcspn(line, " ");
        const struct {
            const char *word;
            char *into;
        } words[] = {{"needs ", r->needs},
                     {"starts ", r->starts},
                     {"starter ", r->starter},
                     {"also ", r->also}};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(line, words[i].word, strlen(words[i].word)) == 0)
                snprintf(words[i].into, LINE_BYTES, "%s", rest + 1);
        r->otherwise |= strcmp(line, "otherwise") == 0;
        r->always |= strcmp(line, "always") == 0;
    }
    if (f)
        fclose(f);
}

/* Returns whether any of the names matches any of the patterns; both are separated by spaces. */
static bool preload_matches_pattern(const char *names, const char *patterns)
{
    char name[PATH_MAX], pattern[256];
    for (const char *n = names; *n; n += strcspn(n, " "), n += *n == ' ')
        for (const char *p = patterns; *p; p += strcspn(p, " "), p += *p == ' ') {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(n, " "), n);
            snprintf(pattern, sizeof pattern, "%.*s", (int)strcspn(p, " "), p);
            if (*name && *pattern && fnmatch(pattern, name, 0) == 0)
                return true;
        }
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Why a library is loaded, strongest first: only the libraries with the strongest reason are. */
enum preload_class { LINKED, STARTED, OTHERWISE, NOT };

static enum preload_class preload_classify_command(const struct preload_rules *r,
                                                   char *const *arguments)
{
    enum preload_class asked = r->otherwise ? OTHERWISE : NOT;
    for (unsigned i = 0; arguments[i] && i < 256; i++) {
        struct preload_check loadable;
        char why[256], real[PATH_MAX];
        bool found, starts = i == 0 && preload_matches_pattern(base_name(arguments[0]), r->starts);
        preload_check_program(arguments[i], &loadable, &found, why, sizeof why);
        if (found && !starts && preload_matches_pattern(loadable.needed, r->needs))
            return LINKED;
        if (found && starts && realpath(loadable.path, real) &&
            preload_matches_pattern(base_name(real), r->starter))
            asked = STARTED;
    }
    return asked;
}

static bool is_left_out(const struct preload_rules *r, const char *without)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "libpoet-%s.so", without ? without : "");
    return strcmp(base_name(r->library), name) == 0;
}

static void preload_append_library(char *list, size_t size, const char *what)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, " %s", what);
}

bool preload_is_installed(const char *directory, const char *name)
{
    static const char *const folders[] = {"poet/", ""};
    char path[PATH_MAX];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%slibpoet-%s.so", directory, folders[i], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

void preload_print(const char *directory)
{
    char pattern[PATH_MAX];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/{poet/,}libpoet-*.preload", directory);
    if (glob(pattern, GLOB_BRACE, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *name = base_name(found.gl_pathv[i]) + strlen("libpoet-");
            printf("%.*s\n", (int)(strlen(name) - strlen(".preload")), name);
        }
    globfree(&found);
}

void preload_add(char *list, size_t size, const char *directory, char *const *arguments,
                 const char *without)
{
    char pattern[PATH_MAX];
    struct preload_rules r;
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/{poet/,}libpoet-*.preload", directory);
    if (glob(pattern, GLOB_BRACE, NULL, &found) != 0)
        return;
    enum preload_class strongest = NOT;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        read_rules(&r, found.gl_pathv[i]);
        enum preload_class asked = preload_classify_command(&r, arguments);
        strongest = asked < strongest ? asked : strongest;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        read_rules(&r, found.gl_pathv[i]);
        bool wanted =
            r.always || (strongest != NOT && preload_classify_command(&r, arguments) == strongest);
        if (!wanted || is_left_out(&r, without) || access(r.library, R_OK) != 0)
            continue;
        preload_append_library(list, size, r.library);
        if (strongest == STARTED && !r.always)
            preload_append_library(list, size, r.also);
    }
    globfree(&found);
}
