#include "clients/cli/leak_summary.h"

#include "clients/connection/stack_frames.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_MOST 4 /* innermost calls of a path that are shown */

static int64_t leak_summary_cell_number(const struct result_table *t,
                                        const struct table_cell *cells, const char *name)
{
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count && cells[column].is == CELL_NUMBER ? cells[column].number : 0;
}

static char *leak_summary_amount_text(const struct result_table *t, const struct table_cell *cells)
{
    int64_t blocks = leak_summary_cell_number(t, cells, "unfreed_blocks"),
            bytes = leak_summary_cell_number(t, cells, "unfreed_bytes");
    return xasprintf("%lld block%s, %lld byte%s", (long long)blocks, blocks == 1 ? "" : "s",
                     (long long)bytes, bytes == 1 ? "" : "s");
}

/* Fills in the calls of a path, innermost first; returns how many. *all: whether all fit. */
static uint32_t leak_summary_list_calls(const struct table_names *names,
                                        const struct table_row *row, char *calls[CALLS_MOST],
                                        bool *all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->context_count; i++) {
        uint32_t frames = stack_frames_count(names, row->context[i]);
        for (uint32_t k = 0; k < frames; k++) {
            if (count == CALLS_MOST) {
                *all = false;
                return count;
            }
            calls[count++] = stack_frames_text(names, row->context[i], k);
        }
    }
    *all = true;
    return count;
}

/* Returns "main (leak.c:20) > keep (leak.c:6)", the caller first, in new memory. */
static char *leak_summary_path_text(const struct table_names *names, const struct table_row *row)
{
    char *calls[CALLS_MOST];
    bool all;
    uint32_t n = leak_summary_list_calls(names, row, calls, &all);
    char *path = xstrdup(all ? "" : "... > ");
    for (uint32_t i = n; i-- > 0;) {
        char *longer = xasprintf("%s%s%s", path, calls[i], i ? " > " : "");
        free(path);
        free(calls[i]);
        path = longer;
    }
    return path;
}

/* Describes the first row: rows are sorted by what was not freed. */
static char *leak_summary_largest_leak_text(const struct table_names *names,
                                            const struct result_table *t)
{
    const struct table_cell *cells = result_table_cells(t, 0);
    uint32_t thread = result_table_find_column(t, "thread");
    const char *name = thread < t->column_count && cells[thread].is == CELL_LINE
                           ? metadata_label(names->book, cells[thread].line)
                           : "";
    char *most = leak_summary_amount_text(t, cells),
         *path = leak_summary_path_text(names, &t->rows[0]),
         *text = xasprintf("%s%s%s, %s", most, *name ? " by " : "", name, path);
    free(most);
    free(path);
    return text;
}

void leak_summary_write(struct text_table *sheet, const struct table_names *names,
                        const struct result_table *t)
{
    bool some = t->total && leak_summary_cell_number(t, t->total, "unfreed_blocks") > 0;
    sheet->title = xstrdup("Memory not freed");
    int64_t taken = t->total ? leak_summary_cell_number(t, t->total, "allocations") : 0;
    if (!some) {
        text_table_add_note(sheet, taken ? xasprintf("none of %lld block%s", (long long)taken,
                                                     taken == 1 ? "" : "s")
                                         : xstrdup("none (no allocations)"));
        return;
    }
    char *all = leak_summary_amount_text(t, t->total),
         *most = t->row_count &&
                         leak_summary_cell_number(t, result_table_cells(t, 0), "unfreed_blocks") > 0
                     ? leak_summary_largest_leak_text(names, t)
                     : NULL;
    text_table_add_note(sheet,
                        xasprintf("%s%s%s", all, most ? "; largest leak: " : "", most ? most : ""));
    free(all);
    free(most);
}
