#include "clients/cli/dump_columns.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/connection/result_table.h"
#include "wire/event_types.h"

#include <json-c/json.h>
#include <stdio.h>

/* ---- values that several columns have ---- */

static struct json_object *dump_columns_line(uint32_t line)
{
    if (!line)
        return NULL;
    return line & HIDDEN_LINE ? json_take_text(xasprintf("h%u", line & ~HIDDEN_LINE))
                              : json_object_new_int64(line);
}

static struct json_object *dump_columns_events(const struct event_id *refs, uint32_t count)
{
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < count; i++)
        json_object_array_add(list, json_event_id(refs[i]));
    return list;
}

/* ---- events ---- */

static struct json_object *event_column_event(struct command_source *subject,
                                              const struct event_info *e)
{
    (void)subject;
    return json_event_id(e->at);
}

static struct json_object *event_column_type(struct command_source *subject,
                                             const struct event_info *e)
{
    return json_object_new_string(metadata_type_name(&subject->source.book, e->type));
}

static struct json_object *event_column_time(struct command_source *subject,
                                             const struct event_info *e)
{
    (void)subject;
    return json_object_new_int64(e->time_ns);
}

static struct json_object *event_column_state(struct command_source *subject,
                                              const struct event_info *e)
{
    static const char *const states[] = {"ordered", "pending", "inconsistent"};
    (void)subject;
    return json_object_new_string(states[e->state]);
}

static struct json_object *event_column_relation(struct command_source *subject,
                                                 const struct event_info *e)
{
    static const char *const relations[] = {"none", "sync", "async", "async", "order", "group"};
    (void)subject;
    return json_object_new_string(relations[e->relation]);
}

static struct json_object *event_column_partner(struct command_source *subject,
                                                const struct event_info *e)
{
    (void)subject;
    return e->partner_count == 0   ? NULL
           : e->partner_count == 1 ? json_event_id(e->partners[0])
                                   : dump_columns_events(e->partners, e->partner_count);
}

static struct json_object *event_column_group(struct command_source *subject,
                                              const struct event_info *e)
{
    (void)subject;
    return e->group ? json_object_new_uint64(e->group) : NULL;
}

static struct json_object *event_column_order_after(struct command_source *subject,
                                                    const struct event_info *e)
{
    (void)subject;
    return dump_columns_events(e->after, e->after_count);
}

static struct json_object *event_column_object(struct command_source *subject,
                                               const struct event_info *e)
{
    (void)subject;
    return dump_columns_line(e->about);
}

static struct json_object *event_column_thread(struct command_source *subject,
                                               const struct event_info *e)
{
    (void)subject;
    return dump_columns_line(e->thread);
}

static struct json_object *event_column_site(struct command_source *subject,
                                             const struct event_info *e)
{
    const char *site = command_source_site(subject, e);
    return *site ? json_object_new_string(site) : NULL;
}

static struct json_object *event_column_context(struct command_source *subject,
                                                const struct event_info *e)
{
    (void)subject;
    return e->context ? json_object_new_int64(e->context) : NULL;
}

/* The functions on the call stack of the event, innermost first. */
static struct json_object *event_column_calls(struct command_source *subject,
                                              const struct event_info *e)
{
    const struct table_names names = {&subject->source.book, subject->sites};
    struct json_object *calls = e->call_count ? json_object_new_array() : NULL;
    for (uint32_t i = 0; i < e->call_count; i++) {
        struct table_place function = {e->process, e->calls[i]};
        json_object_array_add(calls, json_take_text(result_table_place_text(&names, function, "")));
    }
    return calls;
}

static struct json_object *event_column_annotations(struct command_source *subject,
                                                    const struct event_info *e)
{
    struct json_object *texts = json_object_new_array();
    (void)subject;
    for (uint32_t i = 0; i < e->text_count; i++)
        json_object_array_add(texts, json_object_new_string(e->texts[i]));
    return texts;
}

static struct json_object *event_column_uncertain(struct command_source *subject,
                                                  const struct event_info *e)
{
    (void)subject;
    return untraced_name(e->doubt) ? json_object_new_string(untraced_name(e->doubt)) : NULL;
}

const struct event_column event_columns[] = {
    {"event", event_column_event, false},         {"type", event_column_type, false},
    {"time_ns", event_column_time, false},        {"state", event_column_state, false},
    {"relation", event_column_relation, false},   {"partner", event_column_partner, false},
    {"group", event_column_group, false},         {"order_after", event_column_order_after, false},
    {"object", event_column_object, false},       {"thread", event_column_thread, false},
    {"site", event_column_site, false},           {"context", event_column_context, false},
    {"calls", event_column_calls, true},          {"annotations", event_column_annotations, false},
    {"uncertain", event_column_uncertain, false}, {NULL, NULL, false}};

/* ---- lines ---- */

static const struct line_info *line_column_info(struct command_source *subject, uint32_t line)
{
    return &metadata_line(&subject->source.book, line)->is;
}

static struct json_object *line_column_line(struct command_source *subject, uint32_t line)
{
    (void)subject;
    return dump_columns_line(line);
}

static struct json_object *line_column_kind(struct command_source *subject, uint32_t line)
{
    return json_object_new_string(line_column_info(subject, line)->kind);
}

static struct json_object *line_column_letter(struct command_source *subject, uint32_t line)
{
    return json_object_new_string(metadata_line_letter(&subject->source.book, line));
}

static struct json_object *line_column_name(struct command_source *subject, uint32_t line)
{
    return json_object_new_string(
        line & HIDDEN_LINE ? "" : line_label_text(&subject->source.book, subject->sites, line));
}

static struct json_object *line_column_object(struct command_source *subject, uint32_t line)
{
    unsigned long long object = line_column_info(subject, line)->object;
    return object ? json_take_text(xasprintf("0x%llx", object)) : NULL;
}

static struct json_object *line_column_shared(struct command_source *subject, uint32_t line)
{
    return json_object_new_boolean(line_column_info(subject, line)->shared);
}

static struct json_object *line_column_hidden(struct command_source *subject, uint32_t line)
{
    (void)subject;
    return json_object_new_boolean((line & HIDDEN_LINE) != 0);
}

static struct json_object *line_column_opened_by(struct command_source *subject, uint32_t line)
{
    return json_event_id(line_column_info(subject, line)->opened_by);
}

const struct line_column line_columns[] = {{"line", line_column_line},
                                           {"kind", line_column_kind},
                                           {"letter", line_column_letter},
                                           {"name", line_column_name},
                                           {"object", line_column_object},
                                           {"shared", line_column_shared},
                                           {"hidden", line_column_hidden},
                                           {"opened_by", line_column_opened_by},
                                           {NULL, NULL}};
