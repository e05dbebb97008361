#define _GNU_SOURCE
#include "clients/source/table.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

bool table_take(struct shown_table *t, const struct answer *answer)
{
    switch (answer->part) {
    case PART_TABLE:
        get_table_head(answer->in, t);
        break;
    case PART_ROWS:
        get_table_rows(answer->in, t);
        break;
    case PART_TABLE_END:
        get_table_end(answer->in, t);
        break;
    default:
        return answer->last;
    }
    in_done(answer->in);
    return answer->last;
}

/* ---- words ---- */

char *table_say_place(const struct table_names *names, struct table_place place,
                      const char *nowhere)
{
    if (!place.address)
        return memory_copied(nowhere);
    struct site_is site = sites_call(names->sites, place.process, place.address);
    return *site.function ? memory_printed("%s (%s)", site.function, site.place)
                          : memory_copied(site.place);
}

static char *say_name(const struct table_names *names, struct table_place place)
{
    const char *text = sites_text(names->sites, place.process, place.address);
    return text ? memory_copied(text) : table_say_place(names, place, "-");
}

/* "f (a.c:3) < g (a.c:9), after a.c:4" */
static char *say_calls(const struct table_names *names, const struct table_cell *cell,
                       const char *function)
{
    struct table_place after = cell->between.to, caller = cell->between.caller;
    char *by = table_say_place(names, caller, "");
    char *said = memory_printed(
        "%s%s%s%s%s", function, *by ? " < " : "", by, after.address ? ", after " : "",
        after.address ? sites_call(names->sites, after.process, after.address).place : "");
    free(by);
    return said;
}

static char *say_step(const struct table_names *names, const struct table_cell *cell)
{
    static const char *const words[CELL_STEPS] = {[CELL_STEP_LATENCY] = "going on at",
                                                  [CELL_STEP_TIMER] = "until its time at",
                                                  [CELL_STEP_UNKNOWN] = "unexplained at"};
    char *from = table_say_place(names, cell->between.from, "its begin"), *said;
    if (cell->step == CELL_STEP_CALLS) {
        said = say_calls(names, cell, from);
    } else if (cell->step == CELL_STEP_CODE) {
        char *to = table_say_place(names, cell->between.to, "its end");
        said = memory_printed("%s to %s", from, to);
        free(to);
    } else {
        said = memory_printed("%s %s", words[cell->step], from);
    }
    free(from);
    return said;
}

/* What rounds to nothing has no sign. */
static char *say_number(const struct table_column *column, double value, bool whole)
{
    double told = column->kind == TABLE_NS      ? value / 1e6
                  : column->kind == TABLE_FINE  ? value / 1e3
                  : column->kind == TABLE_SHARE ? 100 * value
                                                : value;
    int digits = column->kind == TABLE_SHARE                                        ? 1
                 : column->kind == TABLE_NS || column->kind == TABLE_FINE || !whole ? 3
                                                                                    : 0;
    char *said = memory_printed("%.*f", digits, told);
    if (*said == '-' && !said[1 + strspn(said + 1, "0.")])
        memmove(said, said + 1, strlen(said));
    if (column->kind != TABLE_SHARE)
        return said;
    char *share = memory_printed("%s %%", said);
    free(said);
    return share;
}

static char *say_event(struct ref at)
{
    char text[48];
    ref_print(text, sizeof text, at);
    return memory_copied(text);
}

char *table_say(const struct table_names *names, const struct table_column *column,
                const struct table_cell *cell)
{
    switch (cell->is) {
    case CELL_NUMBER:
        return say_number(column, (double)cell->number, true);
    case CELL_REAL:
        return say_number(column, cell->real, false);
    case CELL_TEXT:
        return memory_copied(cell->text);
    case CELL_LINE:
        return memory_copied(book_label(names->book, cell->line));
    case CELL_PLACE:
        return table_say_place(names, cell->place, "-");
    case CELL_NAME:
        return say_name(names, cell->place);
    case CELL_STEP:
        return say_step(names, cell);
    case CELL_EVENT:
        return say_event(cell->event);
    default:
        return memory_copied("-");
    }
}

char *table_say_title(const struct table_column *column)
{
    const char *unit = column->kind == TABLE_NS ? " ms" : column->kind == TABLE_FINE ? " us" : "";
    return memory_printed("%s%s", column->title, unit);
}

/* ---- columns ---- */

static uint32_t *choose_listed(const struct shown_table *t, const char *list, uint32_t *count,
                               char **unknown)
{
    char *copy = memory_copied(list), *rest = copy;
    uint32_t *chosen = NULL, n = 0;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        uint32_t i = table_find(t, word);
        if (i == t->column_count) {
            *unknown = memory_copied(word);
            free(chosen);
            free(copy);
            return NULL;
        }
        PUSH(chosen, n, i);
    }
    free(copy);
    *count = n;
    return chosen;
}

uint32_t *table_choose(const struct shown_table *t, const char *list, uint32_t *count,
                       char **unknown)
{
    bool all = list && strcmp(list, "all") == 0;
    if (list && !all)
        return choose_listed(t, list, count, unknown);
    uint32_t *chosen = memory_zeroed(t->column_count, sizeof *chosen);
    *count = 0;
    for (uint32_t i = 0; i < t->column_count; i++)
        if (all || !t->columns[i].detail)
            chosen[(*count)++] = i;
    return chosen;
}

/* ---- in words ---- */

static bool is_number(const struct table_column *column)
{
    return column->kind == TABLE_NS || column->kind == TABLE_FINE || column->kind == TABLE_COUNT ||
           column->kind == TABLE_SHARE;
}

static bool is_said(const struct shown_table *t, uint32_t column)
{
    bool said = false;
    for (uint32_t i = 0; i < t->row_count && !said; i++)
        said = table_cells(t, i)[column].is != CELL_NULL;
    return said;
}

/* A column that is not summed up has nothing there; what no row knows is marked as not known. */
static void add_total(struct sheet *s, const struct table_names *names, const struct shown_table *t,
                      const uint32_t *columns)
{
    struct sheet_row *row = sheet_row(s);
    row->total = true;
    for (uint32_t i = 0; i < s->column_count; i++) {
        const struct table_cell *cell = &t->total[columns[i]];
        bool named = i == 0 && cell->is == CELL_NULL;
        bool blank = cell->is == CELL_NULL &&
                     (!is_number(&t->columns[columns[i]]) || is_said(t, columns[i]));
        row->cells[i] = named   ? memory_copied("total")
                        : blank ? memory_copied("")
                                : table_say(names, &t->columns[columns[i]], cell);
    }
}

/* Whether a column says something in rows of this depth, or in none at all: then what is not known is marked. */
static bool says(const struct shown_table *t, uint32_t column, uint8_t depth)
{
    bool anywhere = false;
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (table_cells(t, i)[column].is == CELL_NULL)
            continue;
        if (t->rows[i].depth == depth)
            return true;
        anywhere = true;
    }
    return !anywhere;
}

/* By depth and column; the caller frees it. */
static bool *what_says(const struct shown_table *t, const uint32_t *columns, uint32_t count)
{
    bool *all = memory_zeroed((size_t)(UINT8_MAX + 1) * count, sizeof *all);
    bool seen[UINT8_MAX + 1] = {false};
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        for (uint32_t k = 0; !seen[depth] && k < count; k++)
            all[(size_t)depth * count + k] = says(t, columns[k], depth);
        seen[depth] = true;
    }
    return all;
}

/* What stands in a column of a row: its own cell, or of those under it the one that is not null. */
static uint32_t stands(const struct shown_table *t, uint32_t row, uint32_t column)
{
    const struct table_cell *cells = table_cells(t, row);
    if (cells[column].is != CELL_NULL)
        return column;
    for (uint32_t i = column + 1; i < t->column_count; i++)
        if (t->columns[i].under == column + 1 && cells[i].is != CELL_NULL)
            return i;
    return column;
}

static void add_row(struct sheet *s, const struct table_names *names, const struct shown_table *t,
                    uint32_t i, const uint32_t *columns, const bool *says)
{
    struct sheet_row *row = sheet_row(s);
    row->depth = t->rows[i].depth;
    row->event = t->rows[i].event;
    row->row = i;
    for (uint32_t k = 0; k < s->column_count; k++) {
        uint32_t at = stands(t, i, columns[k]);
        bool said = at != columns[k] || says[(size_t)row->depth * s->column_count + k];
        row->cells[k] =
            said ? table_say(names, &t->columns[at], &table_cells(t, i)[at]) : memory_copied("");
    }
}

/* Those that do not stand under another one of them. */
static uint32_t *apart(const struct shown_table *t, const uint32_t *columns, uint32_t *count)
{
    uint32_t *kept = memory_zeroed(*count + 1, sizeof *kept), n = 0;
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t under = t->columns[columns[i]].under;
        bool has = false;
        for (uint32_t k = 0; k < *count; k++)
            has |= under && columns[k] == under - 1;
        if (!has)
            kept[n++] = columns[i];
    }
    *count = n;
    return kept;
}

void table_sheet(struct sheet *s, const struct table_names *names, const struct shown_table *t,
                 const uint32_t *chosen, uint32_t count)
{
    uint32_t *columns = apart(t, chosen, &count);
    *s = (struct sheet){.title = memory_copied(t->title)};
    for (uint32_t i = 0; i < count; i++)
        sheet_column(s, table_say_title(&t->columns[columns[i]]),
                     is_number(&t->columns[columns[i]]));
    bool *says = what_says(t, columns, count);
    for (uint32_t i = 0; i < t->row_count; i++)
        add_row(s, names, t, i, columns, says);
    free(says);
    if (t->total)
        add_total(s, names, t, columns);
    for (uint32_t i = 0; i < t->note_count; i++)
        sheet_note(s, memory_copied(t->notes[i]));
    free(columns);
}
