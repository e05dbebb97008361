/* The options that say what a picture shows, and how. */
#include "clients/poet/wanted.h"

#include "clients/poet/labels.h"
#include "clients/poet/picture.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int diagram_options_parse_event(const struct command *command, struct event_id *ref,
                                       const char *value)
{
    if (event_id_parse(value, ref) && !(ref->line & HIDDEN_LINE))
        return 0;
    return command_usage(command, "%s: an event is written LINE:NUMBER, as in 2:17", value);
}

/* Microseconds to a column, or none: the whole run on 300 columns. */
static int diagram_options_parse_time(const struct command *command, struct event_diagram *p,
                                      const char *value)
{
    char *end = NULL;
    double us = value ? strtod(value, &end) : 0;
    p->by_time = true;
    p->scaled = value != NULL;
    p->column_ns = (uint64_t)(us * 1000);
    if (value && (*end || !(us >= 0.001) || us > 1e12))
        return command_usage(command, "--time=%s: microseconds to a column are needed", value);
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
    {NULL, 0, NULL, 0, "Which part of the run:", 2},
    {"from", OPTION_FROM, "EVENT", 0, "from this event (LINE:NUMBER) on; with --to or without", 2},
    {"to", OPTION_TO, "EVENT", 0, "up to this event; with --from or without", 2},
    {"last", OPTION_LAST, "N", 0, "the last N columns", 2},
    {"around", OPTION_AROUND, "EVENT", 0, "60 columns around an event", 2},
    {"text", OPTION_TEXT, "TEXT", 0, "60 columns around the first event with that text or type", 2},
    {"all", OPTION_ALL, NULL, 0, "however large it gets", 2},
    {"view", OPTION_VIEW, "FILE", 0,
     "what is seen in a view that poet view saved: range, rows, colours; with one of the above its rows and "
     "colours alone",
     2},
    {NULL, 0, NULL, 0, "Its rows:", 3},
    {"lines", OPTION_LINES, "LIST", 0,
     "only these lines, in this order: numbers, or names with * and ?, separated by "
     "commas",
     3},
    {"cluster", OPTION_CLUSTER, "LIST", 0,
     "these lines as one row, without what happens among themselves; may be repeated", 3},
    {"labels", OPTION_LABELS, "WHAT", 0, "name (default), id (name and line number) or address", 3},
    {NULL, 0, NULL, 0, "How it is drawn:", 4},
    {"time", OPTION_TIME, "MICROSECONDS", OPTION_ARG_OPTIONAL,
     "placed by time, so many to a column; default: the whole run on 300 columns, and where too "
     "much happens for that what each line did, as shares",
     4},
    {"processors", OPTION_PROCESSORS, NULL, 0,
     "with --time, below the lines: the threads of the system that run tasks of a runtime, with the "
     "task that was on each",
     4},
    {"fold", OPTION_FOLD, NULL, 0,
     "stretches of repeats as one mark with xN; default: when there are more than 400 columns", 4},
    {"no-fold", OPTION_NO_FOLD, NULL, 0, "each event as a mark of its own", 4},
    {"vertical", OPTION_VERTICAL, NULL, 0, "lines run down, and time with them (not in text)", 4},
    {"description", OPTION_DESCRIPTION, "NAME", 0,
     "drawn as this description of the environment says; or the name of its file", 4},
    {"caption", OPTION_CAPTION, "TEXT", 0, "a caption under the picture", 4},
    {"no-order-arrows", OPTION_NO_ORDER_ARROWS, NULL, 0,
     "no dotted arrows from what wakes, creates or ends to what comes after it", 4},
    {"no-title", OPTION_NO_TITLE, NULL, 0, "no title above it", 4},
    {"no-legend", OPTION_NO_LEGEND, NULL, 0, "no legend below it", 4},
    {"no-notes", OPTION_NO_NOTES, NULL, 0, "no flags at events with notes (poet note)", 4},
    {0}};

static int diagram_options_parse_last(const struct command *command, struct event_diagram *p,
                                      const char *value)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    p->last = (unsigned)n;
    return *end || n == 0 || n > LIMIT_COLUMNS
               ? command_usage(command, "--last %s: a number of columns is needed", value)
               : 0;
}

static int diagram_options_parse_labels(const struct command *command, struct event_diagram *p,
                                        const char *value)
{
    if (label_option_by_name(value, &p->labels))
        return 0;
    return command_usage(command, "--labels %s: name, id or address", value);
}

static int diagram_options_parse_group(const struct command *command, struct event_diagram *p,
                                       const char *value)
{
    if (p->cluster_count == sizeof p->clusters / sizeof *p->clusters)
        return command_usage(command, "--cluster: too many");
    p->clusters[p->cluster_count++] = value;
    return 0;
}

/* 0 taken, -1 not one of these, 2 bad (said so). */
static int diagram_options_parse_any(struct event_diagram *p, int option, const char *value)
{
    const struct command *command = p->command;
    switch (option) {
    case OPTION_FROM:
        return diagram_options_parse_event(command, &p->from, value);
    case OPTION_TO:
        return diagram_options_parse_event(command, &p->to, value);
    case OPTION_AROUND:
        return diagram_options_parse_event(command, &p->around, value);
    case OPTION_LAST:
        return diagram_options_parse_last(command, p, value);
    case OPTION_TEXT:
        p->text = value;
        return 0;
    case OPTION_LINES:
        p->lines = value;
        return 0;
    case OPTION_FOLD:
    case OPTION_NO_FOLD:
        p->fold = option == OPTION_FOLD;
        return 0;
    case OPTION_LABELS:
        return diagram_options_parse_labels(command, p, value);
    case OPTION_CAPTION:
        p->caption = value;
        return 0;
    case OPTION_NO_TITLE:
        p->no_title = true;
        return 0;
    case OPTION_NO_LEGEND:
        p->no_legend = true;
        return 0;
    case OPTION_NO_NOTES:
        p->no_notes = true;
        return 0;
    case OPTION_NO_ORDER_ARROWS:
        p->no_order_arrows = true;
        return 0;
    case OPTION_ALL:
        p->all = true;
        return 0;
    case OPTION_CLUSTER:
        return diagram_options_parse_group(command, p, value);
    case OPTION_DESCRIPTION:
        return metadata_override_description(value)
                   ? 0
                   : command_usage(command, "--description %s: it cannot be read, or has mistakes",
                                   value);
    case OPTION_VERTICAL:
        p->vertical = true;
        return 0;
    case OPTION_PROCESSORS:
        p->processors = true;
        return 0;
    case OPTION_VIEW:
        p->view = value;
        return 0;
    case OPTION_TIME:
        return diagram_options_parse_time(command, p, value);
    default:
        return -1;
    }
}

static error_t diagram_options_parse_option(int key, char *value, struct argp_state *state)
{
    int taken = diagram_options_parse_any(state->input, key, value);
    return taken < 0 ? ARGP_ERR_UNKNOWN : taken > 0 ? EINVAL : 0;
}

const struct argp picture_options = {.options = options, .parser = diagram_options_parse_option};
