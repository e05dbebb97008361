#include "clients/poet/graphchart.h"

#include "clients/source/graphing.h"
#include "memory/memory.h"
#include "render/arcs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool graphchart_wanted(const struct tables *o, const struct tables_section *sections, size_t count)
{
    return count == 1 && o->chart && strcmp(o->chart, "tree") == 0 && sections->what &&
           strcmp(sections->what, "calls") == 0;
}

struct tables_section graphchart_section(void)
{
    static char key[] = "graph", yes[] = "yes";
    static struct table_option options[] = {{key, yes}, {0}};
    return (struct tables_section){.what = "calls", .options = options};
}

static bool ends(const char *file, const char *ending)
{
    size_t n = strlen(file), e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static int write_graph(const struct tables *o, const struct subject *subject,
                       const struct callgraph *graph)
{
    struct page_options page = o->page;
    const char *file = o->file ? o->file : "";
    if (!ends(file, ".pdf") && !ends(file, ".svg") && !ends(file, ".png"))
        return command_usage(o->command, "--chart tree: needs -o FILE.pdf, .svg or .png");
    if (!graph->count)
        return command_fail(o->command, "there is nothing to be drawn%s%s",
                            graph->note_count ? ": " : "",
                            graph->note_count ? graph->notes[graph->note_count - 1] : "");
    page.format = ends(file, ".pdf") ? PAGE_PDF : ends(file, ".svg") ? PAGE_SVG : PAGE_PNG;
    char *title = memory_printed("%s: who calls whom", subject->source.book.run.name);
    page.title = title;
    page.date = (time_t)(subject->source.book.run.wall_ns / 1000000000u);
    const char *why = arcs_write(graph, &page, file);
    free(title);
    return why ? command_fail(o->command, "%s: %s", file, why) : EXIT_DONE;
}

int graphchart_write(const struct tables *o, const struct subject *subject,
                     const struct shown_table *t)
{
    struct table_names names = {&subject->source.book, subject->sites};
    struct callgraph graph;
    graphing_make(&graph, &names, t);
    int status = write_graph(o, subject, &graph);
    callgraph_free(&graph);
    return status;
}
