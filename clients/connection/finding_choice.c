#include "clients/connection/finding_choice.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether the row is about a lack of CPUs. */
static bool finding_choice_is_of_cpus(const struct result_table *t, uint32_t row)
{
    static const char *const names[] = {"CPU contention", "high wake-up latency"};
    uint32_t column = result_table_find_column(t, "finding");
    const struct table_cell *cell =
        column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
    for (size_t i = 0; cell && cell->is == CELL_TEXT && i < sizeof names / sizeof *names; i++)
        if (strncmp(cell->text, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Returns the row with the largest gain that is not taken; the number of rows if there is none. */
static uint32_t finding_choice_next(const struct result_table *t, const int64_t *gains_ns,
                                    const bool *taken)
{
    uint32_t next = t->row_count;
    for (uint32_t i = 0; i < t->row_count; i++)
        if (!taken[i] && gains_ns[i] >= 0 && (next == t->row_count || gains_ns[i] > gains_ns[next]))
            next = i;
    return next;
}

/* Returns how many rows about a lack of CPUs there is space for. */
static uint32_t finding_choice_space(const struct result_table *t, const int64_t *gains_ns,
                                     uint32_t most)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < t->row_count; i++)
        own += gains_ns[i] >= 0 && !finding_choice_is_of_cpus(t, i);
    return own < most ? most - own : 0;
}

uint32_t finding_choice_make(const struct result_table *t, const int64_t *gains_ns, uint32_t most,
                             uint32_t *chosen)
{
    bool *taken = xcalloc(t->row_count + 1, sizeof *taken);
    uint32_t count = 0, row, space = finding_choice_space(t, gains_ns, most);
    while (count < most && (row = finding_choice_next(t, gains_ns, taken)) < t->row_count) {
        bool of_cpus = finding_choice_is_of_cpus(t, row);
        taken[row] = true;
        if (of_cpus && !space)
            continue;
        space -= of_cpus;
        chosen[count++] = row;
    }
    free(taken);
    return count;
}
