#include "clients/book/sheet.h"

#include "memory/memory.h"

#include <stdlib.h>

void sheet_column(struct sheet *s, char *title, bool right)
{
    PUSH(s->columns, s->column_count, ((struct sheet_column){.title = title, .right = right}));
}

struct sheet_row *sheet_row(struct sheet *s)
{
    struct sheet_row row = {.cells = memory_zeroed(s->column_count, sizeof *row.cells)};
    PUSH(s->rows, s->row_count, row);
    return &s->rows[s->row_count - 1];
}

void sheet_note(struct sheet *s, char *note) { PUSH(s->notes, s->note_count, note); }

void sheet_free(struct sheet *s)
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
    *s = (struct sheet){0};
}

size_t sheet_width(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}
