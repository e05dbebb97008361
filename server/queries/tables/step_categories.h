/* Of which category things are that threads did (config/target.h), and how much of the time of a
 * step others ran, too.
 *
 * A wait is of that of its event or of what it was for, as the description says.  A function may be
 * of one by its name:  names are known to who asks, who says so in the option "category",
 * "PROCESS:ADDRESS=WORD,...".  What libpoet wraps is extra.  What is called in it is of the same
 * category.  The rest is parallel while more than one thread ran, else local. */
#ifndef SERVER_QUERIES_TABLES_STEP_CATEGORIES_H
#define SERVER_QUERIES_TABLES_STEP_CATEGORIES_H

#include "config/target.h"
#include "server/queries/tables/table_query.h"
#include "server/timing/concurrency_levels.h"

/* Zero-initialised: of nothing. */
struct step_categories {
    const struct table_view *view;
    struct map said; /* places -> category */
    bool any; /* something is said */
    struct concurrency_levels levels;
    bool levelled;
    struct category_split { /* by step - 1: what it took alone, and beside others */
        int64_t local_ns, parallel_ns;
    } *splits;
    uint32_t split_count, thread;
    size_t item, near;
};

/* False, with a problem that the caller frees: the option is wrong. */
bool step_categories_begin(struct step_categories *categories, const struct table_view *view,
                           char **problem);
/* Goes on, about `budget` intervals, to tell for how long others ran beside each step; true when
 * that is done. */
bool step_categories_split(struct step_categories *categories, uint64_t *budget);
/* Of a function, or what is called at a place; 0: of none. */
uint8_t step_categories_place(const struct step_categories *categories, struct table_place place);
/* Of a step, by its code, or of those that charges know beside (server/analysis/segment_ids.h); 0:
 * of none. */
uint8_t step_categories_step(const struct step_categories *categories, uint32_t step);
uint8_t step_categories_wait(const struct step_categories *categories,
                             const struct wait_record *wait);
/* The word in a cell; null of none. */
struct table_cell step_categories_cell(unsigned category);
void step_categories_free(struct step_categories *categories); /* empties it */

#endif
