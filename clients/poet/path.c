/* poet path: the critical path, what decided how long the run took; and what would be with something changed. */
#include "clients/poet/labels.h"
#include "clients/poet/placed.h"
#include "clients/poet/awaiting.h"
#include "clients/poet/tables.h"
#include "memory/memory.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 25 /* rows, for people who said nothing else */

enum { OPTION_WITHOUT = 3000, OPTION_NO_LATENCY, OPTION_ZEROS, OPTION_CPUS };

struct wanted {
    struct tables tables;
    const char **without; /* as they are given */
    uint32_t without_count;
    struct table_option *options; /* for the server; the values are ours */
    uint32_t option_count;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What would be:", 1},
    {"without", OPTION_WITHOUT, "STEP[=FACTOR]", 0,
     "if the steps from or to this function or FILE:LINE took so many times what they did (0 if it "
     "is not said); lock:NAME: if nobody ever waited for that line; may be repeated",
     1},
    {"no-latency", OPTION_NO_LATENCY, NULL, 0, "if whoever is let go went on at once", 1},
    {"zeros", OPTION_ZEROS, "N", OPTION_ARG_OPTIONAL,
     "for each of the N greatest steps on the path (20 if it is not said, all): what would be won "
     "if it took no time",
     1},
    {"cpus", OPTION_CPUS, "N", 0, "how many times as fast as one N processors could be at most", 1},
    {0}};

/* (The value is taken over.) */
static void set(struct wanted *w, const char *key, char *value)
{
    struct table_option option = {memory_copied(key), value};
    PUSH(w->options, w->option_count, option);
}

static error_t take_number(struct wanted *w, const char *key, const char *value, bool all)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    bool every = all && strcmp(value, "all") == 0;
    if (!every && (*end || !*value || *value == '-' || n == 0 || n > UINT32_MAX)) {
        command_usage(w->tables.command, "--%s %s: a number is needed", key, value);
        return EINVAL;
    }
    set(w, key, memory_printed("%lu", every ? 0 : n));
    return 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct wanted *w = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &w->tables;
        return 0;
    case OPTION_WITHOUT:
        PUSH(w->without, w->without_count, (const char *)value);
        return 0;
    case OPTION_NO_LATENCY:
        set(w, "no-latency", memory_copied("1"));
        return 0;
    case OPTION_ZEROS:
        return take_number(w, "zeros", value ? value : "20", true);
    case OPTION_CPUS:
        return take_number(w, "cpus", value, false);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- which steps are meant ---- */

static bool step_is(const struct table_names *names, const struct shown_table *t, uint32_t row,
                    uint32_t column, const char *name)
{
    const struct table_cell *cell = &table_cells(t, row)[column];
    if (cell->is != CELL_STEP)
        return false;
    if (placed_is(names, cell->between.from, name) ||
        (cell->step != CELL_STEP_CALLS && placed_is(names, cell->between.to, name)))
        return true;
    char *all = table_say(names, &t->columns[column], cell);
    bool is = fnmatch(name, all, 0) == 0;
    free(all);
    return is;
}

/* The steps of a name take so many millionths; false: there is none. */
static bool change_steps(struct wanted *w, const struct table_names *names,
                         const struct shown_table *steps, const char *name, unsigned millionths)
{
    uint32_t step = table_find(steps, "step"), code = table_find(steps, "code");
    bool any = false;
    for (uint32_t i = 0; i < steps->row_count; i++)
        if (step_is(names, steps, i, step, name)) {
            long long number = table_cells(steps, i)[code].number;
            set(w, "factor", memory_printed("%lld=%u", number, millionths));
            any = true;
        }
    return any;
}

static bool free_line(struct wanted *w, const struct book *book, const char *name)
{
    bool several;
    uint32_t line = placed_line(book, name, &several);
    if (line)
        set(w, "free", memory_printed("%u", line));
    return line != 0;
}

/* "=0.5" at its end, or nothing; false: nonsense. */
static bool split(char *word, double *factor)
{
    char *sign = strrchr(word, '='), *end;
    *factor = 0;
    if (!sign)
        return true;
    *sign = 0;
    *factor = strtod(sign + 1, &end);
    return sign[1] && !*end && *factor >= 0 && *factor <= 1000;
}

static int change(struct wanted *w, struct subject *subject, const struct shown_table *steps,
                  const char *asked)
{
    struct table_names names = {&subject->source.book, subject->sites};
    const struct command *command = w->tables.command;
    char *word = memory_copied(asked);
    bool lock = strncmp(word, "lock:", 5) == 0;
    double factor;
    int status = EXIT_DONE;
    if (!split(word, &factor) || (lock && factor > 0))
        status = command_usage(command, "--without %s: %s", asked,
                               lock ? "a lock is waited for or not: no factor, or 0"
                                    : "write STEP or STEP=FACTOR, from 0 to 1000");
    else if (lock && !free_line(w, names.book, word + 5))
        status =
            command_usage(command, "--without %s: there is no such line: see poet dump", asked);
    else if (!lock && !change_steps(w, &names, steps, word, (unsigned)(factor * 1e6 + 0.5)))
        status = command_usage(command,
                               "--without %s: no step of the path begins or ends there: see poet "
                               "path",
                               asked);
    free(word);
    return status;
}

/* Names are known here, codes by the server: it is asked for its steps first. */
static int resolve(struct wanted *w, struct subject *subject)
{
    struct shown_table steps = {0};
    struct tables plain = {.command = w->tables.command};
    int status = tables_ask(&plain, &(struct tables_section){.what = "path"}, subject, &steps);
    for (uint32_t i = 0; i < w->without_count && status == EXIT_DONE; i++)
        status = change(w, subject, &steps, w->without[i]);
    shown_table_free(&steps);
    return status;
}

/* ---- the command ---- */

static int look(struct wanted *w, struct subject *subject)
{
    int status = w->without_count ? resolve(w, subject) : EXIT_DONE;
    if (status != EXIT_DONE)
        return status;
    PUSH(w->options, w->option_count, (struct table_option){0});
    const struct tables *t = &w->tables;
    struct tables_section section = {.what = "path", .options = w->options};
    if (!t->top && !t->json && !t->csv && !t->file && !t->by)
        section.top = SHOWN;
    return tables_run(&w->tables, subject, &section, 1);
}

static void drop(struct wanted *w)
{
    for (uint32_t i = 0; i < w->option_count; i++) {
        free(w->options[i].key);
        free(w->options[i].value);
    }
    free(w->options);
    free(w->without);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct wanted w = {.tables = {.command = command}};
    struct subject subject;
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status == OPTIONS_READ) {
        const char *source = subject_named(argc, argv, &first);
        enum source_lines lines = w.without_count ? SOURCE_ALL_LINES : tables_lines(&w.tables);
        status = EXIT_FAILED;
        awaiting_begin(command);
        if (argc != first) {
            status = command_usage(command, "%s: one SOURCE is enough", argv[first]);
        } else if (subject_open(command, &subject, source, lines, labels_wanted(LABELS_NAME))) {
            subject_renewed(command, &subject);
            status = look(&w, &subject);
            subject_close(&subject);
        }
    }
    drop(&w);
    return status;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc =
        "Print the critical path: back from the last event, or from that of --to, what was running, and "
        "where its thread had waited, what ran in the thread that let it go on.  The times on "
        "it add up to how long it took, so only what is on it can make the run shorter.  Its "
        "steps are the stretches of code between two events; --by thread and --by piece show "
        "it otherwise; by steps the 25 greatest are shown, or --top.  Slack is how much longer a step not on it could take for nothing.",
    .children = tables_children};

const struct command command_path = {
    .name = "path",
    .summary = "print what decided how long the run took, and what would be",
    .run = run,
    .argp = &argp};
