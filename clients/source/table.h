/* A table as the server tells it (wire/table.h), and in words: lines by their labels, places of the code by file and line. */
#ifndef CLIENTS_SOURCE_TABLE_H
#define CLIENTS_SOURCE_TABLE_H

#include "clients/book/book.h"
#include "clients/book/sheet.h"
#include "clients/site/site.h"
#include "wire/ask.h"
#include "wire/table.h"

/* Takes a part of the answer to TABLE; true once all is there. */
bool table_take(struct shown_table *table, const struct answer *answer);

/* Who knows what things are called. */
struct table_names {
    const struct book *book;
    struct sites *sites;
};

/* A cell in words, new memory: "205.170" ms, "41.2 %", "T:producer", "main (hold.c:5)"; "-" where nothing is known. */
char *table_say(const struct table_names *names, const struct table_column *column,
                const struct table_cell *cell);
/* "main (hold.c:5)", "hold.c:5"; `nowhere` where there is no place.  New memory. */
char *table_say_place(const struct table_names *names, struct table_place place,
                      const char *nowhere);
/* What stands above a column: "blocked ms".  New memory. */
char *table_say_title(const struct table_column *column);

/* Columns by their names (table_find), in this order: "thread,blocked_ns"; NULL: all that are no details;
 * "all": all.  New memory; NULL: there is none of the name in *unknown, which is new memory, too. */
uint32_t *table_choose(const struct shown_table *table, const char *list, uint32_t *count,
                       char **unknown);

/* These columns in words. */
void table_sheet(struct sheet *sheet, const struct table_names *names,
                 const struct shown_table *table, const uint32_t *columns, uint32_t count);

#endif
