/* poet calls --loops and --basic-blocks: loops and basic blocks of programs that were compiled with
 * poetcc -profile=loops. */
#include "clients/cli/calls.h"

#include "clients/cli/table_options.h"
#include "clients/connection/loop_tables.h"

#include <string.h>

static int calls_loops_make(const struct table_settings *o, struct command_source *subject,
                            struct result_table *t, bool blocks)
{
    static const char edge[] = "edge";
    struct table_names names = {&subject->source.book, subject->sites};
    struct result_table edges = {0};
    struct table_settings all = *o;
    struct loop_table_options how = {.blocks = blocks,
                                     .by_thread = o->by && strcmp(o->by, "thread") == 0,
                                     .sort = o->sort,
                                     .backwards = o->backwards,
                                     .top = o->top};
    all.by = o->by ? o->by : edge;
    all.sort = NULL;
    all.top = 0;
    all.tree = false;
    all.columns = NULL;
    int status = table_request_run(&all, &(struct table_section){.what = "edges"}, subject, &edges);
    if (status == EXIT_DONE && !loop_table_make(t, &how, &names, &edges))
        status = o->sort ? table_request_missing_column(o, t, "--sort", o->sort)
                         : command_fail(o->command, "unexpected table in the server's response");
    result_table_free(&edges);
    return status;
}

int calls_make_loops(const struct table_settings *o, struct command_source *subject,
                     struct result_table *t)
{
    return calls_loops_make(o, subject, t, false);
}

int calls_make_basic_blocks(const struct table_settings *o, struct command_source *subject,
                            struct result_table *t)
{
    return calls_loops_make(o, subject, t, true);
}
