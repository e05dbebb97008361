#include "clients/poet/barchart.h"

#include "clients/book/fate.h"
#include "memory/memory.h"
#include "render/bars.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct making {
    const struct shown_table *table;
    struct table_names names;
    struct bars bars;
};

/* New memory, "" where nothing is known. */
static char *say(const struct making *m, uint32_t row, const char *name)
{
    uint32_t column = table_find(m->table, name);
    const struct table_cell *cell =
        column < m->table->column_count ? &table_cells(m->table, row)[column] : NULL;
    bool known = cell && cell->is != CELL_NULL && (cell->is != CELL_PLACE || cell->place.address);
    return known ? table_say(&m->names, &m->table->columns[column], cell) : memory_copied("");
}

static int64_t number(const struct making *m, uint32_t row, const char *name)
{
    uint32_t column = table_find(m->table, name);
    const struct table_cell *cell =
        column < m->table->column_count ? &table_cells(m->table, row)[column] : NULL;
    return cell && cell->is == CELL_NUMBER && cell->number > 0 ? cell->number : 0;
}

/* "put (stages.c:23), wait, Q:room", of what is known. */
static char *say_all(const struct making *m, uint32_t row, const char *const *columns)
{
    char *all = memory_copied("");
    for (; *columns; columns++) {
        char *word = say(m, row, *columns),
             *more = memory_printed("%s%s%s", all, *all && *word ? ", " : "", word);
        free(word);
        free(all);
        all = more;
    }
    return all;
}

static void add_bar(struct making *m, uint32_t row)
{
    static const char *const who[] = {"thread", "where", "type", "for", NULL};
    static const char *const kinds[] = {"li_ns", "ip_ns", "cc_ns", NULL, "unexplained_ns"};
    struct bar bar = {.name = say_all(m, row, who), .all = number(m, row, "waited_ns")};
    int64_t told = 0;
    char took[60];
    for (unsigned i = 0; i < BAR_KINDS; i++)
        told += bar.parts[i] = kinds[i] ? number(m, row, kinds[i]) : 0;
    bar.parts[3] = bar.all > told ? bar.all - told : 0;
    fate_duration(took, sizeof took, bar.all);
    bar.amount = memory_copied(took);
    PUSH(m->bars.items, m->bars.count, bar);
}

static void add_cause(struct making *m, uint32_t row)
{
    static const char *const what[] = {"thread", "step", NULL};
    struct bar *bar = &m->bars.items[m->bars.count - 1];
    struct bar_cause cause = {number(m, row, "charge_ns"), say_all(m, row, what),
                              say(m, row, "thread")};
    PUSH(bar->causes, bar->cause_count, cause);
}

static void drop(struct making *m)
{
    for (uint32_t i = 0; i < m->bars.count; i++) {
        struct bar *bar = &m->bars.items[i];
        for (uint32_t k = 0; k < bar->cause_count; k++) {
            free(bar->causes[k].text);
            free(bar->causes[k].brief);
        }
        free(bar->causes);
        free(bar->name);
        free(bar->amount);
    }
    free(m->bars.items);
}

static bool ends(const char *file, const char *ending)
{
    size_t n = strlen(file), e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static int write_bars(const struct tables *o, const struct making *m, const char *title)
{
    struct page_options page = o->page;
    if (!o->file || (!ends(o->file, ".pdf") && !ends(o->file, ".svg") && !ends(o->file, ".png")))
        return command_usage(o->command, "--chart bars: needs -o FILE.pdf, .svg or .png");
    if (!m->bars.count)
        return command_fail(o->command, "nobody waited: there is nothing to be drawn");
    page.format = ends(o->file, ".pdf") ? PAGE_PDF : ends(o->file, ".svg") ? PAGE_SVG : PAGE_PNG;
    page.title = title;
    page.date = (time_t)(m->names.book->run.wall_ns / 1000000000u);
    const char *why = bars_write(&m->bars, &page, o->file);
    return why ? command_fail(o->command, "%s: %s", o->file, why) : EXIT_DONE;
}

int barchart_write(const struct tables *o, const struct subject *subject,
                   const struct shown_table *t)
{
    char *title = memory_printed("%s: the longest waits, and what they are charged to",
                                 subject->source.book.run.name);
    struct making m = {
        .table = t,
        .names = {&subject->source.book, subject->sites},
        .bars = {.title = title,
                 .below = t->note_count ? t->notes[0] : NULL,
                 .kinds = {"load imbalance", "insufficient parallelism",
                           "communication, contention", "the clock", "not explained"}}};
    for (uint32_t i = 0; i < t->row_count; i++)
        if (t->rows[i].depth == 0)
            add_bar(&m, i);
        else if (t->rows[i].depth == 1 && m.bars.count)
            add_cause(&m, i);
    int status = write_bars(o, &m, title);
    drop(&m);
    free(title);
    return status;
}
