/* poet dump: all events in a topological order of happened-before. */
#define _GNU_SOURCE
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/cli/dump_columns.h"
#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "wire/event_types.h"
#include "wire/text.h"

#include <json-c/json.h>
#include <stdlib.h>

static void dump_print_line(struct command_source *subject, uint32_t number)
{
    struct json_object *o = json_object_new_object();
    for (const struct line_column *c = line_columns; c->name; c++)
        json_object_object_add(o, c->name, c->value(subject, number));
    json_print(o);
}

static void dump_print_event_json(struct command_source *subject, const struct event_info *e)
{
    struct json_object *o = json_object_new_object();
    for (const struct event_column *c = event_columns; c->name; c++) {
        struct json_object *value = c->value(subject, e);
        if (value || !c->optional)
            json_object_object_add(o, c->name, value);
    }
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
