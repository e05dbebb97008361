/* poet predict: potential concurrency bugs of a recorded run, as text. */
#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/lock_order_runs.h"
#include "clients/cli/table_options.h"
#include "clients/connection/finding_text.h"
#include "config/options.h"

#include <stdlib.h>

enum { OPTION_KINDS = 3000, OPTION_ALL, OPTION_LOCK_ORDER };

static void add_row(struct text_table *sheet, const struct result_table *t, uint32_t row,
                    char *text)
{
    struct text_table_row *r = text_table_add_row(sheet);
    r->depth = t->rows[row].depth;
    r->event = t->rows[row].event;
    r->row = row;
    r->cells[0] = text;
}

static void predict_write_findings(struct text_table *sheet, const struct table_names *names,
                                   const struct result_table *t)
{
    enum finding_kind kind = FINDING_KIND_COUNT;
    uint32_t number = result_table_find_column(t, "number");
    sheet->title = xstrdup("potential concurrency bugs");
    text_table_add_column(sheet, xstrdup(""), false);
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (t->rows[i].depth) {
            add_row(sheet, t, i, finding_text_participant(names, t, i, kind));
            continue;
        }
        kind = finding_text_kind(t, i);
        char *sentence = finding_text_summary(t, i);
        add_row(
            sheet, t, i,
            xasprintf("%lld  %s", (long long)result_table_cells(t, i)[number].number, sentence));
        free(sentence);
    }
    if (!t->row_count)
        text_table_add_note(sheet, xstrdup("no potential concurrency bugs found"));
    for (uint32_t i = 0; i < t->note_count; i++)
        text_table_add_note(sheet, xstrdup(t->notes[i]));
}

/* ---- the command ---- */

struct predict_options {
    struct table_settings tables;
    struct table_option options[2];
    const char *lock_order; /* a file of intended orders; NULL: none */
};

/* predict_describe_kinds() completes the descriptions. */
static struct argp_option options[] = {
    {"all", OPTION_ALL, NULL, 0,
     "also report orders that are merely not enforced, and may be intended", 1},
    {"kinds", OPTION_KINDS, "KIND,...", 0, "report only these kinds", 1},
    {"lock-order", OPTION_LOCK_ORDER, "FILE", 0,
     "report instead lock orders that contradict FILE: on each line, locks in the order in which "
     "they are to be acquired",
     1},
    {0}};

static const struct option_row predict_rows[] = {OPTION_CHILD_INPUT(struct predict_options, tables),
                                                 {0}};

static error_t predict_parse_option(int key, char *value, struct argp_state *state)
{
    static char name[] = "kinds", all[] = "all";
    struct predict_options *w = state->input;
    switch (key) {
    case OPTION_ALL:
        w->options[0] = (struct table_option){name, all};
        return 0;
    case OPTION_LOCK_ORDER:
        w->lock_order = value;
        return 0;
    case OPTION_KINDS:
        if (!finding_text_kinds_are_known(value, FINDINGS_PREDICTED)) {
            char *known = finding_text_kinds(FINDINGS_PREDICTED);
            command_usage(w->tables.command, "--kinds %s: unknown kind (known: %s)", value, known);
            free(known);
            return EINVAL;
        }
        w->options[0] = (struct table_option){name, value};
        return 0;
    default:
        return option_rows_parse(predict_rows, key, value, state);
    }
}

/* Names in the help the kinds that the options are about. */
static void predict_describe_kinds(void)
{
    static char *texts[2];
    static const unsigned groups[] = {FINDINGS_OF_ORDERS, FINDINGS_PREDICTED};
    for (size_t i = 0; i < 2 && !texts[i]; i++) {
        char *kinds = finding_text_kinds(groups[i]);
        options[i].doc = texts[i] = xasprintf("%s: %s", options[i].doc, kinds);
        free(kinds);
    }
}

/* Predicts from the lock orders of several runs. */
static int predict_several(const struct predict_options *w, int count, char **traces)
{
    static char latest[] = "latest";
    char *none[] = {latest, NULL};
    const struct command *command = w->tables.command;
    if (w->tables.json || w->tables.csv || w->tables.file)
        return command_usage(command, "several runs, or --lock-order: no table; see --format");
    if (w->options[0].value)
        return command_usage(command, "--%s: not with several runs, or --lock-order",
                             w->options[0].key);
    int status = finding_options_check(command, FINDINGS_PREDICTED);
    return status != EXIT_DONE ? status
                               : lock_order_runs_predict(
                                     &(struct lock_order_runs){.command = command,
                                                               .traces = count ? traces : none,
                                                               .count = count ? (unsigned)count : 1,
                                                               .intended = w->lock_order});
}

static int predict_run(const struct command *command, int argc, char **argv)
{
    predict_describe_kinds();
    struct predict_options w = {.tables = {.command = command, .findings = FINDINGS_PREDICTED}};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    if (w.lock_order || argc - first > 1)
        return predict_several(&w, argc - first, argv + first);
    w.tables.finding_kinds = w.options[0].value;
    struct table_section section = {
        .what = "predict", .options = w.options, .words = predict_write_findings};
    return table_output_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .options = options,
    .parser = predict_parse_option,
    .args_doc = "[SOURCE...]",
    .doc =
        "Predict concurrency bugs from one recorded run: interleavings that did not occur but that "
        "no traced synchronization excludes, most severe first, each with the events it is derived "
        "from.  Of several runs: potential deadlocks by the lock orders of all of them together, "
        "which no run shows alone.\vA prediction is not a proof; use poet confirm to try to "
        "reproduce it.",
    .children = tables_finding_children};

const struct command command_predict = {
    .name = "predict",
    .summary = "report potential deadlocks, lost wake-ups, atomicity and order violations",
    .run = predict_run,
    .argp = &argp};
