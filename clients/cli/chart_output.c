/* Output of charts: the requested kind, its data, and the function that draws it. */
#define _GNU_SOURCE
#include "clients/cli/chart_output.h"

#include "clients/cli/wait_chart.h"
#include "clients/cli/state_charts.h"
#include "clients/cli/metric_chart.h"
#include "clients/cli/call_graph_chart.h"
#include "clients/cli/kiviat_chart.h"
#include "clients/cli/icicle_chart.h"

#include <string.h>

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
    if (!icicle_chart_form(o))
        return command_usage(o->command, "-o %s: an icicle is a .pdf, .svg, .png or .txt", o->file);
    int status = table_request_run(&tree, section, subject, &table);
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
                        "waits and memory; curves for usage, memory and metrics; kiviat for "
                        "metrics");
    return chart_output_run_states(o, subject, sections->what);
}
