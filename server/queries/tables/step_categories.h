/* Categories of what threads did (config/target.h), how much of the time of a code segment other
 * threads ran, too, and how much of the critical path and of all running time each category has.
 *
 * A wait has the category of its event or of the awaited object, according to the target
 * description.  A function may have a category by its name: only the client knows names, so it
 * passes them in the option "category", "PROCESS:ADDRESS=WORD,...".  Calls that libpoet wraps are
 * extra.  Callees have the category of their caller.  The rest is parallel while more than one
 * thread ran, else local. */
#ifndef SERVER_QUERIES_TABLES_STEP_CATEGORIES_H
#define SERVER_QUERIES_TABLES_STEP_CATEGORIES_H

#include "config/target.h"
#include "server/analysis/critical_path.h"
#include "server/queries/tables/table_query.h"
#include "server/timing/concurrency_levels.h"

/* Zero-initialize it. */
struct step_categories {
    const struct table_view *view;
    struct map categories; /* places -> category */
    bool any; /* a category was given */
    struct concurrency_levels levels;
    bool levelled;
    /* by code segment - 1: its time alone, and in parallel with other threads */
    struct category_split {
        int64_t local_ns, parallel_ns;
    } *splits;
    uint32_t split_count, thread;
    size_t item, near;
};

/* Returns false with the reason in *error if the option is invalid. */
bool step_categories_begin(struct step_categories *categories, const struct table_view *view,
                           struct error *error);
/* Processes about `budget` intervals to compute for how long other threads ran in parallel with
 * each code segment; returns true when done. */
bool step_categories_split(struct step_categories *categories, uint64_t *budget);
/* Returns the category of a code segment, including the special ones of attributions
 * (server/analysis/segment_sums.h); 0 for none. */
uint8_t step_categories_step(const struct step_categories *categories, uint32_t step);
uint8_t step_categories_wait(const struct step_categories *categories,
                             const struct wait_record *wait);
/* Returns a cell with the category's name; null for none. */
struct table_cell step_categories_cell(unsigned category);
/* Frees the memory; it is empty then. */
void step_categories_free(struct step_categories *categories);

/* Adds a row for each category, with the columns of the table of the critical path (path_table.c).
 * step_categories_split() must have returned true. */
void path_categories_fill(struct step_categories *categories, const struct critical_path *path,
                          struct result_table *table);

#endif
