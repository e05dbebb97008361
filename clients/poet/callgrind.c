#include "clients/poet/callgrind.h"

#include "clients/poet/dialects.h"
#include "memory/memory.h"

#include <inttypes.h>
#include <stdlib.h>

struct writing {
    FILE *f;
    const struct table_names *names;
    const struct shown_table *table;
    const char *measure, *total;
    uint32_t scope;
};

static struct site_is site_of(const struct writing *w, const struct table_cell *cell)
{
    if (cell->is == CELL_PLACE)
        return sites_call(w->names->sites, cell->place.process, cell->place.address);
    return (struct site_is){"", "", "", 0};
}

/* A line with its file and its function; the line number where it begins. */
static int print_function(const struct writing *w, const char *file_key, const char *key,
                          uint32_t row)
{
    const struct table_cell *cell = &table_cells(w->table, row)[w->scope];
    char *name = dialects_scope(w->names, cell);
    struct site_is site = site_of(w, cell);
    fprintf(w->f, "%s=%s\n%s=%s\n", file_key, *site.path ? site.path : "???", key, name);
    free(name);
    return site.line;
}

static void print_callee(const struct writing *w, uint32_t row, int line)
{
    int there = print_function(w, "cfi", "cfn", row);
    fprintf(w->f, "calls=%" PRId64 " %d\n%d %" PRId64 "\n",
            dialects_number(w->table, row, "calls", 0), there, line,
            dialects_number(w->table, row, w->total, 0));
}

void callgrind_write(FILE *f, const struct table_names *names, const struct shown_table *t)
{
    const char *measure = dialects_measure(t);
    bool times = measure[0] == 's';
    struct writing w = {f, names, t, measure, times ? "total_ns" : "calls", table_find(t, "scope")};
    int64_t all = 0;
    int line = 0;
    for (uint32_t i = 0; i < t->row_count; i++)
        all += t->rows[i].depth ? 0 : dialects_number(t, i, measure, 0);
    fprintf(f,
            "# callgrind format\nversion: 1\ncreator: poet\ncmd: %s\npositions: line\n"
            "event: %s : %s\nevents: %s\nsummary: %" PRId64 "\n",
            names->book->run.name, times ? "ns" : "calls", times ? "Nanoseconds" : "Calls",
            times ? "ns" : "calls", all);
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (t->rows[i].depth) {
            print_callee(&w, i, line);
            continue;
        }
        fputc('\n', f);
        line = print_function(&w, "fl", "fn", i);
        fprintf(f, "%d %" PRId64 "\n", line, dialects_number(t, i, measure, 0));
    }
    fprintf(f, "\ntotals: %" PRId64 "\n", all);
}
