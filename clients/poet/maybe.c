/* poet maybe: what else a run could have done, in words. */
#include "clients/poet/awaiting.h"
#include "clients/poet/command.h"
#include "clients/poet/tables.h"
#include "clients/source/otherwise.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_KINDS = 3000 };

static void add_row(struct sheet *sheet, const struct shown_table *t, uint32_t row, char *text)
{
    struct sheet_row *r = sheet_row(sheet);
    r->depth = t->rows[row].depth;
    r->event = t->rows[row].event;
    r->row = row;
    r->cells[0] = text;
}

static void words(struct sheet *sheet, const struct table_names *names, const struct shown_table *t)
{
    const char *kind = "";
    uint32_t number = table_find(t, "number");
    sheet->title = memory_copied("what else could have been");
    sheet_column(sheet, memory_copied(""), false);
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (t->rows[i].depth) {
            add_row(sheet, t, i, otherwise_part(names, t, i, kind));
            continue;
        }
        kind = otherwise_kind(t, i);
        char *said = otherwise_finding(t, i);
        add_row(sheet, t, i,
                memory_printed("%lld  %s", (long long)table_cells(t, i)[number].number, said));
        free(said);
    }
    if (!t->row_count)
        sheet_note(sheet, memory_copied("nothing was found that could have been otherwise"));
    for (uint32_t i = 0; i < t->note_count; i++)
        sheet_note(sheet, memory_copied(t->notes[i]));
}

/* ---- the command ---- */

struct wanted {
    struct tables tables;
    struct table_option options[2];
};

static const struct argp_option options[] = {
    {"kinds", OPTION_KINDS, "KIND,...", 0,
     "only these: inversion, lost, missed, message, unheard, between, first", 1},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    static char name[] = "kinds";
    struct wanted *w = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &w->tables;
        return 0;
    case OPTION_KINDS:
        if (!otherwise_are_kinds(value)) {
            char *known = otherwise_kinds();
            command_usage(w->tables.command, "--kinds %s: unknown kind (known: %s)", value, known);
            free(known);
            return EINVAL;
        }
        w->options[0] = (struct table_option){name, value};
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run(const struct command *command, int argc, char **argv)
{
    struct wanted w = {.tables = {.command = command}};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    struct tables_section section = {.what = "maybe", .options = w.options, .words = words};
    return tables_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc =
        "Say what else the same program could have done: orders that did not happen and that nothing "
        "but luck kept from happening, the worst first, each with the events that show it.\vWhether "
        "one really can happen, poet provoke tries.",
    .children = tables_children};

const struct command command_maybe = {
    .name = "maybe", .summary = "say what else the run could have done", .run = run, .argp = &argp};
