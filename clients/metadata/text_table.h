/* A table in words, as it is printed, painted and shown in a window: all of them are made of this
 * one.
 *
 * Every row has as many cells as there are columns.  Zero-initialised it is empty; what is put into
 * it is its own. */
#ifndef CLIENTS_METADATA_TEXT_TABLE_H
#define CLIENTS_METADATA_TEXT_TABLE_H

#include "wire/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_table {
    char *title;
    bool head; /* what stands above all others: a great title, and the notes as plain lines */
    struct text_table_column {
        char *title;
        bool right; /* numbers stand at the right edge */
        bool shaded; /* with a bar, and in grey, by each row's share */
        bool code; /* text of a program: its letters are all as wide */
    } *columns;
    uint32_t column_count;
    struct text_table_row {
        uint8_t depth; /* its first cell is set in so far */
        bool total;
        struct event_id event; /* that it is about; line 0: none */
        uint32_t row; /* of the table that it is made of */
        double share; /* of all, 0 to 1, where a column is shaded */
        char **cells;
    } *rows;
    uint32_t row_count;
    char **notes;
    uint32_t note_count;
};

void text_table_add_column(struct text_table *sheet, char *title,
                           bool right); /* takes the title over */
/* A new row, its cells NULL until they are set. */
struct text_table_row *text_table_add_row(struct text_table *sheet);
void text_table_add_note(struct text_table *sheet, char *note);
void text_table_free(struct text_table *sheet); /* empties it */

/* How many characters a text has, in UTF-8. */
size_t text_table_width(const char *text);

#endif
