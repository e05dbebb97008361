/* The options shared by all commands that print a table. */
#include "clients/cli/table_options.h"

#include "base/alloc.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/paper_size.h"
#include "clients/cli/terminal.h"
#include "clients/metadata/event_text.h"
#include "config/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_BY = 2000,
    OPTION_THREADS,
    OPTION_FROM,
    OPTION_TO,
    OPTION_PAST_OF,
    OPTION_COLUMNS,
    OPTION_SORT,
    OPTION_TOP,
    OPTION_TREE,
    OPTION_WIDTH_OF,
    OPTION_CSV,
    OPTION_CHART,
    OPTION_BASELINE,
    OPTION_FOLLOW
};

/* What the shared options take in each command; NULL: the option is hidden from its help. */
static const struct table_command {
    const char *name, *rows, *charts, *tree;
    bool single; /* its rows cannot be compared with those of another run */
} table_commands[] = {
    {"states", "thread (default), state, processor, cluster or cpu",
     "transitions (thread states over time) or gantt (activity); curves with --concurrency", NULL,
     false},
    {"waits", "place (default), pattern, object, site, thread, wait or category",
     "bars (needs -o) or icicle (flame graph)", "waited", false},
    {"locks", "lock (default), hold (of one --object) or convoy", NULL, NULL, false},
    {"path", "segment (default), thread, piece or category",
     "transitions (thread states over time) or gantt (activity), with the critical path", NULL,
     false},
    {"calls", "function (default), path, thread, cpu, file or category",
     "icicle (flame graph) or tree (call graph; needs -o)", "total", false},
    {"memory", "place (default), path, function, file, thread, library or block",
     "icicle (flame graph) or curves (over time)", "bytes", false},
    {"usage", "program (default) or thread", "curves (over time)", NULL, false},
    {"metrics", "metric (default) or thread",
     "curves (over time) or kiviat (metrics that have a range of good values)", NULL, false},
    {.name = "source", .single = true},
    {.name = "predict", .single = true},
    {.name = "state", .single = true},
    {.name = "races", .single = true},
};

static struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Rows:", 2},
    {"by", OPTION_BY, "WHAT", 0, "one row per", 2},
    {"threads", OPTION_THREADS, "LIST", 0,
     "only these threads: numbers, or names with * and ?, separated by commas", 2},
    {"from", OPTION_FROM, "WHEN", 0,
     "start at an event (LINE:NUMBER) or at a time since the start of the run (1.5s, 20ms, 300us, "
     "5ns)",
     2},
    {"to", OPTION_TO, "WHEN", 0, "end at an event or a time", 2},
    {"past-of", OPTION_PAST_OF, "EVENT", 0, "only the causal past of EVENT", 2},
    {"sort", OPTION_SORT, "COLUMN", 0, "largest value first; -COLUMN: smallest first", 2},
    {"top", OPTION_TOP, "N", 0, "only the first N rows, with their sub-rows", 2},
    {"tree", OPTION_TREE, NULL, 0, "as a tree; with -o FILE.pdf, .svg or .png an icicle graph", 2},
    {NULL, 0, NULL, 0, "Columns:", 3},
    {"columns", OPTION_COLUMNS, "LIST", 0,
     "only these columns: JSON names, separated by commas, or all; default: the most useful ones "
     "(JSON and CSV: all)",
     3},
    {"baseline", OPTION_BASELINE, "SOURCE", 0,
     "compare with another run: add difference and percentage columns", 3},
    {NULL, 0, NULL, 0, "Output:", 4},
    {"json", 'j', NULL, 0, "one JSON object per line: the columns, each row, the totals", 4},
    {"csv", OPTION_CSV, NULL, 0, "CSV (RFC 4180) with the JSON names of the columns", 4},
    {"output", 'o', "FILE", 0,
     "write to FILE; the suffix selects the format: .pdf, .svg, .png, .txt, .csv or .json", 4},
    {"chart", OPTION_CHART, "KIND", 0, "a chart, as text or with -o as an image:", 4},
    {"width-of", OPTION_WIDTH_OF, "COLUMN", 0, "icicle: scale the boxes by this column", 4},
    {"grayscale", 'g', NULL, 0, "grayscale", 4},
    {"width", 'w', "WIDTH", 0, "scale to WIDTH (84mm, 17cm, 5in)", 4},
    {"follow", OPTION_FOLLOW, NULL, 0, "update as the run grows, until it ends", 4},
    {0}};

/* ---- help ---- */

static const struct table_command *table_command_find(const struct table_settings *o)
{
    static const struct table_command none;
    for (size_t i = 0; o && o->command && i < sizeof table_commands / sizeof *table_commands; i++)
        if (strcmp(table_commands[i].name, o->command->name) == 0)
            return &table_commands[i];
    return &none;
}

/* Returns the values of an option in a command; NULL: the command does not have it. */
static const char *table_command_values(const struct table_command *command, int key)
{
    switch (key) {
    case OPTION_BY:
        return command->rows;
    case OPTION_CHART:
        return command->charts;
    case OPTION_TREE:
    case OPTION_WIDTH_OF:
        return command->tree;
    case OPTION_BASELINE:
        return command->single ? NULL : "";
    default:
        return "";
    }
}

/* Hides from the help of a command the options that it does not have. */
static void table_options_hide(const struct table_settings *o)
{
    const struct table_command *command = table_command_find(o);
    for (struct argp_option *option = options; option->name || option->doc; option++)
        if (option->key)
            option->flags = table_command_values(command, option->key) ? 0 : OPTION_HIDDEN;
}

static char *table_options_help_text(int key, const char *text, void *input)
{
    const char *values = table_command_values(table_command_find(input), key);
    if (!values || !*values || key == OPTION_TREE)
        return (char *)(uintptr_t)text;
    return key == OPTION_WIDTH_OF ? xasprintf("%s (default: %s)", text, values)
                                  : xasprintf("%s %s", text, values);
}

/* ---- parsing ---- */

#define bad(o, ...) (command_usage((o)->command, __VA_ARGS__), EINVAL) /* parsing stops */

static error_t table_options_parse_event(const struct table_settings *o, struct event_id *ref,
                                         const char *value)
{
    if (event_id_parse(value, ref) && ref->line && !(ref->line & HIDDEN_LINE))
        return 0;
    return bad(o, "%s: not an event (LINE:NUMBER, as in 2:17)", value);
}

bool table_end_read(const char *value, struct table_end *end)
{
    *end = (struct table_end){.is = TABLE_AT_NS};
    if (duration_read(value, &end->at))
        return true;
    end->is = TABLE_AT_EVENT;
    return event_id_parse(value, &end->event) && end->event.line &&
           !(end->event.line & HIDDEN_LINE);
}

static error_t table_options_parse_end(const struct table_settings *o, struct table_end *end,
                                       const char *value)
{
    return table_end_read(value, end) ? 0
                                      : bad(o, "%s: not an event (2:17) or a time (20ms)", value);
}

static error_t table_options_parse_top(struct table_settings *o, const char *value)
{
    return command_number(value, UINT32_MAX, &o->top)
               ? 0
               : bad(o, "--top %s: not a number of rows", value);
}

static error_t table_options_parse_width(struct table_settings *o, const char *value)
{
    return paper_size_width(value, &o->page.width_pt)
               ? 0
               : bad(o, "--width %s: not a width (20pt to 14400pt, 84mm, 16cm, 3.3in)", value);
}

static error_t table_options_parse_baseline(struct table_settings *o, const char *value)
{
    o->baseline = value;
    return table_command_find(o)->single
               ? bad(o, "--baseline: rows of this command cannot be compared between runs")
               : 0;
}

static const struct option_row table_options_rows[] = {
    OPTION_STORES(OPTION_BY, struct table_settings, by),
    OPTION_STORES(OPTION_THREADS, struct table_settings, threads),
    OPTION_STORES(OPTION_CHART, struct table_settings, chart),
    OPTION_STORES(OPTION_WIDTH_OF, struct table_settings, width_of),
    OPTION_STORES(OPTION_COLUMNS, struct table_settings, columns),
    OPTION_STORES('o', struct table_settings, file),
    OPTION_SETS('j', struct table_settings, json),
    OPTION_SETS(OPTION_CSV, struct table_settings, csv),
    OPTION_SETS('g', struct table_settings, page.theme.grey),
    OPTION_SETS(OPTION_FOLLOW, struct table_settings, follow),
    OPTION_SETS(OPTION_TREE, struct table_settings, tree),
    {0}};

static error_t table_options_parse_option(int key, char *value, struct argp_state *state)
{
    struct table_settings *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        table_options_hide(o);
        return 0;
    case OPTION_FROM:
        return table_options_parse_end(o, &o->from, value);
    case OPTION_TO:
        return table_options_parse_end(o, &o->to, value);
    case OPTION_PAST_OF:
        return table_options_parse_event(o, &o->past_of, value);
    case OPTION_BASELINE:
        return table_options_parse_baseline(o, value);
    case OPTION_SORT:
        o->backwards = *value == '-';
        o->sort = value + o->backwards;
        return 0;
    case OPTION_TOP:
        return table_options_parse_top(o, value);
    case 'w':
        return table_options_parse_width(o, value);
    default:
        return option_rows_parse(table_options_rows, key, value, state);
    }
}

const struct argp tables_options = {.options = options,
                                    .parser = table_options_parse_option,
                                    .help_filter = table_options_help_text};

const struct argp_child tables_children[] = {{&tables_options, 0, NULL, 0},
                                             {&labels_options, 0, NULL, 0},
                                             {&color_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};

const struct argp_child tables_finding_children[] = {
    {&tables_options, 0, NULL, 0}, {&finding_options, 0, NULL, 0}, {&labels_options, 0, NULL, 0},
    {&color_options, 0, NULL, 0},  {&options_common, 0, NULL, 0},  {0}};
