/* Options for the contents and appearance of a diagram. */
#include "clients/cli/diagram.h"

#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"
#include "config/options.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdlib.h>

static int diagram_options_parse_event(const struct command *command, struct event_id *ref,
                                       const char *value)
{
    if (event_id_parse(value, ref) && !(ref->line & HIDDEN_LINE))
        return 0;
    return command_usage(command, "%s: not an event (LINE:NUMBER, as in 2:17)", value);
}

static int diagram_options_parse_end(const struct command *command, struct table_end *end,
                                     const char *value)
{
    if (table_end_read(value, end))
        return 0;
    return command_usage(command, "%s: not an event (2:17) or a time (20ms)", value);
}

/* value: microseconds per column; NULL: such that the whole run has about 300 columns. */
static int diagram_options_parse_time(const struct command *command, struct event_diagram *p,
                                      const char *value)
{
    char *end = NULL;
    double us = value ? strtod(value, &end) : 0;
    p->by_time = true;
    p->scaled = value != NULL;
    p->column_ns = (uint64_t)(us * 1000);
    if (value && (*end || !(us >= 0.001) || us > 1e12))
        return command_usage(command,
                             "--time: invalid value \"%s\"; valid: microseconds per column", value);
    return 0;
}

enum {
    OPTION_FROM = 256,
    OPTION_TO,
    OPTION_AROUND,
    OPTION_LAST,
    OPTION_TEXT,
    OPTION_LINES,
    OPTION_CLUSTER,
    OPTION_VIEW,
    OPTION_FOLD,
    OPTION_NO_FOLD,
    OPTION_TIME,
    OPTION_VERTICAL,
    OPTION_PROCESSORS,
    OPTION_DESCRIPTION,
    OPTION_LABELS,
    OPTION_CAPTION,
    OPTION_NO_TITLE,
    OPTION_NO_LEGEND,
    OPTION_NO_NOTES,
    OPTION_NO_ORDER_ARROWS,
    OPTION_ALL
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Range:", 2},
    {"from", OPTION_FROM, "WHEN", 0,
     "start at an event (LINE:NUMBER) or a time (1.5s, 20ms, 300us, 5ns) from the start of the "
     "run; without --time, times select the events from the first to the last one in between",
     2},
    {"to", OPTION_TO, "WHEN", 0, "end at an event, or before a time", 2},
    {"last", OPTION_LAST, "N", 0, "the last N columns", 2},
    {"around", OPTION_AROUND, "EVENT", 0, "60 columns around an event", 2},
    {"text", OPTION_TEXT, "TEXT", 0,
     "60 columns around the first event with this annotation or type", 2},
    {"all", OPTION_ALL, NULL, 0, "the whole range, without a size limit", 2},
    {"view", OPTION_VIEW, "FILE", 0,
     "use the range, rows and colors of a view saved by poet view; with one of the above only its "
     "rows and colors",
     2},
    {NULL, 0, NULL, 0, "Rows:", 3},
    {"lines", OPTION_LINES, "LIST", 0,
     "only these lines, in this order: numbers, or names with * and ?, separated by "
     "commas",
     3},
    {"group", OPTION_CLUSTER, "LIST", 0,
     "show these lines as one row, hiding events among them; may be repeated", 3},
    {"labels", OPTION_LABELS, "WHAT", 0, "name (default), id (name and line number) or address", 3},
    {NULL, 0, NULL, 0, "Drawing:", 4},
    {"time", OPTION_TIME, "MICROSECONDS", OPTION_ARG_OPTIONAL,
     "time scale: MICROSECONDS per column (default: whole run in 300 columns; dense parts are "
     "drawn as state bands)",
     4},
    {"processors", OPTION_PROCESSORS, NULL, 0,
     "with --time: add rows for worker threads (carriers) with the task each was running", 4},
    {"fold", OPTION_FOLD, NULL, 0,
     "collapse repeated patterns (xN); default: with more than 400 columns", 4},
    {"no-fold", OPTION_NO_FOLD, NULL, 0, "never collapse", 4},
    {"vertical", OPTION_VERTICAL, NULL, 0, "time runs downwards (not in text)", 4},
    {"description", OPTION_DESCRIPTION, "NAME", 0, "use this target description (name or file)", 4},
    {"caption", OPTION_CAPTION, "TEXT", 0, "add a caption below the diagram", 4},
    {"no-order-arrows", OPTION_NO_ORDER_ARROWS, NULL, 0, "hide wake-up, create and join arrows", 4},
    {"no-title", OPTION_NO_TITLE, NULL, 0, "omit the title", 4},
    {"no-legend", OPTION_NO_LEGEND, NULL, 0, "omit the legend", 4},
    {"no-notes", OPTION_NO_NOTES, NULL, 0, "omit flags at events with notes (poet note)", 4},
    {0}};

static int diagram_options_parse_last(const struct command *command, struct event_diagram *p,
                                      const char *value)
{
    return command_number(value, LIMIT_COLUMNS, &p->last)
               ? 0
               : command_usage(command, "--last: invalid number of columns \"%s\"", value);
}

static int diagram_options_parse_labels(const struct command *command, struct event_diagram *p,
                                        const char *value)
{
    if (label_option_by_name(value, &p->labels))
        return 0;
    return command_usage(command, "--labels: invalid value \"%s\"; valid: name, id, address",
                         value);
}

static int diagram_options_parse_group(const struct command *command, struct event_diagram *p,
                                       const char *value)
{
    if (p->cluster_count == sizeof p->clusters / sizeof *p->clusters)
        return command_usage(command, "--group: too many");
    p->clusters[p->cluster_count++] = value;
    return 0;
}

static const struct option_row diagram_options_rows[] = {
    OPTION_STORES(OPTION_TEXT, struct event_diagram, text),
    OPTION_STORES(OPTION_LINES, struct event_diagram, lines),
    OPTION_STORES(OPTION_CAPTION, struct event_diagram, caption),
    OPTION_SETS(OPTION_NO_TITLE, struct event_diagram, no_title),
    OPTION_SETS(OPTION_NO_LEGEND, struct event_diagram, no_legend),
    OPTION_SETS(OPTION_NO_NOTES, struct event_diagram, no_notes),
    OPTION_SETS(OPTION_NO_ORDER_ARROWS, struct event_diagram, no_order_arrows),
    OPTION_SETS(OPTION_ALL, struct event_diagram, all),
    OPTION_SETS(OPTION_VERTICAL, struct event_diagram, vertical),
    OPTION_SETS(OPTION_PROCESSORS, struct event_diagram, processors),
    OPTION_STORES(OPTION_VIEW, struct event_diagram, view),
    {0}};

/* Returns 0; -1 if the option is none of these; EXIT_USAGE after reporting an invalid value. */
static int diagram_options_parse_value(struct event_diagram *p, int option, const char *value)
{
    const struct command *command = p->command;
    switch (option) {
    case OPTION_FROM:
        return diagram_options_parse_end(command, &p->from, value);
    case OPTION_TO:
        return diagram_options_parse_end(command, &p->to, value);
    case OPTION_AROUND:
        return diagram_options_parse_event(command, &p->around, value);
    case OPTION_LAST:
        return diagram_options_parse_last(command, p, value);
    case OPTION_FOLD:
    case OPTION_NO_FOLD:
        p->fold = option == OPTION_FOLD;
        return 0;
    case OPTION_LABELS:
        return diagram_options_parse_labels(command, p, value);
    case OPTION_CLUSTER:
        return diagram_options_parse_group(command, p, value);
    case OPTION_DESCRIPTION:
        return metadata_override_description(value)
                   ? 0
                   : command_usage(command, "--description %s: cannot be read or is invalid",
                                   value);
    case OPTION_TIME:
        return diagram_options_parse_time(command, p, value);
    default:
        return -1;
    }
}

static error_t diagram_options_parse_option(int key, char *value, struct argp_state *state)
{
    int parsed = diagram_options_parse_value(state->input, key, value);
    if (parsed < 0)
        return option_rows_parse(diagram_options_rows, key, value, state);
    return parsed ? EINVAL : 0;
}

const struct argp picture_options = {.options = options, .parser = diagram_options_parse_option};
