#include "clients/cli/placement_rows.h"

#include "clients/cli/table_progress.h"
#include "base/alloc.h"

#include <stdlib.h>

static void choose_range(const struct event_diagram *p, struct table_request *request)
{
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
    for (uint32_t i = 0; i < p->window.event_count; i++) {
        int64_t at_ns = p->window.events[i].time_ns;
        from_ns = at_ns < from_ns ? at_ns : from_ns;
        to_ns = at_ns > to_ns ? at_ns : to_ns;
    }
    if (p->all || from_ns > to_ns)
        return;
    request->from = (struct table_end){.is = TABLE_AT_NS, .at = from_ns};
    request->to = (struct table_end){.is = TABLE_AT_NS, .at = to_ns};
}

bool placement_rows_request(const struct command *command, struct event_diagram *p,
                            struct command_source *subject)
{
    struct table_request request = {
        .what = xstrdup("placement"), .by = xstrdup(""), .sort = xstrdup("")};
    struct result_table table = {0};
    struct encoder body = {0};
    if (!p->column_ns) {
        table_request_free(&request);
        command_fail(
            command,
            "--processors: requires --time; columns of the logical order have no time scale");
        return false;
    }
    choose_range(p, &request);
    encode_table_request(&body, &request);
    table_request_free(&request);
    bool good = table_progress_request(command, subject, &body, &table);
    if (good && table.problem)
        command_fail(command, "--processors: %s", table.problem);
    good &= !table.problem;
    if (good)
        worker_rows_read(&p->carriers, &table);
    result_table_free(&table);
    return good;
}
