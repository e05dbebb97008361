/* poet source: the program's source, annotated with run time and wait time. */
#include "base/alloc.h"
#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"
#include "clients/sourcefile/annotated_source.h"
#include "config/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define AROUND 2u /* default --context, in lines */

enum { OPTION_PATH = 3000, OPTION_CONTEXT, OPTION_ALL };

struct source_options {
    struct table_settings tables; /* first member: table_section.make gets a pointer to it */
    struct source_file_search search;
    struct annotated_source_options lines;
    const char *file; /* NULL: list all files, one row each */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Lines of a file:", 1},
    {"context", OPTION_CONTEXT, "N", 0, "lines before and after each line with values (2)", 1},
    {"all", OPTION_ALL, NULL, 0, "the whole file, or function", 1},
    {"path", OPTION_PATH, "FROM=TO", 0,
     "look for sources compiled below FROM below TO; or a directory to search for files by name; "
     "may be repeated",
     1},
    {0}};

static error_t source_receive_number(struct source_options *w, const char *value)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    w->lines.around = (unsigned)n;
    if (!*end && *value && *value != '-' && n <= INT_MAX)
        return 0;
    command_usage(w->tables.command, "--context %s: invalid number of lines", value);
    return EINVAL;
}

static const struct option_row source_rows[] = {
    OPTION_CHILD_INPUT(struct source_options, tables),
    OPTION_SETS(OPTION_ALL, struct source_options, lines.all),
    {0}};

static error_t source_parse_option(int key, char *value, struct argp_state *state)
{
    struct source_options *w = state->input;
    switch (key) {
    case OPTION_CONTEXT:
        return source_receive_number(w, value);
    case OPTION_PATH:
        source_files_open_search(&w->search, value);
        return 0;
    default:
        return option_rows_parse(source_rows, key, value, state);
    }
}

/* ---- the tables ---- */

static void add_note(struct result_table *t, char *note)
{
    ARRAY_PUSH(t->notes, t->note_count, note);
}

static void note_file(struct result_table *t, const struct trace_metadata *book,
                      const struct source_file_text *written)
{
    char *path = annotated_source_path(written->path);
    if (written->problem)
        add_note(t, xasprintf("%s: %s; use --path FROM=TO", path, written->problem));
    else if (written->changed_ns > (int64_t)book->run.wall_ns)
        add_note(t, xasprintf("%s was modified after the run; line numbers may be off", path));
    free(path);
}

static int no_file(const struct source_options *w, const struct line_costs *l, bool several)
{
    char *all = xstrdup("");
    for (uint32_t i = 0; i < l->file_count && i < 10; i++) {
        char *path = annotated_source_path(line_costs_path(&l->files[i]));
        char *more = xasprintf("%s%s%s", all, i ? ", " : "", path);
        free(path);
        free(all);
        all = more;
    }
    command_usage(w->tables.command,
                  several ? "%s: ambiguous file name: %s"
                          : "%s: no events or samples of this run are in it; source files: %s",
                  w->file, *all ? all : "none");
    free(all);
    return EXIT_USAGE;
}

static int make_lines(const struct source_options *w, const struct trace_metadata *book,
                      const struct line_costs *l, struct result_table *t)
{
    bool several;
    const struct line_costs_file *file = line_costs_find(l, w->file, &several);
    struct source_file_text written = {0};
    if (!file)
        return no_file(w, l, several);
    source_files_read(&written, &w->search, file->path);
    bool any = annotated_source_lines(t, l, file, &written, &w->lines);
    if (any && *file->path)
        note_file(t, book, &written);
    source_files_free(&written);
    return any ? EXIT_DONE
               : command_usage(w->tables.command, "%s: no events or samples of this run are in %s",
                               w->file, w->lines.function ? w->lines.function : "it");
}

static bool comes_before(const struct table_settings *o, const struct table_cell *a,
                         const struct table_cell *b)
{
    int order = a->is == CELL_TEXT && b->is == CELL_TEXT ? strcmp(a->text, b->text) : 0;
    if (a->is == CELL_NULL || b->is == CELL_NULL)
        return a->is != CELL_NULL && b->is == CELL_NULL;
    if (a->is == CELL_NUMBER)
        order = a->number < b->number ? -1 : a->number > b->number;
    else if (a->is == CELL_REAL)
        order = a->real < b->real ? -1 : a->real > b->real;
    return o->backwards ? order < 0 : order > 0;
}

/* Insertion sort: there are few rows, mostly in order already. */
static void sort_files(const struct table_settings *o, struct result_table *t, uint32_t column)
{
    size_t bytes = t->column_count * sizeof *t->cells;
    struct table_cell *one = xmalloc(bytes);
    for (uint32_t i = 1; i < t->row_count; i++)
        for (uint32_t k = i; k > 0; k--) {
            struct table_cell *before = result_table_cells(t, k - 1),
                              *at = result_table_cells(t, k);
            if (!comes_before(o, &at[column], &before[column]))
                break;
            memcpy(one, before, bytes);
            memcpy(before, at, bytes);
            memcpy(at, one, bytes);
        }
    free(one);
}

static void drop_last(struct result_table *t)
{
    struct table_cell *cells = result_table_cells(t, --t->row_count);
    for (uint32_t i = 0; i < t->column_count; i++)
        if (cells[i].is == CELL_TEXT)
            free(cells[i].text);
    free(t->rows[t->row_count].lines);
}

static int make_files(const struct source_options *w, const struct trace_metadata *book,
                      const struct line_costs *l, struct result_table *t)
{
    annotated_source_files(t, l, &w->search, (int64_t)book->run.wall_ns);
    uint32_t column = w->tables.sort ? result_table_find_column(t, w->tables.sort) : 0;
    if (column == t->column_count)
        return command_usage(w->tables.command, "--sort: unknown column \"%s\"", w->tables.sort);
    if (w->tables.sort)
        sort_files(&w->tables, t, column);
    while (w->tables.top && t->row_count > w->tables.top)
        drop_last(t);
    return EXIT_DONE;
}

/* Makes a table of source lines from the server's table of code places, since only the client has
 * the debug information. */
static int source_make_table(const struct table_settings *o, struct command_source *subject,
                             struct result_table *t)
{
    const struct source_options *w = (const struct source_options *)(const void *)o;
    struct table_settings plain = *o;
    struct table_section section = {.what = "source"};
    struct table_names names = {&subject->source.book, subject->sites};
    struct result_table places = {0};
    struct line_costs costs = {0};
    plain.sort = NULL;
    plain.top = 0;
    plain.backwards = false;
    int status = table_request_run(&plain, &section, subject, &places);
    if (status == EXIT_DONE && !line_costs_make(&costs, &names, &places))
        status = command_fail(o->command, "unexpected table in the server's response");
    if (status == EXIT_DONE)
        status = (w->file ? make_lines : make_files)(w, names.book, &costs, t);
    for (uint32_t i = 0; status == EXIT_DONE && i < places.note_count; i++)
        add_note(t, xstrdup(places.notes[i]));
    line_costs_free(&costs);
    result_table_free(&places);
    return status;
}

/* ---- the command ---- */

static int source_check_options(const struct source_options *w)
{
    const struct table_settings *o = &w->tables;
    if (w->file && o->sort)
        return command_usage(o->command, "--sort: lines are listed in file order; use --top N for "
                                         "the most expensive");
    return EXIT_DONE;
}

static int run_on(struct source_options *w, int argc, char **argv, int first)
{
    const char *source = command_source_name(argc, argv, &first);
    w->file = first < argc ? argv[first++] : NULL;
    w->lines.function = first < argc ? argv[first++] : NULL;
    w->lines.top = w->tables.top;
    if (first < argc)
        return command_usage(w->tables.command, "extra operand: %s", argv[first]);
    int status = source_check_options(w);
    if (status != EXIT_DONE)
        return status;
    struct command_source subject;
    struct table_section section = {.make = source_make_table,
                                    .words = w->file ? annotated_source_write : NULL};
    if (w->tables.columns)
        section.words = NULL;
    table_progress_begin(w->tables.command);
    if (!command_source_open(w->tables.command, &subject, source,
                             table_request_session_lines(&w->tables),
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    command_source_warn_updated(w->tables.command, &subject);
    status = table_output_run(&w->tables, &subject, &section, 1);
    command_source_close(&subject);
    return status;
}

static int source_run(const struct command *command, int argc, char **argv)
{
    struct source_options w = {.tables = {.command = command, .paper = true},
                               .lines = {.around = AROUND}};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status == OPTIONS_READ)
        status = run_on(&w, argc, argv, first);
    source_files_search_free(&w.search);
    return status;
}

static const struct argp argp = {
    .options = options,
    .parser = source_parse_option,
    .args_doc = "[SOURCE [FILE [FUNCTION]]]",
    .doc =
        "Annotate source: files, lines of a file, or lines of a function, with calls, self and "
        "total time (poetcc -profile), time run between events, time waited there, delay caused to "
        "other threads (as poet waits attributes it), and time on the critical path.  Self time is "
        "shown at the first line of a function.  A row of several lines, as 12-15, covers a code "
        "segment from the first to the last; text in brackets names a segment from or to another "
        "place.  Each nanosecond is counted in one row only, so that sums equal those of the other "
        "tables.  %: self (or run) time and caused wait, of all.",
    .children = tables_children};

const struct command command_source = {.name = "source",
                                       .summary = "annotate source lines with run time and "
                                                  "wait time",
                                       .run = source_run,
                                       .argp = &argp};
