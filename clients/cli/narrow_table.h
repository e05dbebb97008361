/* A table as text whose names are no wider than is good to read. */
#ifndef CLIENTS_CLI_NARROW_TABLE_H
#define CLIENTS_CLI_NARROW_TABLE_H

#include "render/table_page.h"

/* Shortens the names of its cells, and says so in a note. */
void narrow_table_shorten(struct text_table *sheet);

#endif
