#define _GNU_SOURCE
#include "clients/cli/rerun.h"

#include "wire/limits.h"
#include "wire/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAIN                                                                                      \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-" /* need no quotes */

char **rerun_recorded(const struct rerun *a, char **argv)
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

int rerun_start(const struct command *command, const struct rerun *a,
                const struct preload_check *loadable, char **argv)
{
    unsetenv("POET_SERVER");
    unsetenv("POET_RUN");
    if (loadable->traced || a->starts) {
        setenv("POET_OUTPUT", a->output, 1);
        execv(loadable->path, argv);
    } else {
        char **words = rerun_recorded(a, argv);
        if (words)
            execv("/proc/self/exe", words);
    }
    command_fail(command, "%s: %s", argv[0], strerror(errno));
    return 126;
}

/* Limits of libpoet: bytes of all arguments; each of them is cut to LIMIT_TEXT_BYTES. */
#define ALL_ARGUMENTS_BYTES 16383u
#define CHARACTER_BYTES 4u

static bool is_cut(const struct process_info *process)
{
    size_t all = 0;
    for (uint32_t i = 0; i < process->argument_count; i++) {
        size_t size = strlen(process->arguments[i]);
        all += size + 1;
        if (size + CHARACTER_BYTES >= LIMIT_TEXT_BYTES)
            return true;
    }
    return all >= ALL_ARGUMENTS_BYTES;
}

/* Returns whether text_readable() replaced some of its characters, so that the original path is
 * unknown. */
static bool is_made_readable(const char *path)
{
    for (const char *c = path; *c; c++)
        if (strncmp(c, "\xef\xbf\xbd", 3) == 0 || strncmp(c, "\xe2\x90", 2) == 0)
            return true;
    return false;
}

char **rerun_arguments(const struct trace_metadata *book)
{
    const struct process_info *first = book->process_count ? &book->processes[0] : NULL;
    if (!first || !first->argument_count || is_cut(first))
        return NULL;
    char **words = calloc(first->argument_count + 1u, sizeof *words);
    for (uint32_t i = 0; words && i < first->argument_count; i++)
        words[i] = first->arguments[i];
    bool here = strchr(words ? words[0] : "", '/') && access(words[0], X_OK) == 0;
    if (words && !here && first->path)
        words[0] = first->path;
    if (words && !here && first->path && is_made_readable(first->path)) {
        free(words);
        return NULL;
    }
    return words;
}

/* Prints a word quoted for a shell, with control characters made visible. */
static void write_word(FILE *to, const char *word)
{
    char *text = text_readable(word, strlen(word), false);
    if (text && *text && !text[strspn(text, PLAIN)])
        fputs(text, to);
    else {
        fputc('\'', to);
        for (const char *c = text ? text : ""; *c; c++)
            *c == '\'' ? fputs("'\\''", to) : fputc(*c, to);
        fputc('\'', to);
    }
    free(text);
}

static char *rerun_command_line(char *const *words)
{
    char *line = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&line, &size);
    for (size_t i = 0; to && words[i]; i++) {
        if (i)
            fputc(' ', to);
        write_word(to, words[i]);
    }
    if (to)
        fclose(to);
    return line;
}

/* Returns whether the trace belongs to another user: its command may be anything. */
static bool is_of_another_user(const char *trace)
{
    struct stat st;
    return stat(trace, &st) == 0 && st.st_uid != geteuid();
}

static bool rerun_user_confirms(void)
{
    char answer[16] = "";
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return false;
    fputs("poet: run it? [y/N] ", stderr);
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

bool rerun_may_run(const struct command *command, const char *trace, char *const *words, bool quiet)
{
    bool foreign = is_of_another_user(trace);
    char *line = quiet && !foreign ? NULL : rerun_command_line(words);
    if (line)
        command_fail(command, "%s: runs the recorded command: %s", trace, line);
    free(line);
    if (!foreign || rerun_user_confirms())
        return true;
    command_fail(command,
                 "%s belongs to another user; not run (specify the program if you trust it)",
                 trace);
    return false;
}

void rerun_output_name(char *to, size_t size, const char *trace, const char *ending)
{
    const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace;
    const char *dot = strrchr(name, '.');
    int length = dot && strcmp(dot, ".poet") == 0 ? (int)(dot - name) : (int)strlen(name);
    snprintf(to, size, "%.*s.%s.poet", length, name, ending);
}
