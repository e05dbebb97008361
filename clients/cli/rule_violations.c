#define _GNU_SOURCE
#include "clients/cli/rule_violations.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/report_page.h"
#include "clients/cli/table_options.h"
#include "clients/cli/terminal.h"

#include <json-c/json.h>
#include <stdlib.h>

int rule_violations_request(const struct command *command, struct command_source *subject,
                            struct result_table *table)
{
    struct table_settings plain = {.command = command};
    return table_request_run(&plain, &(struct table_section){.what = "violations"}, subject, table);
}

static const struct table_cell *rule_violations_cell(const struct result_table *t, uint32_t row,
                                                     const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count ? &result_table_cells(t, row)[column] : &nothing;
}

/* Returns the label of a line of a row; NULL if the cell has none. */
static const char *rule_violations_label(const struct table_names *names,
                                         const struct result_table *t, uint32_t row,
                                         const char *name)
{
    const struct table_cell *cell = rule_violations_cell(t, row, name);
    return cell->is == CELL_LINE ? metadata_label(names->book, cell->line) : NULL;
}

static const char *rule_violations_rule(const struct result_table *t, uint32_t row)
{
    const struct table_cell *cell = rule_violations_cell(t, row, "rule");
    return cell->is == CELL_TEXT ? cell->text : "";
}

static int64_t rule_violations_count(const struct result_table *t, uint32_t row)
{
    const struct table_cell *cell = rule_violations_cell(t, row, "count");
    return cell->is == CELL_NUMBER ? cell->number : 0;
}

char *rule_violations_text(const struct table_names *names, const struct result_table *t,
                           uint32_t row)
{
    const char *thread = rule_violations_label(names, t, row, "thread"),
               *object = rule_violations_label(names, t, row, "object"),
               *rest = object ? thread : NULL;
    int64_t count = rule_violations_count(t, row);
    char *times = count > 1 ? xasprintf(", %lld times", (long long)count) : xstrdup("");
    char *text = xasprintf("%s: %s%s%s%s%s",
                           object   ? object
                           : thread ? thread
                                    : "(unknown)",
                           rule_violations_rule(t, row), times, rest ? " (by " : "",
                           rest ? rest : "", rest ? ")" : "");
    free(times);
    return text;
}

/* Returns the call site of the first event of a row in new memory, "" if it is unknown. */
static char *rule_violations_place(const struct table_names *names, const struct result_table *t,
                                   uint32_t row)
{
    const struct table_cell *cell = rule_violations_cell(t, row, "location");
    return cell->is == CELL_PLACE ? result_table_place_text(names, cell->place, "") : xstrdup("");
}

void rule_violations_write(FILE *f, int indent, const struct table_names *names,
                           const struct result_table *t, uint32_t most)
{
    for (uint32_t i = 0; i < t->row_count && i < most; i++) {
        char *text = rule_violations_text(names, t, i), *place = rule_violations_place(names, t, i),
             at[48];
        event_id_print(at, sizeof at, rule_violations_cell(t, i, "event")->event);
        report_line_indent(f, indent,
                           xasprintf("%sRULE VIOLATED:%s %s", terminal_color_begin(COLOR_BAD),
                                     terminal_color_end(), text));
        report_line_indent(
            f, indent + 4,
            xasprintf("%s%s%sevent %s", *place ? "at " : "", place, *place ? ", " : "", at));
        free(text);
        free(place);
    }
    if (t->row_count > most)
        report_line_indent(f, indent, xasprintf("%u more: poet blocked", t->row_count - most));
}

struct json_object *rule_violations_json(const struct table_names *names,
                                         const struct result_table *t)
{
    struct json_object *all = json_object_new_array();
    for (uint32_t i = 0; i < t->row_count; i++) {
        struct json_object *o = json_object_new_object();
        char *place = rule_violations_place(names, t, i);
        json_add_text(o, "rule", rule_violations_rule(t, i));
        json_add_text(o, "thread", rule_violations_label(names, t, i, "thread"));
        json_add_text(o, "object", rule_violations_label(names, t, i, "object"));
        json_object_object_add(o, "count", json_object_new_int64(rule_violations_count(t, i)));
        json_add_text(o, "site", *place ? place : NULL);
        json_object_object_add(o, "event",
                               json_event_id(rule_violations_cell(t, i, "event")->event));
        json_object_array_add(all, o);
        free(place);
    }
    return all;
}
