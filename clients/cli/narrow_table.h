/* Shortening the names in a text table to a readable width. */
#ifndef CLIENTS_CLI_NARROW_TABLE_H
#define CLIENTS_CLI_NARROW_TABLE_H

#include "render/table_page.h"

/* Shortens the names in its cells, and adds a note about it. */
void narrow_table_shorten(struct text_table *sheet);

#endif
