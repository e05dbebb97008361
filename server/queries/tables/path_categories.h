/* The critical path by category: what of it, and of all that threads did, was what kind of
 * processing. */
#ifndef SERVER_QUERIES_TABLES_PATH_CATEGORIES_H
#define SERVER_QUERIES_TABLES_PATH_CATEGORIES_H

#include "server/queries/tables/step_categories.h"
#include "server/analysis/critical_path.h"

/* A row each, into the columns of the path that it has for steps (path.c); once
 * step_categories_split is done. */
void path_categories_fill(struct step_categories *categories, const struct critical_path *path,
                          struct result_table *table);

#endif
