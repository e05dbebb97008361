#define _GNU_SOURCE
#include "clients/connection/result_table.h"

#include "base/alloc.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

bool result_table_receive(struct result_table *t, const struct response_chunk *answer)
{
    switch (answer->part) {
    case RESPONSE_TABLE:
        decode_table_head(answer->in, t);
        break;
    case RESPONSE_ROWS:
        decode_table_rows(answer->in, t);
        break;
    case RESPONSE_TABLE_END:
        decode_table_end(answer->in, t);
        break;
    default:
        return answer->last;
    }
    decoder_finish(answer->in);
    return answer->last;
}

/* ---- cells as text ---- */

char *result_table_place_text(const struct table_names *names, struct table_place place,
                              const char *nowhere)
{
    if (!place.address)
        return xstrdup(nowhere);
    struct symbol_location site = symbolize(names->sites, place.process, place.address);
    return *site.function ? xasprintf("%s (%s)", site.function, site.place) : xstrdup(site.place);
}

static char *result_table_name_text(const struct table_names *names, struct table_place place)
{
    const char *text = symbolizer_location_text(names->sites, place.process, place.address);
    return text ? xstrdup(text) : result_table_place_text(names, place, "-");
}

char *result_table_data_text(const struct table_names *names, struct table_place address)
{
    const char *name = symbolizer_symbol(names->sites, address.process, address.address);
    return name ? xstrdup(name) : xasprintf("0x%llx", (unsigned long long)address.address);
}

/* Returns "f (a.c:3) < g (a.c:9), after a.c:4" in new memory. */
static char *result_table_calls_text(const struct table_names *names, const struct table_cell *cell,
                                     const char *function)
{
    struct table_place after = cell->between.to, caller = cell->between.caller;
    char *by = result_table_place_text(names, caller, "");
    char *text =
        xasprintf("%s%s%s%s%s", function, *by ? " < " : "", by, after.address ? ", after " : "",
                  after.address ? symbolize(names->sites, after.process, after.address).place : "");
    free(by);
    return text;
}

/* Returns "a.c:3 → a.c:9 (f)" within a function, else "f (a.c:3) → g (a.c:9)", in new
 * memory. */
static char *result_table_segment_text(const struct table_names *names, struct table_place from,
                                       struct table_place to)
{
    if (from.address && to.address) {
        struct symbol_location at = symbolize(names->sites, from.process, from.address);
        char *function = xstrdup(at.function), *place = xstrdup(at.place), *text = NULL;
        at = symbolize(names->sites, to.process, to.address);
        if (*function && strcmp(function, at.function) == 0)
            text = xasprintf("%s → %s (%s)", place, at.place, function);
        free(function);
        free(place);
        if (text)
            return text;
    }
    char *begin = result_table_place_text(names, from, "thread start"),
         *end = result_table_place_text(names, to, "thread end"),
         *text = xasprintf("%s → %s", begin, end);
    free(begin);
    free(end);
    return text;
}

static char *result_table_step_text(const struct table_names *names, const struct table_cell *cell)
{
    static const char *const words[CELL_STEPS] = {[CELL_STEP_LATENCY] = "wake-up latency at",
                                                  [CELL_STEP_TIMER] = "timeout at",
                                                  [CELL_STEP_UNKNOWN] = "unattributed at"};
    char *from = result_table_place_text(names, cell->between.from, "thread start"), *text;
    if (cell->step == CELL_STEP_CALLS) {
        text = result_table_calls_text(names, cell, from);
    } else if (cell->step == CELL_STEP_CODE) {
        text = result_table_segment_text(names, cell->between.from, cell->between.to);
    } else {
        text = xasprintf("%s %s", words[cell->step], from);
    }
    free(from);
    return text;
}

/* Formats a number; without a sign if it rounds to 0. */
static char *result_table_number_text(const struct table_column *column, double value, bool whole)
{
    double amount = column->kind == TABLE_NS      ? value / 1e6
                    : column->kind == TABLE_FINE  ? value / 1e3
                    : column->kind == TABLE_SHARE ? 100 * value
                                                  : value;
    int digits = column->kind == TABLE_SHARE                                        ? 1
                 : column->kind == TABLE_NS || column->kind == TABLE_FINE || !whole ? 3
                                                                                    : 0;
    char *text = xasprintf("%.*f", digits, amount);
    if (*text == '-' && !text[1 + strspn(text + 1, "0.")])
        memmove(text, text + 1, strlen(text));
    if (column->kind != TABLE_SHARE)
        return text;
    char *share = xasprintf("%s %%", text);
    free(text);
    return share;
}

static char *result_table_event_text(struct event_id at)
{
    char text[48];
    event_id_print(text, sizeof text, at);
    return xstrdup(text);
}

char *result_table_cell_text(const struct table_names *names, const struct table_column *column,
                             const struct table_cell *cell)
{
    switch (cell->is) {
    case CELL_NUMBER:
        return result_table_number_text(column, (double)cell->number, true);
    case CELL_REAL:
        return result_table_number_text(column, cell->real, false);
    case CELL_TEXT:
        return xstrdup(cell->text);
    case CELL_LINE:
        return xstrdup(metadata_label(names->book, cell->line));
    case CELL_PLACE:
        return result_table_place_text(names, cell->place, "-");
    case CELL_NAME:
        return result_table_name_text(names, cell->place);
    case CELL_DATA:
        return result_table_data_text(names, cell->place);
    case CELL_STEP:
        return result_table_step_text(names, cell);
    case CELL_EVENT:
        return result_table_event_text(cell->event);
    default:
        return xstrdup("-");
    }
}

bool result_table_place_matches(const struct table_names *names, struct table_place place,
                                const char *name)
{
    char *text = result_table_place_text(names, place, ""), *open = strstr(text, " (");
    bool is = *text && fnmatch(name, text, 0) == 0;
    if (!is && open) {
        size_t n = strlen(text);
        text[n - 1] = 0;
        *open = 0;
        is = fnmatch(name, text, 0) == 0 || fnmatch(name, open + 2, 0) == 0;
    }
    free(text);
    return is;
}

char *result_table_title_text(const struct table_column *column)
{
    const char *unit = column->kind == TABLE_NS     ? " (ms)"
                       : column->kind == TABLE_FINE ? " (us)"
                                                    : "";
    return xasprintf("%s%s", column->title, unit);
}

/* ---- columns ---- */

static uint32_t *choose_listed(const struct result_table *t, const char *list, uint32_t *count,
                               char **unknown)
{
    char *copy = xstrdup(list), *rest = copy;
    uint32_t *chosen = NULL, n = 0;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        uint32_t i = result_table_find_column(t, word);
        if (i == t->column_count) {
            *unknown = xstrdup(word);
            free(chosen);
            free(copy);
            return NULL;
        }
        ARRAY_PUSH(chosen, n, i);
    }
    free(copy);
    *count = n;
    return chosen;
}

/* Returns whether the texts of all rows are empty, such as flags of calls of which none has one. */
static bool result_table_is_blank(const struct result_table *t, uint32_t column)
{
    bool blank = t->columns[column].kind == TABLE_TEXT && t->row_count > 0;
    for (uint32_t i = 0; i < t->row_count && blank; i++) {
        const struct table_cell *cell = &result_table_cells(t, i)[column];
        blank = cell->is == CELL_TEXT && !*cell->text;
    }
    return blank;
}

uint32_t *result_table_choose_columns(const struct result_table *t, const char *list,
                                      uint32_t *count, char **unknown)
{
    bool all = list && strcmp(list, "all") == 0;
    if (list && !all)
        return choose_listed(t, list, count, unknown);
    uint32_t *chosen = xcalloc(t->column_count, sizeof *chosen);
    *count = 0;
    for (uint32_t i = 0; i < t->column_count; i++)
        if (all || (!t->columns[i].detail && !result_table_is_blank(t, i)))
            chosen[(*count)++] = i;
    return chosen;
}

/* ---- tables as text ---- */

static bool is_number(const struct table_column *column)
{
    return column->kind == TABLE_NS || column->kind == TABLE_FINE || column->kind == TABLE_COUNT ||
           column->kind == TABLE_SHARE;
}

static bool result_table_has_values(const struct result_table *t, uint32_t column)
{
    bool shown = false;
    for (uint32_t i = 0; i < t->row_count && !shown; i++)
        shown = result_table_cells(t, i)[column].is != CELL_NULL;
    return shown;
}

/* Adds the row of totals, with the word "total" in the first column of words; blank where a column
 * has values but no total; "-" where no row has a value. */
static void add_total(struct text_table *s, const struct table_names *names,
                      const struct result_table *t, const uint32_t *columns)
{
    struct text_table_row *row = text_table_add_row(s);
    bool labeled = false;
    row->total = true;
    for (uint32_t i = 0; i < s->column_count; i++) {
        const struct table_cell *cell = &t->total[columns[i]];
        bool words = !is_number(&t->columns[columns[i]]);
        bool label = !labeled && cell->is == CELL_NULL && (i == 0 || words);
        bool blank = cell->is == CELL_NULL && (words || result_table_has_values(t, columns[i]));
        labeled |= label;
        row->cells[i] = label   ? xstrdup("total")
                        : blank ? xstrdup("")
                                : result_table_cell_text(names, &t->columns[columns[i]], cell);
    }
}

/* Returns whether cells of a column at this depth are shown: some have a value there, or none has
 * one anywhere, which is shown as unknown. */
static bool result_table_column_has_text(const struct result_table *t, uint32_t column,
                                         uint8_t depth)
{
    bool anywhere = false;
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (result_table_cells(t, i)[column].is == CELL_NULL)
            continue;
        if (t->rows[i].depth == depth)
            return true;
        anywhere = true;
    }
    return !anywhere;
}

/* Returns the result of result_table_column_has_text by depth and column; the caller frees it. */
static bool *result_table_text_columns(const struct result_table *t, const uint32_t *columns,
                                       uint32_t count)
{
    bool *all = xcalloc((size_t)(UINT8_MAX + 1) * count, sizeof *all);
    bool seen[UINT8_MAX + 1] = {false};
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        for (uint32_t k = 0; !seen[depth] && k < count; k++)
            all[(size_t)depth * count + k] = result_table_column_has_text(t, columns[k], depth);
        seen[depth] = true;
    }
    return all;
}

/* Returns the column of the cell that is shown: this one, or if it is null a column under it that
 * is not. */
static uint32_t result_table_filled_column(const struct result_table *t, uint32_t row,
                                           uint32_t column)
{
    const struct table_cell *cells = result_table_cells(t, row);
    if (cells[column].is != CELL_NULL)
        return column;
    for (uint32_t i = column + 1; i < t->column_count; i++)
        if (t->columns[i].under == column + 1 && cells[i].is != CELL_NULL)
            return i;
    return column;
}

static void add_row(struct text_table *s, const struct table_names *names,
                    const struct result_table *t, uint32_t i, const uint32_t *columns,
                    const bool *has_text)
{
    struct text_table_row *row = text_table_add_row(s);
    row->depth = t->rows[i].depth;
    row->event = t->rows[i].event;
    row->row = i;
    for (uint32_t k = 0; k < s->column_count; k++) {
        uint32_t at = result_table_filled_column(t, i, columns[k]);
        bool shown = at != columns[k] || has_text[(size_t)row->depth * s->column_count + k];
        row->cells[k] =
            shown ? result_table_cell_text(names, &t->columns[at], &result_table_cells(t, i)[at])
                  : xstrdup("");
    }
}

/* Selects the columns that are not under another selected one. */
static uint32_t *result_table_top_level_columns(const struct result_table *t,
                                                const uint32_t *columns, uint32_t *count)
{
    uint32_t *kept = xcalloc(*count + 1, sizeof *kept), n = 0;
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

void result_table_to_text(struct text_table *s, const struct table_names *names,
                          const struct result_table *t, const uint32_t *chosen, uint32_t count)
{
    uint32_t *columns = result_table_top_level_columns(t, chosen, &count);
    *s = (struct text_table){.title = xstrdup(t->title)};
    for (uint32_t i = 0; i < count; i++)
        text_table_add_column(s, result_table_title_text(&t->columns[columns[i]]),
                              is_number(&t->columns[columns[i]]));
    bool *has_text = result_table_text_columns(t, columns, count);
    for (uint32_t i = 0; i < t->row_count; i++)
        add_row(s, names, t, i, columns, has_text);
    free(has_text);
    if (t->total)
        add_total(s, names, t, columns);
    for (uint32_t i = 0; i < t->note_count; i++)
        text_table_add_note(s, xstrdup(t->notes[i]));
    free(columns);
}
