/* A table as text, from which tables are printed, painted and shown in a window.
 *
 * Every row has one cell per column. A zeroed table is empty. It owns what is put into it. */
#ifndef CLIENTS_METADATA_TEXT_TABLE_H
#define CLIENTS_METADATA_TEXT_TABLE_H

#include "wire/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_table {
    char *title;
    bool head; /* the heading of a page: a large title, and the notes as plain lines */
    struct text_table_column {
        char *title;
        bool right; /* right-aligned, for numbers */
        bool shaded; /* with a bar, and in grey, by each row's share */
        bool code; /* program text, in a monospace font */
    } *columns;
    uint32_t column_count;
    struct text_table_row {
        uint8_t depth; /* indentation of its first cell */
        bool total;
        struct event_id event; /* that it is about; line 0: none */
        uint32_t row; /* of the table that it is made from */
        double share; /* of everything, 0 to 1, if a column is shaded */
        char **cells;
    } *rows;
    uint32_t row_count;
    char **notes;
    uint32_t note_count;
};

void text_table_add_column(struct text_table *sheet, char *title,
                           bool right); /* takes ownership of the title */
/* Adds a row with cells that are NULL until they are set. */
struct text_table_row *text_table_add_row(struct text_table *sheet);
void text_table_add_note(struct text_table *sheet, char *note);
void text_table_free(struct text_table *sheet); /* leaves it empty */

/* Returns the number of characters of a UTF-8 text. */
size_t text_table_width(const char *text);

#endif
