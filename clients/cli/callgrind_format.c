#include "clients/cli/callgrind_format.h"

#include "clients/cli/profile_formats.h"
#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>

struct callgrind_writer {
    FILE *f;
    const struct table_names *names;
    const struct result_table *table;
    const char *measure, *total;
    uint32_t scope;
};

static struct symbol_location site_of(const struct callgrind_writer *w,
                                      const struct table_cell *cell)
{
    if (cell->is == CELL_PLACE)
        return symbolize(w->names->sites, cell->place.process, cell->place.address);
    return (struct symbol_location){"", "", "", 0};
}

/* Prints the file and the name of a function; returns the line where it begins. */
static int print_function(const struct callgrind_writer *w, const char *file_key, const char *key,
                          uint32_t row)
{
    const struct table_cell *cell = &result_table_cells(w->table, row)[w->scope];
    char *name = profile_format_scope(w->names, cell);
    struct symbol_location site = site_of(w, cell);
    fprintf(w->f, "%s=%s\n%s=%s\n", file_key, *site.path ? site.path : "???", key, name);
    free(name);
    return site.line;
}

static void print_callee(const struct callgrind_writer *w, uint32_t row, int line)
{
    int there = print_function(w, "cfi", "cfn", row);
    fprintf(w->f, "calls=%" PRId64 " %d\n%d %" PRId64 "\n",
            profile_format_number(w->table, row, "calls", 0), there, line,
            profile_format_number(w->table, row, w->total, 0));
}

void callgrind_write(FILE *f, const struct table_names *names, const struct result_table *t)
{
    const char *measure = profile_format_measure(t);
    bool times = measure[0] == 's';
    struct callgrind_writer w = {f,
                                 names,
                                 t,
                                 measure,
                                 times ? "total_ns" : "calls",
                                 result_table_find_column(t, "function")};
    int64_t all = 0;
    int line = 0;
    for (uint32_t i = 0; i < t->row_count; i++)
        all += t->rows[i].depth ? 0 : profile_format_number(t, i, measure, 0);
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
        fprintf(f, "%d %" PRId64 "\n", line, profile_format_number(t, i, measure, 0));
    }
    fprintf(f, "\ntotals: %" PRId64 "\n", all);
}
