/* The critical path by category: what of it, and of all that threads did, was what kind of
 * processing. */
#ifndef SERVER_ANSWER_TABLE_PATHCATEGORIES_H
#define SERVER_ANSWER_TABLE_PATHCATEGORIES_H

#include "server/answer/table/categories.h"
#include "server/causes/path.h"

/* A row each, into the columns of the path that it has for steps (path.c); once
 * step_categories_split is done. */
void path_categories_fill(struct step_categories *categories, const struct critical_path *path,
                          struct result_table *table);

#endif
