/* poet waits: where threads waited, and who made it so long by doing what. */
#include "clients/poet/colour.h"
#include "clients/poet/labels.h"
#include "clients/poet/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_WHY = 3000, OPTION_WHILE, OPTION_KNOTS, OPTION_OBJECT, OPTION_DIRECT, OPTION_SINCE };

struct wanted {
    struct tables tables;
    const char *preset;
    struct table_option options[6];
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which table:", 1},
    {"why", OPTION_WHY, "EVENT", 0,
     "why the wait that begins or ends with an event took so long: both paths side by side, since "
     "the two met last",
     1},
    {"while", OPTION_WHILE, NULL, 0, "what ran while they waited, not why that came so late", 1},
    {"knots", OPTION_KNOTS, NULL, 0, "which threads hold each other up, and by that all the rest",
     1},
    {"object", OPTION_OBJECT, "LINE", 0, "only waits for a line, by its number", 1},
    {"direct", OPTION_DIRECT, NULL, 0,
     "only what those did that were waited for, not what had made them late", 1},
    {"since", OPTION_SINCE, "WHEN", 0,
     "always look back to where the two met last (meeting) or the wait began (wait)", 1},
    {0}};

/* The last one of a kind counts; there is room for one of each, and for what ends them. */
static error_t add(struct wanted *w, const char *key, char *value)
{
    static char yes[] = "yes";
    size_t i = 0;
    while (w->options[i].key && strcmp(w->options[i].key, key) != 0)
        i++;
    w->options[i] = (struct table_option){(char *)(uintptr_t)key, value ? value : yes};
    return 0;
}

static error_t add_number(struct wanted *w, char *value)
{
    char *end;
    unsigned long line = strtoul(value, &end, 10);
    if (*end || !line || line > UINT32_MAX) {
        command_usage(w->tables.command, "--object %s: the number of a line is needed", value);
        return EINVAL;
    }
    return add(w, "object", value);
}

static error_t add_event(struct wanted *w, char *value)
{
    struct ref at;
    if (!ref_parse(value, &at) || !at.line) {
        command_usage(w->tables.command, "--why %s: an event is written LINE:NUMBER, as in 2:17",
                      value);
        return EINVAL;
    }
    w->preset = "why";
    return add(w, "event", value);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct wanted *w = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &w->tables;
        return 0;
    case OPTION_WHY:
        return add_event(w, value);
    case OPTION_WHILE:
        return add(w, "while", NULL);
    case OPTION_KNOTS:
        w->preset = "knots";
        return 0;
    case OPTION_OBJECT:
        return add_number(w, value);
    case OPTION_DIRECT:
        return add(w, "direct", NULL);
    case OPTION_SINCE:
        return add(w, "since", value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run(const struct command *command, int argc, char **argv)
{
    struct wanted w = {.tables = {.command = command}, .preset = "waits"};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    struct tables_section section = {.what = w.preset, .options = w.options};
    return tables_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp_child children[] = {{&tables_options, 0, NULL, 0},
                                             {&labels_options, 0, NULL, 0},
                                             {&colour_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc = "Say where threads waited, and why that took so long: of each wait, what made the one "
           "that was waited for come later than the one who waited, since the two met last; of a "
           "lock, what its holders did with it meanwhile.  A row stands for waits that are alike "
           "(--by place, pattern, object, site, thread or wait); the rows below it say to which "
           "steps, of which thread, its time is charged.  Charges add up to it.",
    .children = children};

const struct command command_waits = {
    .name = "waits", .summary = "say where threads waited, and why", .run = run, .argp = &argp};
