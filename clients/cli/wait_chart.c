#include "clients/cli/wait_chart.h"

#include "clients/metadata/hang_text.h"
#include "base/alloc.h"
#include "render/bar_chart.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct wait_chart_builder {
    const struct result_table *table;
    struct table_names names;
    struct bar_chart bars;
};

/* Returns new memory; "" for unknown values. */
static char *wait_chart_cell_text(const struct wait_chart_builder *m, uint32_t row,
                                  const char *name)
{
    uint32_t column = result_table_find_column(m->table, name);
    const struct table_cell *cell =
        column < m->table->column_count ? &result_table_cells(m->table, row)[column] : NULL;
    bool known = cell && cell->is != CELL_NULL && (cell->is != CELL_PLACE || cell->place.address);
    return known ? result_table_cell_text(&m->names, &m->table->columns[column], cell)
                 : xstrdup("");
}

static int64_t wait_chart_cell_number(const struct wait_chart_builder *m, uint32_t row,
                                      const char *name)
{
    uint32_t column = result_table_find_column(m->table, name);
    const struct table_cell *cell =
        column < m->table->column_count ? &result_table_cells(m->table, row)[column] : NULL;
    return cell && cell->is == CELL_NUMBER && cell->number > 0 ? cell->number : 0;
}

/* Returns the known values of columns, such as "put (stages.c:23), wait, CV:room". */
static char *wait_chart_all_text(const struct wait_chart_builder *m, uint32_t row,
                                 const char *const *columns)
{
    char *all = xstrdup("");
    for (; *columns; columns++) {
        char *word = wait_chart_cell_text(m, row, *columns),
             *more = xasprintf("%s%s%s", all, *all && *word ? ", " : "", word);
        free(word);
        free(all);
        all = more;
    }
    return all;
}

static void add_bar(struct wait_chart_builder *m, uint32_t row)
{
    static const char *const columns[] = {"thread", "location", "type", "object", NULL};
    static const char *const kinds[] = {"load_imbalance_ns", "insufficient_parallelism_ns",
                                        "contention_ns", NULL, "unattributed_ns"};
    struct chart_bar bar = {.name = wait_chart_all_text(m, row, columns),
                            .all = wait_chart_cell_number(m, row, "waited_ns")};
    int64_t sum = 0;
    char took[60];
    for (unsigned i = 0; i < BAR_KINDS; i++)
        sum += bar.parts[i] = kinds[i] ? wait_chart_cell_number(m, row, kinds[i]) : 0;
    bar.parts[3] = bar.all > sum ? bar.all - sum : 0;
    duration_text(took, sizeof took, bar.all);
    bar.amount = xstrdup(took);
    ARRAY_PUSH(m->bars.items, m->bars.count, bar);
}

static void add_cause(struct wait_chart_builder *m, uint32_t row)
{
    static const char *const what[] = {"thread", "segment", NULL};
    struct chart_bar *bar = &m->bars.items[m->bars.count - 1];
    struct chart_bar_cause cause = {wait_chart_cell_number(m, row, "attributed_ns"),
                                    wait_chart_all_text(m, row, what),
                                    wait_chart_cell_text(m, row, "thread")};
    ARRAY_PUSH(bar->causes, bar->cause_count, cause);
}

static void wait_chart_free_bars(struct wait_chart_builder *m)
{
    for (uint32_t i = 0; i < m->bars.count; i++) {
        struct chart_bar *bar = &m->bars.items[i];
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

static bool wait_chart_has_suffix(const char *file, const char *ending)
{
    size_t n = strlen(file), e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static int write_bars(const struct table_settings *o, const struct wait_chart_builder *m,
                      const char *title)
{
    struct document_options page = o->page;
    if (!o->file ||
        (!wait_chart_has_suffix(o->file, ".pdf") && !wait_chart_has_suffix(o->file, ".svg") &&
         !wait_chart_has_suffix(o->file, ".png")))
        return command_usage(o->command, "--chart bars: needs -o FILE.pdf, .svg or .png");
    if (!m->bars.count)
        return command_fail(o->command, "no waits: nothing to draw");
    page.format = wait_chart_has_suffix(o->file, ".pdf")   ? DOCUMENT_PDF
                  : wait_chart_has_suffix(o->file, ".svg") ? DOCUMENT_SVG
                                                           : DOCUMENT_PNG;
    page.title = title;
    page.date = (time_t)(m->names.book->run.wall_ns / 1000000000u);
    const char *why = bar_chart_write(&m->bars, &page, o->file);
    return why ? command_fail(o->command, "%s: %s", o->file, why) : EXIT_DONE;
}

int wait_chart_write(const struct table_settings *o, const struct command_source *subject,
                     const struct result_table *t)
{
    char *title = xasprintf("%s: longest waits and their causes", subject->source.book.run.name);
    struct wait_chart_builder m = {
        .table = t,
        .names = {&subject->source.book, subject->sites},
        .bars = {.title = title,
                 .below = t->note_count ? t->notes[0] : NULL,
                 .kinds = {"load imbalance", "insufficient parallelism",
                           "contention, communication", "timeout", "unattributed"}}};
    for (uint32_t i = 0; i < t->row_count; i++)
        if (t->rows[i].depth == 0)
            add_bar(&m, i);
        else if (t->rows[i].depth == 1 && m.bars.count)
            add_cause(&m, i);
    int status = write_bars(o, &m, title);
    wait_chart_free_bars(&m);
    free(title);
    return status;
}
