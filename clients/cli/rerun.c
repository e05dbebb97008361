#define _GNU_SOURCE
#include "clients/cli/rerun.h"

#include "base/alloc.h"
#include "wire/limits.h"
#include "wire/text.h"
#include "wire/variable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the environment: its variables ---- */

#define SHOWN_MOST 8u /* maximum number of names in a message */

extern char **environ;

/* A recorded variable; value: NULL if only its checksum was recorded. */
struct variable {
    char *name;
    const char *value;
    uint16_t check;
};

static struct variable variable_of(const char *entry)
{
    size_t size = strlen(entry), name = variable_name_bytes(entry);
    if (entry[name])
        return (struct variable){.name = xstrndup(entry, name),
                                 .value = entry + name + 1,
                                 .check = variable_check(entry + name + 1)};
    name = size > VARIABLE_CHECK_BYTES ? size - VARIABLE_CHECK_BYTES : 0;
    return (struct variable){.name = xstrndup(entry, name),
                             .check = name ? (uint16_t)strtoul(entry + name + 1, NULL, 16) : 0};
}

static const struct process_info *variables_process(const struct trace_metadata *book)
{
    return book->process_count && book->processes[0].variable_count ? &book->processes[0] : NULL;
}

/* Returns whether no variable was left out for lack of space, so that a missing one was not set. */
static bool variables_are_all(const struct process_info *p)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < p->variable_count; i++)
        bytes += strlen(p->variables[i]) + VARIABLE_CHECK_BYTES + 4;
    return p->variable_count < VARIABLES_MOST && bytes + VARIABLE_BYTES + 4 <= VARIABLES_BYTES;
}

static bool variables_has(const struct process_info *p, const char *name, size_t size)
{
    for (uint32_t i = 0; i < p->variable_count; i++) {
        const char *entry = p->variables[i];
        bool kept = entry[variable_name_bytes(entry)] == '=';
        size_t n = kept                                   ? variable_name_bytes(entry)
                   : strlen(entry) > VARIABLE_CHECK_BYTES ? strlen(entry) - VARIABLE_CHECK_BYTES
                                                          : 0;
        if (n == size && strncmp(entry, name, n) == 0)
            return true;
    }
    return false;
}

/* Returns whether the value of a variable is recorded if it is set. */
static bool variables_decides(const struct trace_metadata *book, const char *name, size_t size)
{
    bool is = variable_is_known(name, size);
    for (size_t i = 0; i < book->target_count; i++)
        is |= variable_is_of(name, size, book->targets[i]->name);
    return is && !variable_is_own(name, size);
}

/* Returns whether shells, terminals or sessions change the variable by themselves. */
static bool variables_is_of_session(const char *name, size_t size)
{
    static const char *const names[] = {
        "_",    "PWD",      "OLDPWD",         "SHLVL",   "COLUMNS",         "LINES",
        "TERM", "WINDOWID", "XDG_SESSION_ID", "SSH_TTY", "DEBUGINFOD_URLS", NULL};
    for (size_t i = 0; names[i]; i++)
        if (strlen(names[i]) == size && strncmp(names[i], name, size) == 0)
            return true;
    return strncmp(name, "SSH_C", 5) == 0 || variable_is_own(name, size);
}

/* ---- the environment: restoring it ---- */

struct variables_list {
    char *text;
    uint32_t count;
};

static void variables_report(struct variables_list *list, const char *before, const char *name,
                             const char *after)
{
    if (list->count++ > SHOWN_MOST)
        return;
    char *readable = text_readable(after, strlen(after), false);
    char *more = list->count > SHOWN_MOST
                     ? xasprintf("%s, ...", list->text)
                     : xasprintf("%s%s%s%s%s", list->text ? list->text : "", list->text ? ", " : "",
                                 before, name, readable ? readable : "");
    free(readable);
    free(list->text);
    list->text = more;
}

static void variables_set(const struct process_info *p, struct variables_list *list)
{
    for (uint32_t i = 0; i < p->variable_count; i++) {
        struct variable v = variable_of(p->variables[i]);
        const char *now = getenv(v.name);
        if (v.value && *v.name && (!now || strcmp(now, v.value) != 0) &&
            setenv(v.name, v.value, 1) == 0) {
            char *value = xasprintf("=%s", v.value);
            variables_report(list, "", v.name, value);
            free(value);
        }
        free(v.name);
    }
}

/* Returns the first variable that is set now and was not in the recorded run; NULL: none. */
static char *variables_find_new(const struct trace_metadata *book, const struct process_info *p)
{
    for (char **at = environ; variables_are_all(p) && at && *at; at++) {
        size_t size = variable_name_bytes(*at);
        if (variables_decides(book, *at, size) && !variables_has(p, *at, size))
            return xstrndup(*at, size);
    }
    return NULL;
}

void variables_restore(const struct command *command, const struct trace_metadata *book, bool quiet)
{
    const struct process_info *p = variables_process(book);
    struct variables_list list = {0};
    if (!p)
        return;
    variables_set(p, &list);
    for (char *name; (name = variables_find_new(book, p)) != NULL;) {
        bool gone = unsetenv(name) == 0;
        variables_report(&list, "without ", name, "");
        free(name);
        if (!gone)
            break;
    }
    if (list.text && !quiet)
        command_fail(command, "environment restored from the trace: %s", list.text);
    free(list.text);
}

/* ---- the environment: comparing it ---- */

static void variables_compare(const struct process_info *p, struct variables_list *other,
                              struct variables_list *gone)
{
    for (uint32_t i = 0; i < p->variable_count; i++) {
        struct variable v = variable_of(p->variables[i]);
        const char *now = getenv(v.name);
        if (variables_is_of_session(v.name, strlen(v.name)))
            ;
        else if (!now)
            variables_report(gone, "", v.name, "");
        else if (v.value ? strcmp(now, v.value) != 0 : variable_check(now) != v.check)
            variables_report(other, "", v.name, "");
        free(v.name);
    }
}

static void variables_find_added(const struct process_info *p, struct variables_list *new)
{
    for (char **at = environ; variables_are_all(p) && at && *at; at++) {
        size_t size = variable_name_bytes(*at);
        if (variables_is_of_session(*at, size) || variables_has(p, *at, size))
            continue;
        char *name = xstrndup(*at, size);
        variables_report(new, "", name, "");
        free(name);
    }
}

char *variables_differ(const struct trace_metadata *book)
{
    const struct process_info *p = variables_process(book);
    struct variables_list list[3] = {{0}};
    static const char *const words[] = {"different value", "no longer set", "newly set"};
    char *all = NULL;
    if (!p)
        return NULL;
    variables_compare(p, &list[0], &list[1]);
    variables_find_added(p, &list[2]);
    for (size_t i = 0; i < 3; i++) {
        char *more = list[i].text ? xasprintf("%s%s%s: %s", all ? all : "", all ? "; " : "",
                                              words[i], list[i].text)
                                  : NULL;
        free(list[i].text);
        if (!more)
            continue;
        free(all);
        all = more;
    }
    return all;
}

/* ---- the program ---- */

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
    setenv("POET_PREPARE_REPORT", "0", 1); /* the trace is compared, and mostly deleted */
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

static bool rerun_is_cut(const struct process_info *process)
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
static bool rerun_is_made_readable(const char *path)
{
    for (const char *c = path; *c; c++)
        if (strncmp(c, "\xef\xbf\xbd", 3) == 0 || strncmp(c, "\xe2\x90", 2) == 0)
            return true;
    return false;
}

char **rerun_arguments(const struct trace_metadata *book)
{
    const struct process_info *first = book->process_count ? &book->processes[0] : NULL;
    if (!first || !first->argument_count || rerun_is_cut(first))
        return NULL;
    char **words = calloc(first->argument_count + 1u, sizeof *words);
    for (uint32_t i = 0; words && i < first->argument_count; i++)
        words[i] = first->arguments[i];
    bool here = strchr(words ? words[0] : "", '/') && access(words[0], X_OK) == 0;
    if (words && !here && first->path)
        words[0] = first->path;
    if (words && !here && first->path && rerun_is_made_readable(first->path)) {
        free(words);
        return NULL;
    }
    return words;
}

/* Prints a word quoted for a shell, with control characters made visible. */
static void rerun_write_word(FILE *to, const char *word)
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
        rerun_write_word(to, words[i]);
    }
    if (to)
        fclose(to);
    return line;
}

/* Returns whether the trace belongs to another user: its command may be anything. */
static bool rerun_is_of_another_user(const char *trace)
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
    bool foreign = rerun_is_of_another_user(trace);
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
