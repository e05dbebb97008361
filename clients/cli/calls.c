/* poet calls: the function profile (calls, self and total time), as a table or in other formats. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/calls.h"
#include "clients/cli/command_source.h"
#include "clients/connection/call_groups.h"
#include "config/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- blocks (--blocks) ----
 * The code segments of a function between the calls that it makes. */

/* Returns the line of a place, "17" of "flow.c:17"; "" if it is unknown. */
static const char *call_blocks_line(struct command_source *subject, const struct table_cell *cell,
                                    char line[16])
{
    const char *place =
                   cell->is == CELL_PLACE
                       ? symbolize(subject->sites, cell->place.process, cell->place.address).place
                       : "",
               *colon = strrchr(place, ':');
    *line = '\0';
    if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] && strlen(colon) < 16)
        snprintf(line, 16, "%s", colon + 1);
    return line;
}

/* Returns whether some lines between begin and end are not part of this block: another block begins
 * in between, or the end is not behind the begin. */
static bool call_blocks_skip_matches(const struct result_table *t, uint32_t from,
                                     const struct table_cell *begin, const struct table_cell *end)
{
    uint64_t last = end->is == CELL_PLACE ? end->place.address : UINT64_MAX;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *other = &result_table_cells(t, i)[from];
        if (other->is == CELL_PLACE && other->place.process == begin->place.process &&
            other->place.address > begin->place.address && other->place.address < last)
            return true;
    }
    return last <= begin->place.address;
}

static char *call_blocks_range_text(struct command_source *subject, const struct result_table *t,
                                    uint32_t from, const struct table_cell *begin,
                                    const struct table_cell *end, const struct table_cell *how)
{
    char first[16], last[16];
    call_blocks_line(subject, begin, first);
    call_blocks_line(subject, end, last);
    bool ends = how->is == CELL_TEXT && strcmp(how->text, "to the end") == 0,
         known = end->is == CELL_PLACE || ends;
    if (!*first || (end->is == CELL_PLACE && !*last))
        return NULL;
    if (!known)
        return xasprintf("from %s", first);
    if (end->is != CELL_PLACE)
        memcpy(last, "end", sizeof "end");
    if (call_blocks_skip_matches(t, from, begin, end))
        return xasprintf("%s to %s", first, last);
    return strcmp(first, last) == 0 ? xstrdup(first) : xasprintf("%s-%s", first, last);
}

/* Fills the column "lines" with the source lines from which to which each row leads. */
static void call_blocks_name_lines(struct command_source *subject, struct result_table *t)
{
    uint32_t from = result_table_find_column(t, "from"),
             until = result_table_find_column(t, "until"),
             lines = result_table_find_column(t, "lines");
    if (from == t->column_count || until == t->column_count || lines == t->column_count)
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        struct table_cell *cells = result_table_cells(t, i);
        char *text =
            call_blocks_range_text(subject, t, from, &cells[from], &cells[until], &cells[lines]);
        if (text && cells[lines].is == CELL_TEXT)
            free(cells[lines].text);
        if (text)
            cells[lines] = (struct table_cell){.is = CELL_TEXT, .text = text};
    }
}

/* ---- options ---- */

enum {
    OPTION_GRAPH = 3000,
    OPTION_CYCLES,
    OPTION_CALLERS,
    OPTION_INVERTED,
    OPTION_RAW,
    OPTION_EVERY,
    OPTION_ELAPSED,
    OPTION_CASES,
    OPTION_WITH,
    OPTION_BLOCKS,
    OPTION_LOOPS,
    OPTION_BASIC_BLOCKS,
    OPTION_PER_THREAD,
    OPTION_SUGGEST,
    OPTION_WALL,
    OPTION_FILES
};

struct calls_options {
    struct table_settings tables; /* must be first: calls_make_blocks() and others cast it */
    struct table_option options[6]; /* of calls; terminated by an empty one */
    const char *what; /* the table */
    const char *with; /* name of a function; NULL: none */
    struct table_option *place; /* its address */
    const char *over; /* the column to show per thread; NULL: none */
    const struct profile_format *format; /* NULL: as a table */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which table:", 1},
    {"graph", OPTION_GRAPH, NULL, 0,
     "call graph: each function with its callees, their share of its total time, and times of "
     "single calls",
     1},
    {"callers", OPTION_CALLERS, NULL, 0,
     "each function with its callers, and the share of its total time that each led to; with "
     "--graph callers and callees",
     1},
    {"inverted", OPTION_INVERTED, NULL, 0,
     "inverted call tree: each function, and below it the call paths that led to its self time "
     "(-o FILE.pdf, .html: as an icicle graph)",
     1},
    {"cycles", OPTION_CYCLES, NULL, 0, "recursion cycles", 1},
    {"every", OPTION_EVERY, NULL, 0,
     "list individual calls by start time (needs POET_MEASURE=calls=every); --top N: at most N "
     "(default 100000)",
     1},
    {"elapsed", OPTION_ELAPSED, NULL, 0,
     "wall-clock time during which any thread was in the function (bounds without calls=every)", 1},
    {"cases", OPTION_CASES, NULL, 0,
     "sequential/concurrent classification of calls by that of their callers: S-S, S-C, C-S, C-C, "
     "with numbers and times (needs calls=every); --by thread, processor, cluster or cpu: for each",
     1},
    {"with", OPTION_WITH, "FUNCTION", 0,
     "functions active on other threads during this one, and for how long (needs calls=every)", 1},
    {"blocks", OPTION_BLOCKS, "FUNCTION", 0,
     "time per block between the calls a function makes, by call path or (--by function) in all",
     1},
    {"loops", OPTION_LOOPS, NULL, 0,
     "loops: how often each was entered, its iterations and its time (needs poetcc "
     "-profile=loops); --by thread: for each thread",
     1},
    {"basic-blocks", OPTION_BASIC_BLOCKS, NULL, 0,
     "basic blocks: how often each was reached, and its time (needs poetcc -profile=loops)", 1},
    {"per-thread", OPTION_PER_THREAD, "COLUMN", OPTION_ARG_OPTIONAL,
     "one column per thread: self time, or another COLUMN (calls, total, cpu)", 1},
    {"files", OPTION_FILES, NULL, 0,
     "self time per source file (--by file; --by category: by function category of a description); "
     "--tree: with the functions of each",
     1},
    {"suggest", OPTION_SUGGEST, NULL, 0,
     "print a list for poetcc -profile -ignore=@FILE (with -o into a file): functions with "
     "more than 100000 calls, each shorter than twice the instrumentation overhead",
     1},
    {"wall", OPTION_WALL, NULL, 0,
     "where each thread's wall-clock time went: a tree per thread with what ran on a CPU and what "
     "it waited for (with -o FILE.html, .svg or .pdf: as a flame graph)",
     1},
    {"raw", OPTION_RAW, NULL, 0, "do not subtract estimated instrumentation overhead", 1},
    {"format", 'f', "FORMAT", 0,
     "for other tools: callgrind (KCachegrind), folded (flame graphs) or pprof; with -o into a "
     "file",
     4},
    {0}};

static char yes[] = "yes";

/* Adds an option of the table, once. */
static error_t calls_set_view(struct calls_options *w, const char *key)
{
    unsigned i = 0;
    while (w->options[i].key && strcmp(w->options[i].key, key) != 0)
        i++;
    w->options[i] = (struct table_option){(char *)(uintptr_t)key, yes};
    return 0;
}

static const struct option_row calls_rows[] = {
    OPTION_CHILD_INPUT(struct calls_options, tables),
    OPTION_STORES_CONSTANT(OPTION_EVERY, struct calls_options, what, "entries"),
    OPTION_STORES(OPTION_WITH, struct calls_options, with),
    OPTION_STORES_CONSTANT(OPTION_WITH, struct calls_options, what, "overlap"),
    OPTION_STORES(OPTION_BLOCKS, struct calls_options, with),
    OPTION_STORES_CONSTANT(OPTION_BLOCKS, struct calls_options, what, "blocks"),
    OPTION_STORES_CONSTANT(OPTION_LOOPS, struct calls_options, what, "loops"),
    OPTION_STORES_CONSTANT(OPTION_BASIC_BLOCKS, struct calls_options, what, "basic_blocks"),
    OPTION_STORES_CONSTANT(OPTION_CASES, struct calls_options, what, "seq_conc"),
    OPTION_STORES_CONSTANT(OPTION_ELAPSED, struct calls_options, what, "overlap"),
    OPTION_SETS(OPTION_RAW, struct calls_options, tables.raw),
    OPTION_STORES_CONSTANT(OPTION_FILES, struct calls_options, tables.by, "file"),
    {0}};

static error_t calls_parse_option(int key, char *value, struct argp_state *state)
{
    struct calls_options *w = state->input;
    switch (key) {
    case OPTION_GRAPH:
        return calls_set_view(w, "graph");
    case OPTION_CYCLES:
        return calls_set_view(w, "cycles");
    case OPTION_CALLERS:
        return calls_set_view(w, "callers");
    case OPTION_INVERTED:
        w->tables.tree = true;
        return calls_set_view(w, "inverted");
    case OPTION_WALL:
        w->tables.tree = true;
        w->tables.by = "thread";
        return calls_set_view(w, "wall");
    case OPTION_PER_THREAD:
        w->over = value ? value : "self";
        return 0;
    case OPTION_SUGGEST:
        w->format = &profile_format_exclusions;
        return 0;
    case 'f':
        return profile_format_parse(w->tables.command, value, &w->format);
    default:
        return option_rows_parse(calls_rows, key, value, state);
    }
}

static int calls_convert_profile(struct calls_options *w, struct command_source *subject)
{
    w->tables.by = NULL;
    return profile_format_convert(&w->tables, "calls", w->format, subject);
}

/* ---- single calls, and tables of one function ---- */

/* Finds the address of the function named w->with: the server knows addresses only, so this
 * requests the functions and compares their names here. Returns an exit status. */
static int calls_find_function(struct calls_options *w, struct command_source *subject,
                               char **place)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct table_settings plain = {.command = w->tables.command};
    struct result_table t = {0};
    int status = table_request_run(&plain, &(struct table_section){.what = "calls"}, subject, &t);
    uint32_t scope = result_table_find_column(&t, "function");
    for (uint32_t i = 0; i < t.row_count && scope < t.column_count && !*place; i++) {
        const struct table_cell *cell = &result_table_cells(&t, i)[scope];
        bool matches = (cell->is == CELL_PLACE || cell->is == CELL_NAME) &&
                       result_table_place_matches(&names, cell->place, w->with);
        if (matches)
            *place =
                xasprintf("%u:%llu", cell->place.process, (unsigned long long)cell->place.address);
    }
    result_table_free(&t);
    if (status == EXIT_DONE && !*place)
        status = command_usage(w->tables.command,
                               "--%s %s: no such function in the profile; see poet calls", w->what,
                               w->with);
    return status;
}

/* tables: the first member of a struct calls_options. */
static int calls_make_blocks(const struct table_settings *tables, struct command_source *subject,
                             struct result_table *t)
{
    const struct calls_options *w = (const struct calls_options *)(const void *)tables;
    struct table_section section = {.what = "blocks", .options = w->place};
    int status = table_request_run(tables, &section, subject, t);
    call_blocks_name_lines(subject, t);
    return status;
}

static int calls_show_function(struct calls_options *w, struct command_source *subject)
{
    bool every = strcmp(w->what, "entries") == 0, blocks = strcmp(w->what, "blocks") == 0;
    char *value = NULL, key[] = "with", scope[] = "scope", most[] = "most";
    struct table_option option[] = {{blocks ? scope : w->with ? key : most, NULL}, {0}};
    struct table_section section = {
        .what = w->what, .options = option, .make = blocks ? calls_make_blocks : NULL};
    int status = EXIT_DONE;
    if (w->with)
        status = calls_find_function(w, subject, &value);
    else
        value = xasprintf("%u", every ? w->tables.top : 0);
    option[0].value = value;
    w->place = option;
    if (every)
        w->tables.top = 0;
    if (status == EXIT_DONE)
        status = table_output_run(&w->tables, subject, &section, 1);
    free(value);
    return status;
}

static int calls_run_source(struct calls_options *w, int argc, char **argv, int first,
                            int (*does)(struct calls_options *w, struct command_source *subject))
{
    struct command_source subject;
    const char *source = command_source_name(argc, argv, &first);
    if (argc != first)
        return command_usage(w->tables.command, "extra operand: %s", argv[first]);
    if (!command_source_open(w->tables.command, &subject, source,
                             table_request_session_lines(&w->tables),
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    int status = does(w, &subject);
    command_source_close(&subject);
    return status;
}

static int calls_make_threaded(const struct table_settings *tables, struct command_source *subject,
                               struct result_table *t)
{
    const struct calls_options *w = (const struct calls_options *)(const void *)tables;
    return calls_by_thread_make(tables, w->over, subject, t);
}

static int calls_make_grouped(const struct table_settings *o, struct command_source *subject,
                              struct result_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct call_groups_options how = {o->by, o->tree, o->sort, o->backwards, o->top};
    struct result_table calls = {0};
    struct table_settings flat = *o;
    flat.by = NULL;
    if (o->sort && strcmp(o->sort, "functions") == 0)
        flat.sort = NULL;
    flat.tree = false;
    flat.top = 0;
    int status =
        table_request_run(&flat, &(struct table_section){.what = "calls"}, subject, &calls);
    if (status == EXIT_DONE && !call_groups_make(t, &how, &names, &calls))
        status =
            t->column_count
                ? command_usage(
                      o->command,
                      "--sort %s: not a column of groups; valid: calls, self, net, cpu, functions",
                      o->sort)
                : command_fail(o->command, "unexpected table in the server's response");
    result_table_free(&calls);
    return status;
}

static int calls_check_grouped(const struct calls_options *w)
{
    const struct table_settings *o = &w->tables;
    if (w->over || w->options[0].key)
        return command_usage(o->command, "--by %s: not supported with these options", o->by);
    return o->baseline
               ? command_usage(o->command, "--baseline: of functions, not of files or categories")
               : EXIT_DONE;
}

/* Returns whether calls are grouped by where they ran. That needs a table of its own, since it is
 * known for each call, not for sums. */
static bool calls_is_placement(const char *by)
{
    return by &&
           (strcmp(by, "processor") == 0 || strcmp(by, "cluster") == 0 || strcmp(by, "cpu") == 0);
}

static int calls_run(const struct command *command, int argc, char **argv)
{
    char points[] = "points";
    struct calls_options w = {.tables = {.command = command}, .what = "calls"};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    if (w.format)
        return calls_run_source(&w, argc, argv, first, calls_convert_profile);
    bool loops = strcmp(w.what, "loops") == 0;
    if (loops || strcmp(w.what, "basic_blocks") == 0)
        return table_output_command(
            &w.tables, argc, argv, first,
            &(struct table_section){.make = loops ? calls_make_loops : calls_make_basic_blocks}, 1);
    if (strcmp(w.what, "calls") != 0)
        return calls_run_source(&w, argc, argv, first, calls_show_function);
    bool grouped = call_groups_is_grouping(w.tables.by);
    if (grouped && (status = calls_check_grouped(&w)) != EXIT_DONE)
        return status;
    bool placed = calls_is_placement(w.tables.by);
    if (placed && (w.over || w.options[0].key || w.tables.tree))
        return command_usage(command, "--by %s: not supported with these options", w.tables.by);
    bool inlined = !placed && !grouped && !w.over &&
                   (!w.options[0].key || strcmp(w.options[0].key, "wall") == 0);
    if (inlined) /* those of samples */
        calls_set_view(&w, points);
    struct table_section section = {.what = placed ? "calls_by_cpu" : "calls",
                                    .options = w.options,
                                    .make = grouped  ? calls_make_grouped
                                            : w.over ? calls_make_threaded
                                                     : NULL};
    return table_output_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .options = options,
    .parser = calls_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Show the function profile of a program built with poetcc -profile (POET_MEASURE chooses "
        "what is measured).  Self: time in the function itself; net (JSON and CSV): self without "
        "instrumentation overhead; total: including callees; concurrent: calls that started while "
        "other threads ran (an upper bound without calls=every); INCOMPLETE: not all calls "
        "returned.  With calls=libraries, calls of functions of libraries are measured, too, and "
        "named with their library.  Self times and the time outside functions add up to the "
        "lifetimes of the threads.  A row is a function (--by function), a call path (--by path, "
        "--tree), a thread and its functions (--by thread), a worker thread, cluster or CPU and "
        "its functions (--by processor, cluster, cpu; needs calls=every), a source file or a "
        "category (--by file, category).  "
        "--tree -o FILE.pdf draws an icicle graph.  A part of the run (--from, --to) is covered "
        "from profile snapshot to profile snapshot.",
    .children = tables_children};

const struct command command_calls = {.name = "calls",
                                      .summary = "show the function profile "
                                                 "(calls, self and total time)",
                                      .run = calls_run,
                                      .argp = &argp};
