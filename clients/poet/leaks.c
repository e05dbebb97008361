#include "clients/poet/leaks.h"

#include "clients/source/frames.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_MOST 4 /* of a path, the innermost */

static int64_t figure(const struct shown_table *t, const struct table_cell *cells, const char *name)
{
    uint32_t column = table_find(t, name);
    return column < t->column_count && cells[column].is == CELL_NUMBER ? cells[column].number : 0;
}

static char *amount(const struct shown_table *t, const struct table_cell *cells)
{
    int64_t blocks = figure(t, cells, "blocks"), bytes = figure(t, cells, "bytes");
    return memory_printed("%lld block%s, %lld byte%s", (long long)blocks, blocks == 1 ? "" : "s",
                          (long long)bytes, bytes == 1 ? "" : "s");
}

/* Calls of a path in words, the innermost first; how many. */
static uint32_t say_calls(const struct table_names *names, const struct table_row *row,
                          char *calls[CALLS_MOST], bool *all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->context_count; i++) {
        uint32_t frames = frames_count(names, row->context[i]);
        for (uint32_t k = 0; k < frames; k++) {
            if (count == CALLS_MOST) {
                *all = false;
                return count;
            }
            calls[count++] = frames_say(names, row->context[i], k);
        }
    }
    *all = true;
    return count;
}

/* "main (leak.c:20) > keep (leak.c:6)": the caller first. */
static char *path_of(const struct table_names *names, const struct table_row *row)
{
    char *calls[CALLS_MOST];
    bool all;
    uint32_t n = say_calls(names, row, calls, &all);
    char *path = memory_copied(all ? "" : "... > ");
    for (uint32_t i = n; i-- > 0;) {
        char *longer = memory_printed("%s%s%s", path, calls[i], i ? " > " : "");
        free(path);
        free(calls[i]);
        path = longer;
    }
    return path;
}

/* The place of which most is left stands first. */
static char *greatest(const struct table_names *names, const struct shown_table *t)
{
    const struct table_cell *cells = table_cells(t, 0);
    uint32_t thread = table_find(t, "thread");
    const char *who = thread < t->column_count && cells[thread].is == CELL_LINE
                          ? book_label(names->book, cells[thread].line)
                          : "";
    char *most = amount(t, cells), *path = path_of(names, &t->rows[0]),
         *said = memory_printed("%s%s%s, %s", most, *who ? " by " : "", who, path);
    free(most);
    free(path);
    return said;
}

void leaks_words(struct sheet *sheet, const struct table_names *names, const struct shown_table *t)
{
    bool some = t->total && figure(t, t->total, "blocks") > 0;
    sheet->title = memory_copied("what was never freed");
    int64_t taken = t->total ? figure(t, t->total, "taken") : 0;
    if (!some) {
        sheet_note(sheet, taken ? memory_printed("nothing, of %lld block%s", (long long)taken,
                                                 taken == 1 ? "" : "s")
                                : memory_copied("nothing: it took no blocks itself"));
        return;
    }
    char *all = amount(t, t->total),
         *most =
             t->row_count && figure(t, table_cells(t, 0), "blocks") > 0 ? greatest(names, t) : NULL;
    sheet_note(sheet,
               memory_printed("%s%s%s", all, most ? "; most of it: " : "", most ? most : ""));
    free(all);
    free(most);
}
