/* The options that all commands share which print a table. */
#include "clients/cli/table_options.h"

#include "clients/cli/terminal_color.h"
#include "clients/cli/label_option.h"
#include "clients/cli/paper_size.h"
#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_BY = 2000,
    OPTION_LINES,
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
    OPTION_AGAINST,
    OPTION_FOLLOW
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What it is about:", 2},
    {"by", OPTION_BY, "WHAT", 0, "what a row stands for", 2},
    {"lines", OPTION_LINES, "LIST", 0,
     "only these threads: numbers, or names with * and ?, separated by commas", 2},
    {"from", OPTION_FROM, "WHEN", 0,
     "from an event (LINE:NUMBER) on, or from a time, as 1.5s, 20ms, 300us or 5ns: since the "
     "first program of the run was connected to its server, as poet dump prints times",
     2},
    {"to", OPTION_TO, "WHEN", 0, "up to an event or a time", 2},
    {"past-of", OPTION_PAST_OF, "EVENT", 0, "only what happened before this event", 2},
    {NULL, 0, NULL, 0, "What of it is shown:", 3},
    {"columns", OPTION_COLUMNS, "LIST", 0,
     "these, by the names that JSON has, separated by commas; or all; default: JSON and CSV all, "
     "else those that most want",
     3},
    {"sort", OPTION_SORT, "COLUMN", 0, "by a column, what is most first; -COLUMN: the least", 3},
    {"top", OPTION_TOP, "N", 0, "the first N rows, and what belongs to them", 3},
    {"tree", OPTION_TREE, NULL, 0,
     "as a tree, where there is one; of calls, waits and memory with -o as a picture of boxes, one "
     "below the other",
     3},
    {"width-of", OPTION_WIDTH_OF, "COLUMN", 0,
     "such boxes as wide as this column says; default: total, waited or bytes", 3},
    {"against", OPTION_AGAINST, "SOURCE", 0,
     "the difference to another run beside each number, and how much that is of it", 3},
    {NULL, 0, NULL, 0, "How it is written:", 4},
    {"json", 'j', NULL, 0, "as JSON: a line for the columns, one for each row, one for totals", 4},
    {"csv", OPTION_CSV, NULL, 0, "as CSV (RFC 4180), with the names of the columns", 4},
    {"output", 'o', "FILE", 0, "into a file: .pdf, .svg, .png, .txt, .csv or .json", 4},
    {"chart", OPTION_CHART, "KIND", 0,
     "instead: a row each thread along time: transitions, its states; gantt (or overview), whether "
     "it was at work, begun and not ended; of poet path with that over it; of poet waits: bars, in "
     "a file; of calls, waits and memory: icicle, a tree of boxes; of calls: tree, boxes and "
     "arrows, in a file; of usage, memory and meters: curves, what figures stood at; of meters: "
     "kiviat, those of which it is said what is good; with -o as a picture, else in letters",
     4},
    {"grey", 'g', NULL, 0, "a picture without colour", 4},
    {"width", 'w', "WIDTH", 0, "a picture as wide as that: 84mm, 17cm, 5in", 4},
    {"follow", OPTION_FOLLOW, NULL, 0, "again as the run grows, until it ends", 4},
    {0}};

#define bad(o, ...) (command_usage((o)->command, __VA_ARGS__), EINVAL) /* said so; argp ends */

static error_t table_options_parse_event(const struct table_settings *o, struct event_id *ref,
                                         const char *value)
{
    if (event_id_parse(value, ref) && ref->line && !(ref->line & HIDDEN_LINE))
        return 0;
    return bad(o, "%s: not an event (LINE:NUMBER, as in 2:17)", value);
}

/* "1.5s", "20ms", ...: ns, false if it is none. */
static bool read_time(const char *value, int64_t *ns)
{
    static const struct {
        const char *word;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    char *end;
    double v = strtod(value, &end);
    for (size_t i = 0; end != value && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].word) == 0 && fabs(v) < 9e18 / units[i].ns) {
            *ns = (int64_t)llround(v * units[i].ns);
            return true;
        }
    return false;
}

static error_t table_options_parse_end(const struct table_settings *o, struct table_end *end,
                                       const char *value)
{
    *end = (struct table_end){0};
    if (read_time(value, &end->at)) {
        end->is = TABLE_AT_NS;
        return 0;
    }
    end->is = TABLE_AT_EVENT;
    if (event_id_parse(value, &end->event) && end->event.line && !(end->event.line & HIDDEN_LINE))
        return 0;
    return bad(o, "%s: not an event (2:17) or a time (20ms)", value);
}

static error_t table_options_parse_top(struct table_settings *o, const char *value)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    o->top = (unsigned)n;
    return *end || !n || n > UINT32_MAX ? bad(o, "--top %s: not a number of rows", value) : 0;
}

static error_t table_options_parse_what(struct table_settings *o, int key, char *value)
{
    switch (key) {
    case OPTION_BY:
        o->by = value;
        return 0;
    case OPTION_LINES:
        o->lines = value;
        return 0;
    case OPTION_FROM:
        return table_options_parse_end(o, &o->from, value);
    case OPTION_TO:
        return table_options_parse_end(o, &o->to, value);
    case OPTION_PAST_OF:
        return table_options_parse_event(o, &o->past_of, value);
    case OPTION_CHART:
        o->chart = value;
        return 0;
    case OPTION_AGAINST:
        o->against = value;
        return 0;
    case OPTION_WIDTH_OF:
        o->width_of = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t table_options_parse_how(struct table_settings *o, int key, char *value)
{
    switch (key) {
    case 'j':
        o->json = true;
        return 0;
    case OPTION_CSV:
        o->csv = true;
        return 0;
    case 'o':
        o->file = value;
        return 0;
    case 'g':
        o->page.theme.grey = true;
        return 0;
    case 'w':
        return paper_size_width(value, &o->page.width_pt)
                   ? 0
                   : bad(o, "--width %s: not a width (20pt to 14400pt, 84mm, 16cm, 3.3in)", value);
    case OPTION_FOLLOW:
        o->follow = true;
        return 0;
    default:
        return table_options_parse_what(o, key, value);
    }
}

static error_t table_options_parse_option(int key, char *value, struct argp_state *state)
{
    struct table_settings *o = state->input;
    switch (key) {
    case OPTION_COLUMNS:
        o->columns = value;
        return 0;
    case OPTION_SORT:
        o->backwards = *value == '-';
        o->sort = value + o->backwards;
        return 0;
    case OPTION_TOP:
        return table_options_parse_top(o, value);
    case OPTION_TREE:
        o->tree = true;
        return 0;
    case ARGP_KEY_END:
        if (o->from.is == TABLE_AT_NS && o->to.is == TABLE_AT_NS && o->from.at >= o->to.at)
            return bad(o, "empty range: --from is not before --to");
        return 0;
    default:
        return table_options_parse_how(o, key, value);
    }
}

/* What --by takes, by the command that is asked for help. */
static char *table_options_help_text(int key, const char *text, void *input)
{
    static const struct {
        const char *command, *words;
    } by[] = {{"states", "thread (default), processor, cluster or cpu"},
              {"waits", "place (default), pattern, object, site, thread, wait or category"},
              {"path", "segment (default), thread, piece or category"},
              {"calls", "function (default), path, thread, cpu, file or category"},
              {"memory", "place (default), path, function, file, thread, library or block"},
              {"usage", "program (default) or thread"},
              {"metrics", "metric (default) or thread"}};
    const struct table_settings *o = input;
    if (key != OPTION_BY || !o || !o->command)
        return (char *)(uintptr_t)text;
    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        if (strcmp(by[i].command, o->command->name) == 0)
            return xasprintf("%s: %s", text, by[i].words);
    return xasprintf("%s: this command has one kind of rows only", text);
}

const struct argp tables_options = {.options = options,
                                    .parser = table_options_parse_option,
                                    .help_filter = table_options_help_text};

const struct argp_child tables_children[] = {{&tables_options, 0, NULL, 0},
                                             {&labels_options, 0, NULL, 0},
                                             {&colour_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
