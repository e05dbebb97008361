#include "clients/sourcefile/line_text.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS_SHOWN 4u /* items; more are shown as "and so on" */

struct line_text_buffer {
    const struct table_names *names;
    const struct result_table *table;
    char *text;
    unsigned count;
};

static const struct table_cell *cell_of(const struct line_text_buffer *s, uint32_t row,
                                        const char *name)
{
    return &result_table_cells(s->table, row)[result_table_find_column(s->table, name)];
}

/* Appends an item; takes over its text. */
static void line_text_append(struct line_text_buffer *s, char *more)
{
    if (s->count++ <= ITEMS_SHOWN) {
        char *all = xasprintf("%s%s%s", s->text, *s->text ? "; " : "",
                              s->count <= ITEMS_SHOWN ? more : "and so on");
        free(s->text);
        s->text = all;
    }
    free(more);
}

static char *line_text_count_text(int64_t count)
{
    return count == 1 ? xstrdup("once") : xasprintf("%lld times", (long long)count);
}

static void line_text_report_call(struct line_text_buffer *s, uint32_t row)
{
    const struct table_cell *of = cell_of(s, row, "of"), *total = cell_of(s, row, "total_ns");
    char *name = of->is == CELL_PLACE
                     ? result_table_place_text(s->names, of->place, "a call that is recorded")
                     : xstrdup("a call that is recorded");
    char *count = line_text_count_text(cell_of(s, row, "calls")->number);
    line_text_append(s, total->is == CELL_NUMBER ? xasprintf("calls %s %s, %.3f ms", name, count,
                                                             (double)total->number / 1e6)
                                                 : xasprintf("calls %s %s", name, count));
    free(name);
    free(count);
}

static void line_text_report_wait(struct line_text_buffer *s, uint32_t row)
{
    const struct table_cell *of = cell_of(s, row, "of");
    char *count = line_text_count_text(cell_of(s, row, "waits")->number);
    line_text_append(s, xasprintf("%s %s, waited %.3f ms", of->is == CELL_TEXT ? of->text : "waits",
                                  count, (double)cell_of(s, row, "waited_ns")->number / 1e6));
    free(count);
}

char *line_text_make(const struct table_names *names, const struct line_costs *costs,
                     const struct line_costs_line *line)
{
    struct line_text_buffer s = {names, costs->table, xstrdup(""), 0};
    for (uint32_t i = 0; i < line->row_count; i++) {
        const struct table_cell *what = cell_of(&s, line->rows[i], "kind");
        if (what->is == CELL_TEXT && strcmp(what->text, "call") == 0)
            line_text_report_call(&s, line->rows[i]);
        else if (what->is == CELL_TEXT && strcmp(what->text, "wait") == 0)
            line_text_report_wait(&s, line->rows[i]);
    }
    return s.text;
}
