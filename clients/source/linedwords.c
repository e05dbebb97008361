/* The lines of a source in words, as they are printed and painted. */
#include "clients/source/lined.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 120u /* characters */

static char *cut(const char *text)
{
    if (sheet_width(text) <= TEXT_MOST)
        return memory_copied(text);
    size_t n = 0;
    for (uint32_t i = 0; i < TEXT_MOST; i++)
        for (n++; ((unsigned char)text[n] & 0xc0) == 0x80; n++)
            ;
    return memory_printed("%.*s…", (int)n, text);
}

/* What rounds to nothing is left blank. */
static bool is_nothing(const struct table_cell *cell)
{
    return cell->is == CELL_NULL || (cell->is == CELL_NUMBER && !cell->number) ||
           (cell->is == CELL_REAL && cell->real < 0.0005);
}

/* Of the way from one line to another there is nothing to be seen but figures. */
static bool is_blank(const struct shown_table *t, uint32_t row, const uint32_t *columns,
                     uint32_t count)
{
    const struct table_cell *cells = table_cells(t, row);
    uint32_t text = table_find(t, "text"), line = table_find(t, "line");
    bool way = cells[text].is == CELL_NULL || *cells[text].text == '(';
    for (uint32_t k = 0; way && k < count; k++)
        way = columns[k] == line || columns[k] == text || is_nothing(&cells[columns[k]]);
    return way;
}

static char *say(const struct table_names *names, const struct shown_table *t, uint32_t row,
                 uint32_t column)
{
    const struct table_cell *cells = table_cells(t, row);
    uint32_t last = table_find(t, "last");
    if (is_nothing(&cells[column]))
        return memory_copied("");
    if (column == table_find(t, "text"))
        return cut(cells[column].text);
    if (column == table_find(t, "line") && cells[last].is == CELL_NUMBER)
        return memory_printed("%lld-%lld", (long long)cells[column].number,
                              (long long)cells[last].number);
    return table_say(names, &t->columns[column], &cells[column]);
}

static void say_row(struct sheet *s, const struct table_names *names, const struct shown_table *t,
                    uint32_t i, const uint32_t *columns)
{
    struct sheet_row *row = sheet_row(s);
    const struct table_cell *share = &table_cells(t, i)[table_find(t, "share")];
    row->row = i;
    row->share = share->is == CELL_REAL ? share->real : 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        row->cells[k] = say(names, t, i, columns[k]);
}

/* Lines without figures are left out here. */
static void say_gap(struct sheet *s, const uint32_t *columns, uint32_t line)
{
    struct sheet_row *row = sheet_row(s);
    row->event = (struct ref){0};
    for (uint32_t k = 0; k < s->column_count; k++)
        row->cells[k] = memory_copied(columns[k] == line ? "…" : "");
}

static void say_total(struct sheet *s, const struct table_names *names, const struct shown_table *t,
                      const uint32_t *columns)
{
    struct sheet_row *row = sheet_row(s);
    row->total = true;
    for (uint32_t k = 0; k < s->column_count; k++) {
        const struct table_cell *cell = &t->total[columns[k]];
        row->cells[k] = cell->is == CELL_NULL
                            ? memory_copied(k + 1 == s->column_count ? "in all" : "")
                            : table_say(names, &t->columns[columns[k]], cell);
    }
}

void lined_words(struct sheet *s, const struct table_names *names, const struct shown_table *t)
{
    uint32_t count, *columns = table_choose(t, NULL, &count, NULL), line = table_find(t, "line");
    int64_t said = 0; /* up to this line nothing was left out */
    *s = (struct sheet){.title = memory_printed("%s: %s", names->book->run.name, t->title)};
    for (uint32_t k = 0; k < count; k++) {
        sheet_column(s, table_say_title(&t->columns[columns[k]]), columns[k] <= line);
        s->columns[k].shaded = columns[k] == line;
        s->columns[k].code = columns[k] > line;
    }
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = table_cells(t, i);
        int64_t at = cells[line].is == CELL_NUMBER ? cells[line].number : 0;
        bool whole = cells[table_find(t, "last")].is == CELL_NULL;
        if (is_blank(t, i, columns, count))
            continue;
        if (said && at > said + 1)
            say_gap(s, columns, line);
        say_row(s, names, t, i, columns);
        said = whole || at > said ? at - !whole : said;
    }
    say_total(s, names, t, columns);
    for (uint32_t i = 0; i < t->note_count; i++)
        sheet_note(s, memory_copied(t->notes[i]));
    free(columns);
}
