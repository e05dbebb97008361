#define _GNU_SOURCE
#include "clients/poet/again.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char **again_recorded(const struct again *a, char **argv)
{
    const char *const before[] = {"poet", "record", "-o", a->output, "--", NULL};
    size_t count = 0, n = 0;
    while (argv[count])
        count++;
    const char **words = calloc(count + 8, sizeof *words);
    for (size_t i = 0; words && before[i]; i++) {
        if (a->libraries && i == 4)
            words[n++] = "--libraries";
        words[n++] = before[i];
    }
    for (size_t i = 0; words && i < count; i++)
        words[n++] = argv[i];
    return (char **)(uintptr_t)words;
}

int again_start(const struct command *command, const struct again *a,
                const struct loadable *loadable, char **argv)
{
    unsetenv("POET_SERVER");
    unsetenv("POET_RUN");
    if (loadable->traced || a->starts) {
        setenv("POET_OUTPUT", a->output, 1);
        execv(loadable->path, argv);
    } else {
        char **words = again_recorded(a, argv);
        if (words)
            execv("/proc/self/exe", words);
    }
    command_fail(command, "%s: %s", argv[0], strerror(errno));
    return 126;
}

char **again_arguments(const struct book *book)
{
    const struct shown_process *first = book->process_count ? &book->processes[0] : NULL;
    if (!first || !first->argument_count)
        return NULL;
    char **words = calloc(first->argument_count + 1u, sizeof *words);
    for (uint32_t i = 0; words && i < first->argument_count; i++)
        words[i] = first->arguments[i];
    bool here = strchr(words ? words[0] : "", '/') && access(words[0], X_OK) == 0;
    if (words && !here && first->path)
        words[0] = first->path;
    return words;
}

void again_name(char *to, size_t size, const char *trace, const char *ending)
{
    const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace;
    const char *dot = strrchr(name, '.');
    int length = dot && strcmp(dot, ".poet") == 0 ? (int)(dot - name) : (int)strlen(name);
    snprintf(to, size, "%.*s.%s.poet", length, name, ending);
}
