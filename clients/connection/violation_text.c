#define _GNU_SOURCE
#include "clients/connection/violation_text.h"

#include "base/alloc.h"
#include "clients/metadata/trace_metadata.h"

#include <stdlib.h>
#include <string.h>

static bool violation_text_has_type(const struct trace_metadata *book, const char *name)
{
    for (uint32_t i = 0; i < book->type_count; i++)
        if (book->types[i] && strcmp(book->types[i], name) == 0)
            return true;
    return false;
}

bool violation_text_possible(const struct trace_metadata *book)
{
    for (size_t i = 0; i < book->target_count; i++)
        for (size_t k = 0; k < book->targets[i]->event_count; k++) {
            const struct target_event *event = &book->targets[i]->events[k];
            if (event->role == ROLE_VIOLATION && violation_text_has_type(book, event->name))
                return true;
        }
    return false;
}

const struct table_cell *violation_text_cell(const struct result_table *t, uint32_t row,
                                             const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count ? &result_table_cells(t, row)[column] : &nothing;
}

const char *violation_text_label(const struct table_names *names, const struct result_table *t,
                                 uint32_t row, const char *name)
{
    const struct table_cell *cell = violation_text_cell(t, row, name);
    return cell->is == CELL_LINE ? metadata_label(names->book, cell->line) : NULL;
}

const char *violation_text_rule(const struct result_table *t, uint32_t row)
{
    const struct table_cell *cell = violation_text_cell(t, row, "rule");
    return cell->is == CELL_TEXT ? cell->text : "";
}

int64_t violation_text_count(const struct result_table *t, uint32_t row)
{
    const struct table_cell *cell = violation_text_cell(t, row, "count");
    return cell->is == CELL_NUMBER ? cell->number : 0;
}

char *violation_text_sentence(const struct table_names *names, const struct result_table *t,
                              uint32_t row)
{
    const char *thread = violation_text_label(names, t, row, "thread"),
               *object = violation_text_label(names, t, row, "object"),
               *rest = object ? thread : NULL;
    int64_t count = violation_text_count(t, row);
    char *times = count > 1 ? xasprintf(", %lld times", (long long)count) : xstrdup("");
    char *text = xasprintf("%s: %s%s%s%s%s",
                           object   ? object
                           : thread ? thread
                                    : "(unknown)",
                           violation_text_rule(t, row), times, rest ? " (by " : "",
                           rest ? rest : "", rest ? ")" : "");
    free(times);
    return text;
}

char *violation_text_place(const struct table_names *names, const struct result_table *t,
                           uint32_t row)
{
    const struct table_cell *cell = violation_text_cell(t, row, "location");
    return cell->is == CELL_PLACE ? result_table_place_text(names, cell->place, "") : xstrdup("");
}
