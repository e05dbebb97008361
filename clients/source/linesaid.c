#include "clients/source/linesaid.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define SAID 4u /* things; then "and so on" */

struct saying {
    const struct table_names *names;
    const struct shown_table *table;
    char *text;
    unsigned count;
};

static const struct table_cell *cell_of(const struct saying *s, uint32_t row, const char *name)
{
    return &table_cells(s->table, row)[table_find(s->table, name)];
}

/* Takes it over. */
static void add(struct saying *s, char *more)
{
    if (s->count++ <= SAID) {
        char *all = memory_printed("%s%s%s", s->text, *s->text ? "; " : "",
                                   s->count <= SAID ? more : "and so on");
        free(s->text);
        s->text = all;
    }
    free(more);
}

static char *times(int64_t count)
{
    return count == 1 ? memory_copied("once") : memory_printed("%lld times", (long long)count);
}

static void say_call(struct saying *s, uint32_t row)
{
    const struct table_cell *of = cell_of(s, row, "of"), *total = cell_of(s, row, "total_ns");
    char *name = of->is == CELL_PLACE
                     ? table_say_place(s->names, of->place, "a call that is recorded")
                     : memory_copied("a call that is recorded");
    char *count = times(cell_of(s, row, "calls")->number);
    add(s, total->is == CELL_NUMBER
               ? memory_printed("calls %s %s, %.3f ms", name, count, (double)total->number / 1e6)
               : memory_printed("calls %s %s", name, count));
    free(name);
    free(count);
}

static void say_wait(struct saying *s, uint32_t row)
{
    const struct table_cell *of = cell_of(s, row, "of");
    char *count = times(cell_of(s, row, "waits")->number);
    add(s, memory_printed("%s %s, waited %.3f ms", of->is == CELL_TEXT ? of->text : "waits", count,
                          (double)cell_of(s, row, "waited_ns")->number / 1e6));
    free(count);
}

char *linesaid(const struct table_names *names, const struct costs *costs,
               const struct costs_line *line)
{
    struct saying s = {names, costs->table, memory_copied(""), 0};
    for (uint32_t i = 0; i < line->row_count; i++) {
        const struct table_cell *what = cell_of(&s, line->rows[i], "what");
        if (what->is == CELL_TEXT && strcmp(what->text, "call") == 0)
            say_call(&s, line->rows[i]);
        else if (what->is == CELL_TEXT && strcmp(what->text, "wait") == 0)
            say_wait(&s, line->rows[i]);
    }
    return s.text;
}
