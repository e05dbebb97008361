#define _GNU_SOURCE
#include "clients/cli/chart_output.h"

#include "base/alloc.h"
#include "clients/cli/icicle_html.h"
#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "clients/connection/table_tree.h"
#include "clients/metadata/event_text.h"
#include "render/bar_chart.h"
#include "render/call_graph_drawing.h"
#include "render/icicle_drawing.h"
#include "render/kiviat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the settings of a document of one chart in a file that is a picture. */
static struct document_options chart_output_page(const struct table_settings *o,
                                                 const struct command_source *subject,
                                                 const char *title)
{
    struct document_options page = o->page;
    page.format = output_format_document(output_format_of(o->file));
    page.title = title;
    page.date = (time_t)(subject->source.book.run.wall_ns / 1000000000u);
    return page;
}

/* ---- call graphs: functions and calls as boxes and arrows ---- */

/* Returns whether one was requested, by --chart tree of calls. */
static bool call_graph_chart_wanted(const struct table_settings *o,
                                    const struct table_section *sections, size_t count)
{
    return count == 1 && o->chart && strcmp(o->chart, "tree") == 0 && sections->what &&
           strcmp(sections->what, "calls") == 0;
}

/* Returns the table to request for it. */
static struct table_section call_graph_chart_section(void)
{
    static char key[] = "graph", yes[] = "yes";
    static struct table_option options[] = {{key, yes}, {0}};
    return (struct table_section){.what = "calls", .options = options};
}

static int call_graph_chart_draw(const struct table_settings *o,
                                 const struct command_source *subject,
                                 const struct call_graph *graph)
{
    const char *file = o->file ? o->file : "";
    if (!output_format_is_picture(output_format_of(file)))
        return command_usage(o->command, "--chart tree: needs -o FILE.pdf, .svg or .png");
    if (!graph->count)
        return command_fail(o->command, "nothing to draw%s%s", graph->note_count ? ": " : "",
                            graph->note_count ? graph->notes[graph->note_count - 1] : "");
    char *title = xasprintf("%s: call graph", subject->source.book.run.name);
    struct document_options page = chart_output_page(o, subject, title);
    const char *why;
    bool written = call_graph_drawing_write(graph, &page, file, &why);
    free(title);
    return written ? EXIT_DONE : command_fail(o->command, "%s: %s", file, why);
}

static int call_graph_chart_write(const struct table_settings *o,
                                  const struct command_source *subject,
                                  const struct result_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct call_graph graph;
    table_tree_callgraph_make(&graph, &names, t);
    int status = call_graph_chart_draw(o, subject, &graph);
    table_tree_callgraph_free(&graph);
    return status;
}

/* ---- icicles of tables that are trees: calls, waits, their stacks, and memory ---- */

static bool icicle_chart_is_picture(const struct table_settings *o)
{
    return o->file && output_format_is_picture(output_format_of(o->file));
}

static bool icicle_chart_is_page(const struct table_settings *o)
{
    return o->file && output_format_of(o->file) == OUTPUT_HTML;
}

static bool icicle_chart_has_tree(const struct table_section *section)
{
    static const char *const trees[] = {"calls", "waits", "stacks", "memory", NULL};
    for (size_t i = 0; section->what && trees[i]; i++)
        if (strcmp(trees[i], section->what) == 0)
            return true;
    return false;
}

/* Returns whether one was requested, by --tree with an image file, or by --chart icicle. Selected
 * columns need a table, and so do differences to another run, except with --chart or in a page. */
static bool icicle_chart_wanted(const struct table_settings *o,
                                const struct table_section *sections, size_t count)
{
    bool table = o->columns || o->json || o->csv || (o->baseline && !icicle_chart_is_page(o));
    if (count != 1 || !icicle_chart_has_tree(sections))
        return false;
    if (o->chart)
        return strcmp(o->chart, "icicle") == 0;
    return (o->width_of || o->tree || icicle_chart_is_page(o)) &&
           (icicle_chart_is_picture(o) || icicle_chart_is_page(o)) && !table;
}

/* Returns whether the format of the file is supported. */
static bool icicle_chart_form(const struct table_settings *o)
{
    return !o->file || icicle_chart_is_picture(o) || icicle_chart_is_page(o) ||
           output_format_of(o->file) == OUTPUT_TEXT;
}

static void icicle_chart_print(const void *boxes, FILE *f)
{
    icicle_text_print(boxes, terminal_text_columns(), f);
}

static int icicle_chart_draw(const struct table_settings *o, const struct command_source *subject,
                             const struct icicle_layout *boxes)
{
    struct document_options page = chart_output_page(o, subject, boxes->title);
    const char *why;
    return icicle_page_write(boxes, 0, &page, o->file, &why)
               ? EXIT_DONE
               : command_fail(o->command, "%s: %s", o->file, why);
}

static int icicle_chart_write_boxes(const struct table_settings *o,
                                    const struct command_source *subject,
                                    struct icicle_layout *boxes)
{
    char *title = xasprintf("%s: %s", subject->source.book.run.name, boxes->title);
    free(boxes->title);
    boxes->title = title;
    if (boxes->count < 2 || !boxes->nodes[0].size)
        return command_fail(o->command, "nothing to draw%s%s", boxes->note_count ? ": " : "",
                            boxes->note_count ? boxes->notes[0] : "");
    if (icicle_chart_is_page(o))
        return output_format_print(o->command, o->file, icicle_html_write, boxes);
    return icicle_chart_is_picture(o)
               ? icicle_chart_draw(o, subject, boxes)
               : output_format_print(o->command, o->file, icicle_chart_print, boxes);
}

static int icicle_chart_report_unmeasured(const struct table_settings *o,
                                          const struct result_table *t)
{
    if (o->width_of)
        return command_fail(o->command, "--width-of %s: no row has a size there", o->width_of);
    return command_fail(o->command, "nothing to draw%s%s", t->note_count ? ": " : "",
                        t->note_count ? t->notes[0] : "");
}

/* Returns the settings for requesting the table: as a tree, by the column for the widths. */
static struct table_settings icicle_chart_tables(const struct table_settings *o)
{
    struct table_settings tree = *o;
    tree.tree = true;
    if (!tree.sort)
        tree.sort = o->width_of;
    return tree;
}

static int icicle_chart_write(const struct table_settings *o, const struct command_source *subject,
                              const struct result_table *table)
{
    struct table_names names = {&subject->source.book, subject->sites};
    uint32_t column = table_tree_icicle_column(table, o->width_of);
    struct icicle_layout boxes = {0};
    if (column == table->column_count)
        return icicle_chart_report_unmeasured(o, table);
    table_tree_icicle_make(&boxes, &names, table, column);
    int status = icicle_chart_write_boxes(o, subject, &boxes);
    icicle_layout_free(&boxes);
    return status;
}

/* ---- Kiviat graphs of metrics (render/kiviat.h) ----
 * Axes are formulas that are shares or percentages, and for which a description, or a user's file,
 * says whether high or low is good. */

static const struct table_cell *kiviat_chart_cell(const struct result_table *t, uint32_t row,
                                                  const char *name)
{
    uint32_t column = result_table_find_column(t, name);
    const struct table_cell *cell =
        column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
    return cell && cell->is != CELL_NULL ? cell : NULL;
}

static const char *kiviat_chart_cell_text(const struct result_table *t, uint32_t row,
                                          const char *name)
{
    const struct table_cell *cell = kiviat_chart_cell(t, row, name);
    return cell && cell->is == CELL_TEXT ? cell->text : "";
}

static bool kiviat_chart_number(const struct result_table *t, uint32_t row, const char *name,
                                double *value)
{
    const struct table_cell *cell = kiviat_chart_cell(t, row, name);
    if (!cell || (cell->is != CELL_NUMBER && cell->is != CELL_REAL))
        return false;
    *value = cell->is == CELL_NUMBER ? (double)cell->number : cell->real;
    return isfinite(*value) && *value >= 0;
}

/* Returns the end of an axis: 1 for a share, 100 for a percentage; 0 for other values, which have
 * no natural end: an arbitrary scale would decide how good they look. */
static double kiviat_chart_axis_end(double value, const char *unit)
{
    bool percent = strcmp(unit, "%") == 0;
    double end = percent ? 100 : 1;
    return (percent || !*unit) && value <= end ? end : 0;
}

static void kiviat_chart_add_axis(struct kiviat *k, const struct result_table *t, uint32_t row)
{
    const char *good = kiviat_chart_cell_text(t, row, "better"),
               *unit = kiviat_chart_cell_text(t, row, "unit");
    double value, end;
    bool formula = !kiviat_chart_cell(t, row, "count");
    if (!*good || !formula || !kiviat_chart_number(t, row, "total", &value) ||
        (end = kiviat_chart_axis_end(value, unit)) <= 0)
        return;
    struct kiviat_axis axis = {.name = xstrdup(kiviat_chart_cell_text(t, row, "metric")),
                               .amount = xasprintf("%.4g%s%s", value, *unit ? " " : "", unit),
                               .end = xasprintf("%.4g%s%s", end, *unit ? " " : "", unit),
                               .value = value / end,
                               .high = strcmp(good, "high") == 0};
    k->axes = xreallocarray(k->axes, k->count + 1, sizeof *k->axes);
    k->axes[k->count++] = axis;
}

static void kiviat_chart_print(const void *kiviat, FILE *f) { kiviat_print(kiviat, f); }

static int kiviat_chart_draw(const struct table_settings *o, const struct command_source *subject,
                             const struct kiviat *k)
{
    enum output_format format = o->file ? output_format_of(o->file) : OUTPUT_TEXT;
    if (k->count < KIVIAT_AXES_LEAST)
        return command_fail(
            o->command,
            "--chart kiviat: needs %u formulas that are shares, or in %%, and have good = "
            "\"high\" or \"low\": there %s %u (docs/config.md)",
            KIVIAT_AXES_LEAST, k->count == 1 ? "is" : "are", k->count);
    if (format == OUTPUT_TEXT)
        return output_format_print(o->command, o->file, kiviat_chart_print, k);
    if (!output_format_is_picture(format))
        return command_usage(o->command, "--chart kiviat: -o FILE.pdf, .svg, .png or .txt");
    struct document_options page = chart_output_page(o, subject, k->title);
    const char *why;
    return kiviat_write(k, &page, o->file, &why) ? EXIT_DONE
                                                 : command_fail(o->command, "%s: %s", o->file, why);
}

static int kiviat_chart_write(const struct table_settings *o, const struct command_source *subject,
                              const struct result_table *t)
{
    char *title = xasprintf("%s: Kiviat graph of metrics", subject->source.book.run.name);
    struct kiviat k = {.title = title,
                       .below = "a regular star means all metrics are good: far out where high is "
                                "better, near the center where low is"};
    for (uint32_t i = 0; i < t->row_count; i++)
        if (t->rows[i].depth == 0)
            kiviat_chart_add_axis(&k, t, i);
    kiviat_arrange(&k);
    int status = kiviat_chart_draw(o, subject, &k);
    for (unsigned i = 0; i < k.count; i++) {
        free(k.axes[i].name);
        free(k.axes[i].amount);
        free(k.axes[i].end);
    }
    free(k.axes);
    free(title);
    return status;
}

/* ---- bars of waits: how long, of which class, attributed to what ---- */

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

static void wait_chart_add_bar(struct wait_chart_builder *m, uint32_t row)
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

static void wait_chart_add_cause(struct wait_chart_builder *m, uint32_t row)
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

static int wait_chart_draw(const struct table_settings *o, const struct command_source *subject,
                           const struct wait_chart_builder *m, const char *title)
{
    if (!o->file || !output_format_is_picture(output_format_of(o->file)))
        return command_usage(o->command, "--chart bars: needs -o FILE.pdf, .svg or .png");
    if (!m->bars.count)
        return command_fail(o->command, "no waits: nothing to draw");
    struct document_options page = chart_output_page(o, subject, title);
    const char *why;
    return bar_chart_write(&m->bars, &page, o->file, &why)
               ? EXIT_DONE
               : command_fail(o->command, "%s: %s", o->file, why);
}

static int wait_chart_write(const struct table_settings *o, const struct command_source *subject,
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
            wait_chart_add_bar(&m, i);
        else if (t->rows[i].depth == 1 && m.bars.count)
            wait_chart_add_cause(&m, i);
    int status = wait_chart_draw(o, subject, &m, title);
    wait_chart_free_bars(&m);
    free(title);
    return status;
}

/* ---- the requested kind, and its table ---- */

/* Draws all states, whatever table of them was requested; for the critical path, with the path over
 * them. */
static int chart_output_run_states(const struct table_settings *o, struct command_source *subject,
                                   const char *what)
{
    struct table_settings plain = *o;
    struct table_section section = {.what = "states"}, path = {.what = "path"};
    struct result_table table = {0}, pieces = {0};
    bool critical = strcmp(what, "path") == 0;
    if (!state_charts_known(o->chart))
        return command_usage(o->command, "--chart %s: transitions or gantt", o->chart);
    plain.sort = plain.by = NULL;
    plain.top = 0;
    int status = table_request_run(&plain, &section, subject, &table);
    plain.by = "piece";
    if (status == EXIT_DONE && critical)
        status = table_request_run(&plain, &path, subject, &pieces);
    if (status == EXIT_DONE)
        status = state_charts_write(o, subject, &table, critical ? &pieces : NULL);
    result_table_free(&table);
    result_table_free(&pieces);
    return status;
}

static int chart_output_run_kiviat(const struct table_settings *o, struct command_source *subject,
                                   const struct table_section *section)
{
    struct result_table table = {0};
    int status = table_request_run(o, section, subject, &table);
    if (status == EXIT_DONE)
        status = kiviat_chart_write(o, subject, &table);
    result_table_free(&table);
    return status;
}

/* Draws waits as bars, by default the twenty longest. */
static int chart_output_run_waits(const struct table_settings *o, struct command_source *subject,
                                  const struct table_section *section)
{
    struct table_section most = *section;
    struct result_table table = {0};
    if (strcmp(o->chart, "bars") != 0)
        return command_usage(o->command, "--chart %s: bars or icicle", o->chart);
    most.top = o->top ? o->top : 20;
    int status = table_request_run(o, &most, subject, &table);
    if (status == EXIT_DONE)
        status = wait_chart_write(o, subject, &table);
    result_table_free(&table);
    return status;
}

static int chart_output_run_icicle(const struct table_settings *o, struct command_source *subject,
                                   const struct table_section *section)
{
    struct table_settings tree = icicle_chart_tables(o);
    struct result_table table = {0};
    if (o->baseline && !icicle_chart_is_page(o) && !icicle_chart_is_picture(o))
        return command_usage(o->command, "--baseline: an icicle of differences needs -o FILE.html, "
                                         ".pdf, .svg or .png");
    if (!icicle_chart_form(o))
        return command_usage(o->command, "-o %s: an icicle is a .pdf, .svg, .png or .txt", o->file);
    int status = table_request_run(&tree, section, subject, &table);
    if (status == EXIT_DONE && o->baseline)
        status = table_request_difference(&tree, section, subject, &table);
    if (status == EXIT_DONE)
        status = icicle_chart_write(o, subject, &table);
    result_table_free(&table);
    return status;
}

static int chart_output_run_call_graph(const struct table_settings *o,
                                       struct command_source *subject)
{
    struct table_section section = call_graph_chart_section();
    struct result_table table = {0};
    int status = table_request_run(o, &section, subject, &table);
    if (status == EXIT_DONE)
        status = call_graph_chart_write(o, subject, &table);
    result_table_free(&table);
    return status;
}

static int chart_output_run_metrics(const struct table_settings *o, struct command_source *subject,
                                    const char *what)
{
    struct table_request named = {0};
    int status = EXIT_USAGE;
    if (!o->threads || table_request_label_lines(o, &named, subject))
        status = metric_chart_write(o, subject, what, named.lines, named.line_count);
    table_request_free(&named);
    return status;
}

/* Returns whether a table has charts of thread states. */
static bool chart_output_has_states(const char *what)
{
    static const char *const all[] = {"states", "tasks", "created", "intervals", "path", NULL};
    size_t i = 0;
    while (what && all[i] && strcmp(all[i], what) != 0)
        i++;
    return what && all[i];
}

bool chart_output_wanted(const struct table_settings *o, const struct table_section *sections,
                         size_t count)
{
    return o->chart || call_graph_chart_wanted(o, sections, count) ||
           icicle_chart_wanted(o, sections, count);
}

int chart_output_run(const struct table_settings *o, struct command_source *subject,
                     const struct table_section *sections, size_t count)
{
    if (call_graph_chart_wanted(o, sections, count))
        return chart_output_run_call_graph(o, subject);
    if (icicle_chart_wanted(o, sections, count))
        return chart_output_run_icicle(o, subject, sections);
    if (count == 1 && sections->what && strcmp(sections->what, "waits") == 0)
        return chart_output_run_waits(o, subject, sections);
    if (count == 1 && strcmp(o->chart, "kiviat") == 0 && sections->what &&
        strcmp(sections->what, "metrics") == 0)
        return chart_output_run_kiviat(o, subject, sections);
    if (count == 1 && metric_chart_is_available(sections->what))
        return chart_output_run_metrics(o, subject, sections->what);
    if (count != 1 || !chart_output_has_states(sections->what))
        return command_usage(
            o->command, "--chart: available for poet states, waits and path; icicle for calls, "
                        "waits and memory; curves for usage, memory, metrics and states "
                        "--concurrency; kiviat for metrics");
    return chart_output_run_states(o, subject, sections->what);
}
