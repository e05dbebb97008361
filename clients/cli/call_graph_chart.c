#include "clients/cli/call_graph_chart.h"

#include "clients/connection/table_to_callgraph.h"
#include "base/alloc.h"
#include "render/call_graph_drawing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool call_graph_chart_wanted(const struct table_settings *o, const struct table_section *sections,
                             size_t count)
{
    return count == 1 && o->chart && strcmp(o->chart, "tree") == 0 && sections->what &&
           strcmp(sections->what, "calls") == 0;
}

struct table_section call_graph_chart_section(void)
{
    static char key[] = "graph", yes[] = "yes";
    static struct table_option options[] = {{key, yes}, {0}};
    return (struct table_section){.what = "calls", .options = options};
}

static bool call_graph_chart_has_suffix(const char *file, const char *ending)
{
    size_t n = strlen(file), e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static int write_graph(const struct table_settings *o, const struct command_source *subject,
                       const struct call_graph *graph)
{
    struct document_options page = o->page;
    const char *file = o->file ? o->file : "";
    if (!call_graph_chart_has_suffix(file, ".pdf") && !call_graph_chart_has_suffix(file, ".svg") &&
        !call_graph_chart_has_suffix(file, ".png"))
        return command_usage(o->command, "--chart tree: needs -o FILE.pdf, .svg or .png");
    if (!graph->count)
        return command_fail(o->command, "nothing to draw%s%s", graph->note_count ? ": " : "",
                            graph->note_count ? graph->notes[graph->note_count - 1] : "");
    page.format = call_graph_chart_has_suffix(file, ".pdf")   ? DOCUMENT_PDF
                  : call_graph_chart_has_suffix(file, ".svg") ? DOCUMENT_SVG
                                                              : DOCUMENT_PNG;
    char *title = xasprintf("%s: call graph", subject->source.book.run.name);
    page.title = title;
    page.date = (time_t)(subject->source.book.run.wall_ns / 1000000000u);
    const char *why = call_graph_drawing_write(graph, &page, file);
    free(title);
    return why ? command_fail(o->command, "%s: %s", file, why) : EXIT_DONE;
}

int call_graph_chart_write(const struct table_settings *o, const struct command_source *subject,
                           const struct result_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct call_graph graph;
    table_to_callgraph_make(&graph, &names, t);
    int status = write_graph(o, subject, &graph);
    table_to_callgraph_free(&graph);
    return status;
}
