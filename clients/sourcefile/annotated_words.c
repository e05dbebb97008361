/* Annotated source as text, for the terminal and the viewer. */
#include "clients/sourcefile/annotated_source.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 120u /* characters */

static char *annotated_words_shorten_text(const char *text)
{
    if (text_table_width(text) <= TEXT_MOST)
        return xstrdup(text);
    size_t n = 0;
    for (uint32_t i = 0; i < TEXT_MOST; i++)
        for (n++; ((unsigned char)text[n] & 0xc0) == 0x80; n++)
            ;
    return xasprintf("%.*s…", (int)n, text);
}

/* Returns whether a cell is left blank: null, or rounded to 0. */
static bool is_nothing(const struct table_cell *cell)
{
    return cell->is == CELL_NULL || (cell->is == CELL_NUMBER && !cell->number) ||
           (cell->is == CELL_REAL && cell->real < 0.0005);
}

/* Returns whether an entry for code between lines has no values to show. */
static bool annotated_words_is_blank_row(const struct result_table *t, uint32_t row,
                                         const uint32_t *columns, uint32_t count)
{
    const struct table_cell *cells = result_table_cells(t, row);
    uint32_t text = result_table_find_column(t, "text"), line = result_table_find_column(t, "line");
    bool between = cells[text].is == CELL_NULL || *cells[text].text == '(';
    for (uint32_t k = 0; between && k < count; k++)
        between = columns[k] == line || columns[k] == text || is_nothing(&cells[columns[k]]);
    return between;
}

static char *annotated_words_cell_text(const struct table_names *names,
                                       const struct result_table *t, uint32_t row, uint32_t column)
{
    const struct table_cell *cells = result_table_cells(t, row);
    uint32_t last = result_table_find_column(t, "last");
    if (is_nothing(&cells[column]))
        return xstrdup("");
    if (column == result_table_find_column(t, "text"))
        return annotated_words_shorten_text(cells[column].text);
    if (column == result_table_find_column(t, "line") && cells[last].is == CELL_NUMBER)
        return xasprintf("%lld-%lld", (long long)cells[column].number,
                         (long long)cells[last].number);
    return result_table_cell_text(names, &t->columns[column], &cells[column]);
}

static void annotated_words_write_row(struct text_table *s, const struct table_names *names,
                                      const struct result_table *t, uint32_t i,
                                      const uint32_t *columns)
{
    struct text_table_row *row = text_table_add_row(s);
    const struct table_cell *share =
        &result_table_cells(t, i)[result_table_find_column(t, "share")];
    row->row = i;
    row->share = share->is == CELL_REAL ? share->real : 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        row->cells[k] = annotated_words_cell_text(names, t, i, columns[k]);
}

/* Adds a row that marks omitted lines. */
static void annotated_words_write_gap(struct text_table *s, const uint32_t *columns, uint32_t line)
{
    struct text_table_row *row = text_table_add_row(s);
    row->event = (struct event_id){0};
    for (uint32_t k = 0; k < s->column_count; k++)
        row->cells[k] = xstrdup(columns[k] == line ? "…" : "");
}

static void annotated_words_write_total(struct text_table *s, const struct table_names *names,
                                        const struct result_table *t, const uint32_t *columns)
{
    struct text_table_row *row = text_table_add_row(s);
    row->total = true;
    for (uint32_t k = 0; k < s->column_count; k++) {
        const struct table_cell *cell = &t->total[columns[k]];
        row->cells[k] = cell->is == CELL_NULL
                            ? xstrdup(k + 1 == s->column_count ? "in all" : "")
                            : result_table_cell_text(names, &t->columns[columns[k]], cell);
    }
}

void annotated_words_write(struct text_table *s, const struct table_names *names,
                           const struct result_table *t)
{
    uint32_t count, *columns = result_table_choose_columns(t, NULL, &count, NULL),
                    line = result_table_find_column(t, "line");
    int64_t last = 0; /* last line shown so far */
    *s = (struct text_table){.title = xasprintf("%s: %s", names->book->run.name, t->title)};
    for (uint32_t k = 0; k < count; k++) {
        text_table_add_column(s, result_table_title_text(&t->columns[columns[k]]),
                              columns[k] <= line);
        s->columns[k].shaded = columns[k] == line;
        s->columns[k].code = columns[k] > line;
    }
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        int64_t at = cells[line].is == CELL_NUMBER ? cells[line].number : 0;
        bool whole = cells[result_table_find_column(t, "last")].is == CELL_NULL;
        if (annotated_words_is_blank_row(t, i, columns, count))
            continue;
        if (last && at > last + 1)
            annotated_words_write_gap(s, columns, line);
        annotated_words_write_row(s, names, t, i, columns);
        last = whole || at > last ? at - !whole : last;
    }
    annotated_words_write_total(s, names, t, columns);
    for (uint32_t i = 0; i < t->note_count; i++)
        text_table_add_note(s, xstrdup(t->notes[i]));
    free(columns);
}
