/* poet maybe: what else a run could have done, in words. */
#include "clients/poet/maybe.h"

#include "clients/poet/awaiting.h"
#include "clients/poet/command.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_KINDS = 3000 };

static const char *const kinds[][2] = {
    {"inversion", "each holds what the next one asks for: if they meet there, a deadlock"},
    {"lost", "nothing keeps the call from coming before the wait, and then nobody hears it"},
    {"missed", "the call wakes one, and more could wait"},
    {"message", "the receive takes any, and luck decided which came first"},
    {"unheard", "luck decided which came first; the other way round the call is not heard, unless "
                "who waits looks first whether it must"},
    {"between", "nothing keeps the one visit from coming between the two others"},
    {"first", "luck decided which came first, and it was never the other"},
    {NULL, NULL}};

static const char *about_kind(const char *kind)
{
    for (size_t i = 0; kinds[i][0]; i++)
        if (strcmp(kinds[i][0], kind) == 0)
            return kinds[i][1];
    return "";
}

/* ---- in words ---- */

struct row {
    const struct table_names *names;
    const struct shown_table *table;
    uint32_t row;
};

static const struct table_cell *cell(const struct row *r, const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = table_find(r->table, name);
    return column < r->table->column_count ? &table_cells(r->table, r->row)[column] : &nothing;
}

static const char *line(const struct row *r, const char *name)
{
    const struct table_cell *c = cell(r, name);
    return c->is == CELL_LINE ? book_label(r->names->book, c->line) : "somebody";
}

/* " at f.c:12 (3:4)", new memory. */
static char *where(const struct row *r, const char *place, const char *event)
{
    const struct table_cell *p = cell(r, place), *e = cell(r, event);
    char at[48] = "", *said = p->is == CELL_PLACE ? table_say_place(r->names, p->place, "") : NULL;
    if (e->is == CELL_EVENT)
        ref_print(at, sizeof at, e->event);
    char *all = memory_printed("%s%s%s%s%s", said && *said ? " at " : "", said ? said : "",
                               *at ? " (" : "", at, *at ? ")" : "");
    free(said);
    return all;
}

/* What a thread did, in words with one place for its name and each of two lines and where it was there. */
static char *say(struct row *r, const char *format)
{
    char *first = where(r, "where", "event"), *then = where(r, "then_where", "then_event"),
         *said = NULL, text[1000];
    size_t n = 0;
    for (const char *c = format; *c && n < sizeof text - 1; c++) {
        const char *put = *c != '%'     ? NULL
                          : *++c == 'T' ? line(r, "thread")
                          : *c == 'L'   ? line(r, "line")
                          : *c == 'M'   ? line(r, "then_line")
                          : *c == 'l'   ? first
                                        : then;
        n += (size_t)(put ? snprintf(text + n, sizeof text - n, "%s", put)
                          : snprintf(text + n, sizeof text - n, "%c", *c));
        n = n < sizeof text ? n : sizeof text - 1;
    }
    text[n] = 0;
    said = memory_copied(text);
    free(first);
    free(then);
    return said;
}

char *maybe_part(const struct table_names *names, const struct shown_table *t, uint32_t row,
                 const char *kind)
{
    static const char *const ways[][3] = {
        {"inversion", "%T took %L%l, then asked for %M%m", NULL},
        {"lost", "%T took %L%l, then waited for %M%m", "%T called who waits for %L%l"},
        {"missed", "%T called who waits for %L%l", "%T took %L%l, then waited for %M%m"},
        {"message", "%T sent to %L%l, received%m", "%T sent to %L%l, received only%m"},
        {"unheard", "%T took %L%l, then waited for %M%m",
         "%T took %L%l, then called who waits for %M%m"},
        {"between", "%T took %L%l, and again%m", "%T took %L%l"},
        {"first", "%T took %L%l", "%T took %L%l after that"},
    };
    struct row r = {names, t, row};
    bool first = row && !t->rows[row - 1].depth, then = cell(&r, "then_event")->is == CELL_EVENT;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i][0], kind) == 0 &&
            (first || !ways[i][2] || then || strcmp(kind, "missed") != 0))
            return say(&r, first || !ways[i][2] ? ways[i][1] : ways[i][2]);
    return say(&r, "%T took %L%l, too");
}

const char *maybe_kind(const struct shown_table *t, uint32_t row)
{
    const struct table_cell *c = &table_cells(t, row)[table_find(t, "kind")];
    return c->is == CELL_TEXT ? c->text : "";
}

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
    sheet->title = memory_copied("what else could have been");
    sheet_column(sheet, memory_copied(""), false);
    for (uint32_t i = 0; i < t->row_count; i++) {
        struct row r = {names, t, i};
        if (t->rows[i].depth) {
            add_row(sheet, t, i, maybe_part(names, t, i, kind));
            continue;
        }
        kind = maybe_kind(t, i);
        long long times = cell(&r, "times")->number;
        add_row(sheet, t, i,
                times > 1 ? memory_printed("%lld  %s (%lld times): %s",
                                           (long long)cell(&r, "number")->number, kind, times,
                                           about_kind(kind))
                          : memory_printed("%lld  %s: %s", (long long)cell(&r, "number")->number,
                                           kind, about_kind(kind)));
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
        if (!maybe_are_kinds(value)) {
            command_usage(w->tables.command, "--kinds %s: see poet maybe --help", value);
            return EINVAL;
        }
        w->options[0] = (struct table_option){name, value};
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

bool maybe_are_kinds(const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        bool known = false;
        for (size_t i = 0; kinds[i][0]; i++)
            known |= strlen(kinds[i][0]) == n && strncmp(kinds[i][0], list, n) == 0;
        if (!known)
            return false;
        list += n + (list[n] == ',');
    }
    return true;
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
