/* poet dump: all events in a topological order of happened-before. */
#define _GNU_SOURCE
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/connection/result_table.h"

#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "wire/event_types.h"
#include "wire/text.h"

#include <json-c/json.h>
#include <stdlib.h>

static const char *const states[] = {"ordered", "pending", "inconsistent"};
static const char *const relations[] = {"none", "sync", "async", "async", "order", "group"};

static struct json_object *dump_event_list_json(const struct event_id *refs, uint32_t count)
{
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < count; i++)
        json_object_array_add(list, json_event_id(refs[i]));
    return list;
}

static struct json_object *dump_line_json(uint32_t line)
{
    char s[16];
    if (!line)
        return NULL;
    if (!(line & HIDDEN_LINE))
        return json_object_new_int64(line);
    snprintf(s, sizeof s, "h%u", line & ~HIDDEN_LINE);
    return json_object_new_string(s);
}

static void dump_print_line(struct command_source *subject, uint32_t number)
{
    struct trace_metadata *book = &subject->source.book;
    const struct line_info *line = &metadata_line(book, number)->is;
    struct json_object *o = json_object_new_object();
    char object[24];
    snprintf(object, sizeof object, "0x%llx", (unsigned long long)line->object);
    json_object_object_add(o, "line", dump_line_json(number));
    json_object_object_add(o, "kind", json_object_new_string(line->kind));
    json_object_object_add(o, "letter", json_object_new_string(metadata_line_letter(book, number)));
    json_object_object_add(
        o, "name",
        json_object_new_string(
            number & HIDDEN_LINE ? "" : line_label_text(book, subject->sites, number)));
    json_object_object_add(o, "object", line->object ? json_object_new_string(object) : NULL);
    json_object_object_add(o, "shared", json_object_new_boolean(line->shared));
    json_object_object_add(o, "hidden", json_object_new_boolean((number & HIDDEN_LINE) != 0));
    json_object_object_add(o, "opened_by", json_event_id(line->opened_by));
    json_print(o);
}

/* Returns the functions on the call stack of an event, innermost first. */
static json_object *dump_calls_json(struct command_source *subject, const struct event_info *e)
{
    const struct table_names names = {&subject->source.book, subject->sites};
    json_object *calls = json_object_new_array();
    for (uint32_t i = 0; i < e->call_count; i++) {
        struct table_place function = {e->process, e->calls[i]};
        json_object_array_add(calls, json_take_text(result_table_place_text(&names, function, "")));
    }
    return calls;
}

static void dump_print_event_json(struct command_source *subject, const struct event_info *e)
{
    struct json_object *o = json_object_new_object(), *texts = json_object_new_array();
    const char *site = command_source_site(subject, e);
    json_object_object_add(o, "event", json_event_id(e->at));
    json_object_object_add(
        o, "type", json_object_new_string(metadata_type_name(&subject->source.book, e->type)));
    json_object_object_add(o, "time_ns", json_object_new_int64(e->time_ns));
    json_object_object_add(o, "state", json_object_new_string(states[e->state]));
    json_object_object_add(o, "relation", json_object_new_string(relations[e->relation]));
    json_object_object_add(o, "partner",
                           e->partner_count == 0 ? NULL
                           : e->partner_count == 1
                               ? json_event_id(e->partners[0])
                               : dump_event_list_json(e->partners, e->partner_count));
    json_object_object_add(o, "group", e->group ? json_object_new_uint64(e->group) : NULL);
    json_object_object_add(o, "order_after", dump_event_list_json(e->after, e->after_count));
    json_object_object_add(o, "object", dump_line_json(e->about));
    json_object_object_add(o, "thread", dump_line_json(e->thread));
    json_object_object_add(o, "site", *site ? json_object_new_string(site) : NULL);
    json_object_object_add(o, "context", e->context ? json_object_new_int64(e->context) : NULL);
    if (e->call_count)
        json_object_object_add(o, "calls", dump_calls_json(subject, e));
    for (uint32_t i = 0; i < e->text_count; i++)
        json_object_array_add(texts, json_object_new_string(e->texts[i]));
    json_object_object_add(o, "annotations", texts);
    json_object_object_add(o, "uncertain",
                           untraced_name(e->doubt) ? json_object_new_string(untraced_name(e->doubt))
                                                   : NULL);
    json_print(o);
}

static void dump_print_event(struct command_source *subject, const struct event_info *e)
{
    const struct trace_metadata *book = &subject->source.book;
    char at[48], other[48];
    event_id_print(at, sizeof at, e->at);
    printf("%-10s %12.6f  %-10s %s", at, (double)e->time_ns / 1e9,
           metadata_type_name(book, e->type),
           e->at.line & HIDDEN_LINE ? "(order)" : metadata_label(book, e->at.line));
    for (uint32_t i = 0; i < e->partner_count; i++) {
        event_id_print(other, sizeof other, e->partners[i]);
        printf("%s%s", i ? "," : " <> ", other);
    }
    for (uint32_t i = 0; i < e->after_count; i++) {
        event_id_print(other, sizeof other, e->after[i]);
        printf("%s%s", i ? "," : " after ", other);
    }
    if (e->about)
        printf(" object %s", metadata_label(book, e->about));
    if (e->site)
        printf(" at %s", command_source_site(subject, e));
    for (uint32_t i = 0; i < e->text_count; i++) {
        fputs(" \"", stdout);
        text_print(stdout, e->texts[i]);
        putchar('"');
    }
    if (e->doubt)
        printf(" UNCERTAIN (%s)", untraced_text(e->doubt));
    printf("%s\n", e->state == EVENT_ORDERED   ? ""
                   : e->state == EVENT_PENDING ? " PENDING"
                                               : " INCONSISTENT");
}

static void begin_json(struct command_source *subject)
{
    const struct trace_metadata *book = &subject->source.book;
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();
    json_object_object_add(o, "poet", json_object_new_int(1));
    json_object_object_add(o, "run", json_object_new_string(book->run.name));
    for (size_t i = 0; i < book->target_count; i++)
        json_object_array_add(list, json_object_new_string(book->targets[i]->name));
    json_object_object_add(o, "environments", list);
    json_print(o);
}

struct printed {
    uint32_t lines, hidden;
};

static void print_lines(struct command_source *subject, struct printed *printed)
{
    const struct trace_metadata *book = &subject->source.book;
    line_labels_assign(&subject->source.book, subject->sites, &subject->known, LABELS_ADDRESS);
    while (printed->lines < book->line_count)
        dump_print_line(subject, ++printed->lines);
    while (printed->hidden < book->hidden_count)
        dump_print_line(subject, HIDDEN_LINE | ++printed->hidden);
}

static void print_lost(struct decoder *in, bool json)
{
    struct event_id at = decode_event_id(in);
    uint64_t count = decode_u64(in);
    char s[48];
    event_id_print(s, sizeof s, at);
    if (!json) {
        printf("%-10s LOST %llu event%s\n", at.line ? s : "elsewhere", (unsigned long long)count,
               plural_suffix(count));
        return;
    }
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "lost", at.line ? json_object_new_string(s) : NULL);
    json_object_object_add(o, "count", json_object_new_uint64(count));
    json_print(o);
}

struct dump_printer {
    struct command_source *subject;
    struct printed printed;
    bool json;
};

static void dump_receive_chunk(void *user, const struct response_chunk *answer)
{
    struct dump_printer *dump = user;
    struct event_info event;
    if (answer->part == RESPONSE_LOST)
        print_lost(answer->in, dump->json);
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &event);
    if (answer->in->error) {
        ;
    } else if (dump->json) {
        print_lines(dump->subject, &dump->printed);
        dump_print_event_json(dump->subject, &event);
    } else if (!(event.at.line & HIDDEN_LINE)) {
        dump_print_event(dump->subject, &event);
    }
    event_info_free(&event);
}

static int dump_request_dump(const struct command *command, struct command_source *subject,
                             bool json)
{
    struct dump_printer dump = {.subject = subject, .json = json};
    if (json)
        begin_json(subject);
    bool ok =
        command_source_request(command, subject, REQUEST_DUMP, NULL, dump_receive_chunk, &dump);
    if (json)
        print_lines(subject, &dump.printed);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

static int dump_run(const struct command *command, int argc, char **argv)
{
    struct command_source subject;
    bool json;
    int status;
    if (!command_source_begin(command, argc, argv, SESSION_ALL_LINES, LABELS_ADDRESS, &subject,
                              &json, &status))
        return status;
    pager_begin();
    status = dump_request_dump(command, &subject, json);
    command_source_close(&subject);
    return status;
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0,
     "print one JSON object per line; \"uncertain\" is null, or the reason why an event may have "
     "unrecorded predecessors; {\"lost\": FIRST, \"count\": N} reports lost events, also at the "
     "end of a line; FIRST is null where their numbers are unknown",
     0},
    {0}};
static const struct argp_child children[] = {
    {&pager_options, 0, NULL, 0}, {&options_common, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = command_parse_json,
    .args_doc = "[SOURCE]",
    .doc = "Print all events in a topological order of happened-before; pending and inconsistent "
           "events come last.",
    .children = children};

const struct command command_dump = {.name = "dump",
                                     .summary = "print all events in a topological order",
                                     .run = dump_run,
                                     .argp = &argp};
