/* poet find: matches of a pattern of events. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/pattern_request.h"
#include "clients/cli/table_options.h"
#include "clients/connection/pattern_names.h"
#include "config/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIND_NONE 1
#define FIND_FAILED 2

enum { OPTION_COUNT = 3100, OPTION_FIRST, OPTION_LIMIT, OPTION_LIST, OPTION_UNCERTAIN };

struct find_options {
    struct table_settings tables; /* first member: table_section.make gets a pointer to it */
    const char *limit, *pattern_file, *name;
    bool count, first, uncertain, list;
    char *text; /* the pattern; NULL: that with the name, once the run is opened */
    struct event_pattern *pattern;
    int64_t found; /* number of matches */
};

/* ---- the table ---- */

static int find_make_table(const struct table_settings *o, struct command_source *subject,
                           struct result_table *t)
{
    static char pattern[] = "pattern", limit[] = "limit", first[] = "first",
                uncertain[] = "uncertain", counted[] = "counted", yes[] = "1", none[] = "0",
                all[] = "18446744073709551615";
    struct find_options *w = (struct find_options *)(uintptr_t)o;
    struct table_option options[6] = {{0}};
    size_t n = 0;
    options[n++] = (struct table_option){
        pattern, pattern_request_text(o->command, subject, w->text, w->pattern)};
    if (!options[0].value)
        return EXIT_USAGE;
    if (w->limit)
        options[n++] = (struct table_option){limit, (char *)(uintptr_t)w->limit};
    else if (w->count)
        options[n++] = (struct table_option){limit, none};
    if (w->limit || w->count)
        options[n++] = (struct table_option){counted, w->limit ? none : all};
    if (w->first)
        options[n++] = (struct table_option){first, yes};
    if (w->uncertain)
        options[n++] = (struct table_option){uncertain, yes};
    struct table_section section = {.what = "matches", .options = options};
    int status = table_request_run(o, &section, subject, t);
    free(options[0].value);
    uint32_t match = result_table_find_column(t, "match");
    if (status == EXIT_DONE && t->total && match < t->column_count)
        w->found = t->total[match].number;
    return status;
}

/* Prints the number of matches. */
static int find_print_count(const struct find_options *w, struct command_source *subject)
{
    struct result_table t = {0};
    int status = find_make_table(&w->tables, subject, &t);
    if (status == EXIT_DONE)
        printf("%lld\n", (long long)w->found);
    for (uint32_t i = 0; status == EXIT_DONE && i < t.note_count; i++)
        fprintf(stderr, "poet find: %s\n", t.notes[i]);
    result_table_free(&t);
    return status;
}

/* ---- the library of patterns ---- */

static int find_list(struct command_source *subject)
{
    const struct trace_metadata *book = &subject->source.book;
    size_t width = 0;
    for (size_t t = 0; t < book->target_count; t++)
        for (size_t i = 0; i < book->targets[t]->pattern_count; i++) {
            size_t n = strlen(book->targets[t]->patterns[i].name);
            width = n > width ? n : width;
        }
    for (size_t t = 0; t < book->target_count; t++)
        for (size_t i = 0; i < book->targets[t]->pattern_count; i++)
            printf("%-*s  %s\n", (int)width, book->targets[t]->patterns[i].name,
                   book->targets[t]->patterns[i].title);
    return EXIT_DONE;
}

/* Sets the pattern of the run's descriptions with the name; returns an exit status. */
static int find_read_named(struct find_options *w, struct command_source *subject)
{
    const struct trace_metadata *book = &subject->source.book;
    struct pattern_error error;
    for (size_t t = 0; t < book->target_count && !w->text; t++)
        for (size_t i = 0; i < book->targets[t]->pattern_count && !w->text; i++)
            if (strcmp(book->targets[t]->patterns[i].name, w->name) == 0)
                w->text = xstrdup(book->targets[t]->patterns[i].text);
    w->pattern = w->text ? event_pattern_read(w->text, &error) : NULL;
    return w->pattern ? EXIT_DONE
                      : command_usage(w->tables.command,
                                      "-p %s: no such pattern; see poet find --list", w->name);
}

/* ---- the command ---- */

/* Reads the pattern's file; NULL after reporting an error. */
static char *find_read_file(const struct command *command, const char *name)
{
    char *text = xcalloc(PATTERN_BYTES_MAX + 2, 1);
    FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    size_t n = f ? fread(text, 1, PATTERN_BYTES_MAX + 1, f) : 0;
    bool failed = !f || ferror(f);
    if (failed)
        command_fail(command, "%s: %s", name, strerror(errno));
    if (f && f != stdin)
        fclose(f);
    if (!failed && strlen(text) == n)
        return text;
    if (!failed)
        command_fail(command, "%s: not a text file", name);
    free(text);
    return NULL;
}

static int find_run_on(struct find_options *w, int argc, char **argv, int first)
{
    struct table_settings *o = &w->tables;
    struct command_source subject;
    struct table_section section = {.what = "matches", .make = find_make_table};
    const char *source = command_source_name(argc, argv, &first);
    bool all = w->name || (w->pattern && pattern_names_lines(w->pattern));
    if (argc != first)
        return command_usage(o->command, "extra operand: %s", argv[first]);
    table_progress_begin(o->command);
    if (!command_source_open(o->command, &subject, source,
                             all ? SESSION_ALL_LINES : table_request_session_lines(o),
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    command_source_warn_updated(o->command, &subject);
    bool number = w->count && !o->json && !o->csv && !o->file;
    int status = w->name ? find_read_named(w, &subject) : EXIT_DONE;
    if (status == EXIT_DONE)
        status = w->list  ? find_list(&subject)
                 : number ? find_print_count(w, &subject)
                          : table_output_run(o, &subject, &section, 1);
    command_source_close(&subject);
    return status;
}

static int find_run(const struct command *command, int argc, char **argv)
{
    struct find_options w = {.tables = {.command = command}};
    struct pattern_error error;
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status == EXIT_DONE ? EXIT_DONE : FIND_FAILED;
    bool operand = !w.pattern_file && !w.name && !w.list;
    if (operand && argc == first)
        return command_usage(command, "missing operand: PATTERN");
    if (!w.name && !w.list)
        w.text = operand ? xstrdup(argv[--argc]) : find_read_file(command, w.pattern_file);
    if (w.pattern_file && !w.text)
        return FIND_FAILED;
    w.pattern = w.text ? event_pattern_read(w.text, &error) : NULL;
    status = w.pattern || !w.text
                 ? find_run_on(&w, argc, argv, first)
                 : command_usage(command, "pattern: column %u: %s", error.column, error.text);
    event_pattern_free(w.pattern);
    free(w.text);
    return status != EXIT_DONE ? FIND_FAILED : w.found || w.list ? EXIT_DONE : FIND_NONE;
}

static const struct argp_option options[] = {
    {"count", OPTION_COUNT, NULL, 0, "print only the number of matches", 1},
    {"file", 'f', "FILE", 0, "read the pattern from a file; -: from standard input", 1},
    {"first", OPTION_FIRST, NULL, 0,
     "only the first match of each event with the pattern's first name", 1},
    {"limit", OPTION_LIMIT, "N", 0,
     "stop after N matches (default: list 1000 and count the others)", 1},
    {"list", OPTION_LIST, NULL, 0, "list the patterns of the run's target descriptions", 1},
    {"pattern", 'p', "NAME", 0, "find the pattern of that name of the run's descriptions", 1},
    {"uncertain", OPTION_UNCERTAIN, NULL, 0,
     "also list matches that rest on an unknown order (column uncertain: 1)", 1},
    {0}};

static const struct option_row find_rows[] = {
    OPTION_CHILD_INPUT(struct find_options, tables),
    OPTION_SETS(OPTION_COUNT, struct find_options, count),
    OPTION_STORES('f', struct find_options, pattern_file),
    OPTION_SETS(OPTION_FIRST, struct find_options, first),
    OPTION_SETS(OPTION_LIST, struct find_options, list),
    OPTION_STORES('p', struct find_options, name),
    OPTION_SETS(OPTION_UNCERTAIN, struct find_options, uncertain),
    {0}};

static error_t find_parse_option(int key, char *value, struct argp_state *state)
{
    struct find_options *w = state->input;
    if (key != OPTION_LIMIT)
        return option_rows_parse(find_rows, key, value, state);
    w->limit = value;
    if (!*value || value[strspn(value, "0123456789")]) {
        command_usage(w->tables.command, "--limit %s: not a number", value);
        return EINVAL;
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = find_parse_option,
    .args_doc = "[SOURCE] PATTERN\n[SOURCE] -f FILE\n[SOURCE] -p NAME\n[SOURCE] --list",
    .doc =
        "Find events by their order.  A pattern names events and says how they are related, in "
        "clauses separated by semicolons: NAME: TYPE defines an event, \"a -> b\": a happened "
        "before b, \"a || b\": they are concurrent, \"a = b\": simultaneous (one synchronization "
        "point), \"a ; b\" or \"a next b\": b is next on the trace line of a, \"a ..5ms b\": b at "
        "most 5 ms after a, \"!c between a b\": no c between them in the order, a.object = "
        "b.object (also thread, line, type, kind, place, process): the same one, a.text ~ /RE/: "
        "an annotation that matches.  A name that is not defined is an event of that type.\v"
        "Example: poet find 's: signal; w: wait; s || w; s.object = w.object'.  docs/find.md has "
        "the whole language.  Exit status: 0 if there is a match, 1 if there is none, 2 on "
        "errors.",
    .children = tables_children};

const struct command command_find = {.name = "find",
                                     .summary = "find patterns of events in the happened-before "
                                                "order",
                                     .run = find_run,
                                     .argp = &argp};
