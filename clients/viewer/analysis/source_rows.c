#include "clients/viewer/analysis/source_rows.h"

#include "clients/sourcefile/annotated_source.h"
#include "render/table_page.h"

#include <glib.h>
#include <string.h>

/* Prefers the row of the line itself to those above and below it, in parentheses, for code that ran
 * before or after it. */
int source_rows_find_line(const struct result_table *t, int number)
{
    uint32_t line = result_table_find_column(t, "line"), last = result_table_find_column(t, "last"),
             text = result_table_find_column(t, "text");
    int found = -1;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        if (cells[line].is != CELL_NUMBER || cells[line].number != number ||
            cells[last].is != CELL_NULL)
            continue;
        if (cells[text].is == CELL_TEXT && *cells[text].text != '(')
            return (int)i;
        found = found < 0 ? (int)i : found;
    }
    return found;
}

int source_rows_find_heaviest(const struct result_table *t)
{
    uint32_t share = result_table_find_column(t, "share");
    double most = 0;
    int row = -1;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cell = &result_table_cells(t, i)[share];
        if (cell->is != CELL_REAL || cell->real <= most)
            continue;
        most = cell->real;
        row = (int)i;
    }
    return row;
}

static bool has_text(const struct result_table *t, uint32_t row, uint32_t column, const char *text)
{
    const struct table_cell *cell = &result_table_cells(t, row)[column];
    char *line = cell->is == CELL_TEXT ? g_utf8_casefold(cell->text, -1) : g_strdup("");
    bool has = strstr(line, text) != NULL;
    g_free(line);
    return has;
}

int source_rows_find_text(const struct result_table *t, uint32_t from, const char *text)
{
    char *folded = g_utf8_casefold(text, -1);
    uint32_t column = result_table_find_column(t, "text"), i = 0;
    while (i < t->row_count && !has_text(t, (from + i) % t->row_count, column, folded))
        i++;
    bool found = *folded && i < t->row_count;
    g_free(folded);
    return found ? (int)((from + i) % t->row_count) : -1;
}

/* The text comes first, then the costs. */
const struct grid_column source_rows_columns[] = {
    {"share", NULL, " "},           {"line", "last", NULL},   {"text", NULL, NULL},
    {"caused_wait_ns", NULL, NULL}, {"self_ns", NULL, NULL},  {"waited_ns", NULL, NULL},
    {"path_ns", NULL, NULL},        {"total_ns", NULL, NULL}, {"calls", NULL, NULL},
    {"share", NULL, NULL},          {"ran_ns", NULL, NULL},   {0}};
const unsigned source_rows_styles[] = {GRID_BAR,
                                       GRID_BLANK | GRID_SHADED,
                                       GRID_BLANK | GRID_CODE,
                                       GRID_BLANK,
                                       GRID_BLANK,
                                       GRID_BLANK,
                                       GRID_BLANK,
                                       GRID_BLANK,
                                       GRID_BLANK,
                                       GRID_BLANK,
                                       GRID_BLANK};

const char *source_rows_write(const struct result_table *t, const struct table_names *names,
                              const struct document_options *options, const char *file)
{
    struct text_table sheet = {0};
    annotated_words_write(&sheet, names, t);
    const char *why = table_page_write(&sheet, 1, options, file);
    text_table_free(&sheet);
    return why;
}
