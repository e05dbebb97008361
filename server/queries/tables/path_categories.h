/* Critical path by category of code: how much of it, and of all running time, each category has. */
#ifndef SERVER_QUERIES_TABLES_PATH_CATEGORIES_H
#define SERVER_QUERIES_TABLES_PATH_CATEGORIES_H

#include "server/queries/tables/step_categories.h"
#include "server/analysis/critical_path.h"

/* Adds a row for each category, with the columns of the path table (path_table.c); call after
 * step_categories_split() returned true. */
void path_categories_fill(struct step_categories *categories, const struct critical_path *path,
                          struct result_table *table);

#endif
