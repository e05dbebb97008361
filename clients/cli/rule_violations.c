#define _GNU_SOURCE
#include "clients/cli/rule_violations.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/report_page.h"
#include "clients/cli/table_options.h"
#include "clients/cli/terminal.h"
#include "clients/connection/violation_text.h"

#include <json-c/json.h>
#include <stdlib.h>

int rule_violations_request(const struct command *command, struct command_source *subject,
                            struct result_table *table)
{
    struct table_settings plain = {.command = command};
    return table_request_run(&plain, &(struct table_section){.what = "violations"}, subject, table);
}

void rule_violations_write(FILE *f, int indent, const struct table_names *names,
                           const struct result_table *t, uint32_t most)
{
    for (uint32_t i = 0; i < t->row_count && i < most; i++) {
        char *text = violation_text_sentence(names, t, i),
             *place = violation_text_place(names, t, i), at[48];
        event_id_print(at, sizeof at, violation_text_cell(t, i, "event")->event);
        report_line_indent(f, indent,
                           xasprintf("%s" VIOLATION_HEAD "%s %s", terminal_color_begin(COLOR_BAD),
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
        char *place = violation_text_place(names, t, i);
        json_add_text(o, "rule", violation_text_rule(t, i));
        json_add_text(o, "thread", violation_text_label(names, t, i, "thread"));
        json_add_text(o, "object", violation_text_label(names, t, i, "object"));
        json_object_object_add(o, "count", json_object_new_int64(violation_text_count(t, i)));
        json_add_text(o, "site", *place ? place : NULL);
        json_object_object_add(o, "event",
                               json_event_id(violation_text_cell(t, i, "event")->event));
        json_object_array_add(all, o);
        free(place);
    }
    return all;
}
