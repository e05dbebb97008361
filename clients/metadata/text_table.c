#include "clients/metadata/text_table.h"

#include "base/alloc.h"

#include <stdlib.h>

void text_table_add_column(struct text_table *s, char *title, bool right)
{
    ARRAY_PUSH(s->columns, s->column_count,
               ((struct text_table_column){.title = title, .right = right}));
}

struct text_table_row *text_table_add_row(struct text_table *s)
{
    struct text_table_row row = {.cells = xcalloc(s->column_count, sizeof *row.cells)};
    ARRAY_PUSH(s->rows, s->row_count, row);
    return &s->rows[s->row_count - 1];
}

void text_table_add_note(struct text_table *s, char *note)
{
    ARRAY_PUSH(s->notes, s->note_count, note);
}

void text_table_free(struct text_table *s)
{
    for (uint32_t i = 0; i < s->row_count; i++) {
        for (uint32_t k = 0; k < s->column_count; k++)
            free(s->rows[i].cells[k]);
        free(s->rows[i].cells);
    }
    for (uint32_t i = 0; i < s->column_count; i++)
        free(s->columns[i].title);
    for (uint32_t i = 0; i < s->note_count; i++)
        free(s->notes[i]);
    free(s->rows);
    free(s->columns);
    free(s->notes);
    free(s->title);
    *s = (struct text_table){0};
}

size_t text_table_width(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}
