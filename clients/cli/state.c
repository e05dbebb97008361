/* poet state: the state of a run at a consistent cut. */
#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"
#include "config/options.h"

#include "base/alloc.h"
#include "clients/metadata/event_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { OPTION_AT = 3000, OPTION_TIME };

struct state_options {
    struct table_settings tables;
    struct event_id at;
    int64_t time_ns;
    bool time;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which state (default: at the end of the run):", 1},
    {"at", OPTION_AT, "EVENT", 0, "right after EVENT, with nothing but what happened before it", 1},
    {"time", OPTION_TIME, "TIME", 0, "at a time since the start of the run (1.5s, 20ms, 300us)", 1},
    {0}};

static const struct option_row state_rows[] = {OPTION_CHILD_INPUT(struct state_options, tables),
                                               {0}};

static error_t state_parse_option(int key, char *value, struct argp_state *state)
{
    struct state_options *o = state->input;
    switch (key) {
    case OPTION_AT:
        if (event_id_parse(value, &o->at) && o->at.line && !(o->at.line & HIDDEN_LINE))
            return 0;
        command_usage(o->tables.command, "--at %s: not an event (LINE:NUMBER, as in 2:17)", value);
        return EINVAL;
    case OPTION_TIME:
        o->time = duration_read(value, &o->time_ns);
        if (o->time)
            return 0;
        command_usage(o->tables.command, "--time %s: not a time (20ms)", value);
        return EINVAL;
    default:
        return option_rows_parse(state_rows, key, value, state);
    }
}

/* Checks that at most one state is selected; returns false after reporting an error. */
static bool state_check(const struct state_options *o)
{
    const struct table_settings *t = &o->tables;
    if (t->from.is != TABLE_OPEN || t->to.is != TABLE_OPEN)
        command_usage(t->command, "--from, --to: a state is at one time; use --time");
    else if ((o->at.line != 0) + (t->past_of.line != 0) + o->time > 1)
        command_usage(t->command, "--at, --past-of and --time exclude each other");
    else
        return true;
    return false;
}

/* Sets the option of the table that selects the state; its value is valid until the next call. */
static void state_select(const struct state_options *o, struct table_option *option)
{
    static char at[] = "at", past_of[] = "past_of", time[] = "time", value[48];
    struct event_id event = o->at.line ? o->at : o->tables.past_of;
    if (event.line)
        event_id_print(value, sizeof value, event);
    else
        snprintf(value, sizeof value, "%" PRId64, o->time_ns);
    *option = (struct table_option){o->at.line               ? at
                                    : o->tables.past_of.line ? past_of
                                    : o->time                ? time
                                                             : NULL,
                                    value};
}

static int state_write(struct state_options *o, struct command_source *subject)
{
    static char objects[] = "objects", yes[] = "1";
    struct table_option threads[2] = {{0}}, both[3] = {{objects, yes}, {0}};
    state_select(o, &threads[0]);
    both[1] = threads[0];
    o->tables.past_of = (struct event_id){0, 0}; /* it is the cut, not a part of the table */
    struct table_section sections[] = {
        {.what = "state", .options = threads},
        {.what = "state", .title = "objects", .options = both, .rare = true}};
    return table_output_run(&o->tables, subject, sections, sizeof sections / sizeof *sections);
}

static int state_run(const struct command *command, int argc, char **argv)
{
    struct state_options o = {.tables = {.command = command}};
    struct command_source subject;
    int first, status = command_read(command, argc, argv, &o, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *source = command_source_name(argc, argv, &first);
    if (argc != first)
        return command_usage(command, "extra operand: %s", argv[first]);
    if (!state_check(&o))
        return EXIT_USAGE;
    table_progress_begin(command);
    if (!command_source_open(command, &subject, source, table_request_session_lines(&o.tables),
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    command_source_warn_updated(command, &subject);
    status = state_write(&o, &subject);
    command_source_close(&subject);
    return status;
}

static const struct argp argp = {
    .options = options,
    .parser = state_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Show the state of a run at a consistent cut: of each thread whether it was blocked (with "
        "the class of the wait) or running (or runnable: the order does not tell them apart), "
        "with its last event and what it holds; of each object the threads that hold it and "
        "those that wait for it; of a semaphore the units posted and acquired so far, beside its "
        "initial value; of a pipe or queue the messages in flight: sent in the cut, and received "
        "after it.  A cut is closed under happened-before: with an event it has all that "
        "happened before it.  --at EVENT is the smallest cut with EVENT; --past-of EVENT the same "
        "without EVENT; --time TIME has what happened until then.",
    .children = tables_children};

const struct command command_state = {.name = "state",
                                      .summary =
                                          "show the state of each thread and object at a cut",
                                      .run = state_run,
                                      .argp = &argp};
