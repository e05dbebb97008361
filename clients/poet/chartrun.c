/* Which chart is wanted, what it is made of, and who draws it. */
#define _GNU_SOURCE
#include "clients/poet/chartrun.h"

#include "clients/poet/barchart.h"
#include "clients/poet/charts.h"
#include "clients/poet/curvechart.h"
#include "clients/poet/graphchart.h"
#include "clients/poet/starchart.h"
#include "clients/poet/treechart.h"

#include <string.h>

/* Of all states, whatever table of them was asked for; of the critical path, with that over them. */
static int run_chart(const struct tables *o, struct subject *subject, const char *what)
{
    struct tables plain = *o;
    struct tables_section section = {.what = "states"}, path = {.what = "path"};
    struct shown_table table = {0}, pieces = {0};
    bool way = strcmp(what, "path") == 0;
    if (!charts_known(o->chart))
        return command_usage(o->command, "--chart %s: transitions or gantt", o->chart);
    plain.sort = plain.by = NULL;
    plain.top = 0;
    int status = tables_ask(&plain, &section, subject, &table);
    plain.by = "piece";
    if (status == EXIT_DONE && way)
        status = tables_ask(&plain, &path, subject, &pieces);
    if (status == EXIT_DONE)
        status = charts_write(o, subject, &table, way ? &pieces : NULL);
    shown_table_free(&table);
    shown_table_free(&pieces);
    return status;
}

static int run_star(const struct tables *o, struct subject *subject,
                    const struct tables_section *section)
{
    struct shown_table table = {0};
    int status = tables_ask(o, section, subject, &table);
    if (status == EXIT_DONE)
        status = starchart_write(o, subject, &table);
    shown_table_free(&table);
    return status;
}

/* Bars of waits: the twenty longest, if nobody says otherwise. */
static int run_bars(const struct tables *o, struct subject *subject,
                    const struct tables_section *section)
{
    struct tables_section most = *section;
    struct shown_table table = {0};
    if (strcmp(o->chart, "bars") != 0)
        return command_usage(o->command, "--chart %s: bars or icicle", o->chart);
    most.top = o->top ? o->top : 20;
    int status = tables_ask(o, &most, subject, &table);
    if (status == EXIT_DONE)
        status = barchart_write(o, subject, &table);
    shown_table_free(&table);
    return status;
}

static int run_tree(const struct tables *o, struct subject *subject,
                    const struct tables_section *section)
{
    struct tables tree = treechart_tables(o);
    struct shown_table table = {0};
    if (!treechart_form(o))
        return command_usage(o->command, "-o %s: an icicle is a .pdf, .svg, .png or .txt", o->file);
    int status = tables_ask(&tree, section, subject, &table);
    if (status == EXIT_DONE)
        status = treechart_write(o, subject, &table);
    shown_table_free(&table);
    return status;
}

static int run_graph(const struct tables *o, struct subject *subject)
{
    struct tables_section section = graphchart_section();
    struct shown_table table = {0};
    int status = tables_ask(o, &section, subject, &table);
    if (status == EXIT_DONE)
        status = graphchart_write(o, subject, &table);
    shown_table_free(&table);
    return status;
}

static int run_curves(const struct tables *o, struct subject *subject, const char *what)
{
    struct table_request named = {0};
    int status = EXIT_USAGE;
    if (!o->lines || tables_name_lines(o, &named, subject))
        status = curvechart_write(o, subject, what, named.lines, named.line_count);
    table_request_free(&named);
    return status;
}

/* Which tables have any. */
static bool has_charts(const char *what)
{
    static const char *const all[] = {"states", "tasks", "created", "spells", "path", NULL};
    size_t i = 0;
    while (what && all[i] && strcmp(all[i], what) != 0)
        i++;
    return what && all[i];
}

bool chartrun_wanted(const struct tables *o, const struct tables_section *sections, size_t count)
{
    return o->chart || graphchart_wanted(o, sections, count) ||
           treechart_wanted(o, sections, count);
}

int chartrun(const struct tables *o, struct subject *subject, const struct tables_section *sections,
             size_t count)
{
    if (graphchart_wanted(o, sections, count))
        return run_graph(o, subject);
    if (treechart_wanted(o, sections, count))
        return run_tree(o, subject, sections);
    if (count == 1 && sections->what && strcmp(sections->what, "waits") == 0)
        return run_bars(o, subject, sections);
    if (count == 1 && strcmp(o->chart, "kiviat") == 0 && sections->what &&
        strcmp(sections->what, "meters") == 0)
        return run_star(o, subject, sections);
    if (count == 1 && curvechart_of(sections->what))
        return run_curves(o, subject, sections->what);
    if (count != 1 || !has_charts(sections->what))
        return command_usage(o->command,
                             "--chart: there are charts of poet states, waits and path, icicles of "
                             "calls, waits and memory, curves of usage, memory and meters, kiviat "
                             "graphs of meters");
    return run_chart(o, subject, sections->what);
}
