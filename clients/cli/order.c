/* poet order: the causal relation of two events. */
#define _GNU_SOURCE
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "config/options.h"
#include "wire/event_types.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 10000

struct order_pair {
    struct event_id a, b;
};

static const char *const words[] = {"no such event", "before", "after",
                                    "concurrent",    "same",   "unknown"};

/* Untraced synchronization of the run, requested when first needed. */
static struct stat_info stat;
static bool stat_known;
static uint32_t reported[2]; /* reasons already printed for UNKNOWN, for CONCURRENT */

static void order_receive_stat(void *user, const struct response_chunk *answer)
{
    if (answer->part == RESPONSE_STAT)
        decode_stat_info(answer->in, &stat);
}

static void order_request_stat(const struct command *command, struct command_source *subject)
{
    if (!stat_known)
        stat_known =
            command_source_request(command, subject, REQUEST_STAT, NULL, order_receive_stat, NULL);
}

/* Writes a reason and its details, such as "...: Rust, OpenMP (libgomp.so.1)". */
static void reason_phrase(unsigned reason, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", untraced_text(reason));
    const char *between = ": ";
    for (uint32_t i = 0; i < stat.unseen_count && n < size; i++) {
        if (stat.unseen[i].reason != reason || !*stat.unseen[i].about)
            continue;
        n += (size_t)snprintf(text + n, size - n, "%s%s", between, stat.unseen[i].about);
        between = ", ";
    }
}

/* Prints each reason only once for all pairs. */
static void order_report_reasons(uint8_t answer, uint32_t reasons)
{
    bool unknown = answer == RELATION_CODE(ORDER_UNKNOWN);
    char text[2000];
    for (unsigned reason = 1; reason < 32; reason++) {
        if (!(reasons & ~reported[!unknown] & UNTRACED_BIT(reason)))
            continue;
        reason_phrase(reason, text, sizeof text);
        fprintf(stderr, "poet order: %s: %s\n",
                unknown ? "unknown" : "concurrent, considering traced synchronization only", text);
    }
    reported[!unknown] |= reasons;
}

static void print_answer(struct order_pair pair, uint8_t answer, uint32_t reasons, bool json)
{
    if (!json) {
        static const enum terminal_color colors[] = {COLOR_BAD,   COLOR_PAST, COLOR_FUTURE,
                                                     COLOR_FAINT, COLOR_HEAD, COLOR_BAD};
        printf("%s%s%s\n", terminal_color_begin(colors[answer]), words[answer],
               terminal_color_end());
        order_report_reasons(answer, reasons);
        return;
    }
    char text[2000];
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();
    json_object_object_add(o, "a", json_event_id(pair.a));
    json_object_object_add(o, "b", json_event_id(pair.b));
    json_object_object_add(o, "order", json_object_new_string(words[answer]));
    for (unsigned reason = 1; reason < 32; reason++) {
        if (!(reasons & UNTRACED_BIT(reason)))
            continue;
        reason_phrase(reason, text, sizeof text);
        json_object_array_add(list, json_object_new_string(text));
    }
    json_object_object_add(o, "reasons", list);
    json_print(o);
}

/* Reports which events of a pair do not exist. number 0: the only pair. */
static int order_report_missing(const struct command *command, struct command_source *subject,
                                const struct order_pair *pair, size_t number)
{
    const struct event_id both[] = {pair->a, pair->b};
    char which[40] = "";
    struct error why;
    bool failed = false;
    if (number)
        snprintf(which, sizeof which, "pair %zu: ", number);
    for (int i = 0; i < (event_id_equal(both[0], both[1]) ? 1 : 2); i++)
        if (!command_source_has_event(subject, both[i], &why))
            failed = command_fail(command, "%s%s", which, why.text);
    return failed
               ? EXIT_FAILED
               : command_fail(command, "%sone of the two events has no place in the order", which);
}

struct order_result {
    uint8_t answer;
    uint32_t reasons;
};

struct order_batch {
    struct order_result *answers;
    size_t count;
};

static void order_receive_order(void *user, const struct response_chunk *answer)
{
    struct order_batch *batch = user;
    for (size_t i = 0; answer->part == RESPONSE_ORDER && i < batch->count; i++) {
        batch->answers[i].answer = decode_u8(answer->in);
        batch->answers[i].reasons = decode_u32(answer->in);
    }
}

#define ALONE SIZE_MAX /* as `first`: there is only one pair, and errors do not number it */

/* Requests the relations of a batch and prints them, up to the first pair that does not exist. */
static int order_request_relations(const struct command *command, struct command_source *subject,
                                   const struct order_pair *pairs, size_t count, size_t first,
                                   bool json)
{
    struct encoder body = {0};
    struct order_result *answers = xcalloc(count, sizeof *answers);
    struct order_batch batch = {answers, count};
    for (size_t i = 0; i < count; i++) {
        encode_event_id(&body, pairs[i].a);
        encode_event_id(&body, pairs[i].b);
    }
    if (!command_source_request(command, subject, REQUEST_ORDER, &body, order_receive_order,
                                &batch)) {
        free(answers);
        return EXIT_FAILED;
    }
    uint32_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= answers[i].reasons;
    if (any)
        order_request_stat(command, subject);
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
        uint8_t answer = answers[i].answer;
        if (answer == 0 || answer > 5) {
            fflush(stdout);
            status = order_report_missing(command, subject, &pairs[i], first + i + 1);
        } else {
            print_answer(pairs[i], answer, answers[i].reasons, json);
        }
    }
    free(answers);
    return status;
}

struct order_chain {
    struct command_source *subject;
    bool known; /* both events exist */
    uint32_t count;
    struct json_object *list; /* NULL: text output */
};

static void why_text(const struct order_chain *why, const struct event_info *event)
{
    const struct trace_metadata *book = &why->subject->source.book;
    char ref[48];
    event_id_print(ref, sizeof ref, event->at);
    printf("%-10s %-12s %-20s %s\n", ref, metadata_type_name(book, event->type),
           event->at.line & HIDDEN_LINE ? "(internal join node)"
                                        : metadata_label(book, event->at.line),
           command_source_site(why->subject, event));
}

static void why_json(const struct order_chain *why, const struct event_info *event)
{
    const struct trace_metadata *book = &why->subject->source.book;
    const char *site = command_source_site(why->subject, event);
    bool hidden = event->at.line & HIDDEN_LINE;
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "event", json_event_id(event->at));
    json_object_object_add(o, "type",
                           json_object_new_string(metadata_type_name(book, event->type)));
    json_object_object_add(
        o, "line", hidden ? NULL : json_object_new_string(metadata_label(book, event->at.line)));
    json_object_object_add(o, "site", *site ? json_object_new_string(site) : NULL);
    json_object_array_add(why->list, o);
}

static void order_receive_why(void *user, const struct response_chunk *answer)
{
    struct order_chain *why = user;
    if (answer->part == RESPONSE_CHAIN) {
        why->known = decode_u8(answer->in);
        why->count = decode_u32(answer->in);
    }
    if (answer->part != RESPONSE_EVENT)
        return;
    struct event_info event;
    decode_event_info(answer->in, &event);
    if (!answer->in->error && why->list)
        why_json(why, &event);
    else if (!answer->in->error)
        why_text(why, &event);
    event_info_free(&event);
}

/* Prints the causal chain from one event to the other, or appends it to `list`. Returns its length;
 * a negative exit status after reporting an error. */
static int order_request_chain(const struct command *command, struct command_source *subject,
                               const struct order_pair *pair, struct json_object *list)
{
    struct encoder body = {0};
    struct order_chain why = {.subject = subject, .list = list};
    encode_event_id(&body, pair->a);
    encode_event_id(&body, pair->b);
    if (!command_source_request(command, subject, REQUEST_CAUSAL_CHAIN, &body, order_receive_why,
                                &why))
        return -EXIT_FAILED;
    if (!why.known)
        return -order_report_missing(command, subject, pair, 0);
    return (int)why.count;
}

/* Takes over the list. */
static void print_why(struct order_pair pair, const char *order, struct json_object *list)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "a", json_event_id(pair.a));
    json_object_object_add(o, "b", json_event_id(pair.b));
    json_object_object_add(o, "order", order ? json_object_new_string(order) : NULL);
    json_object_object_add(o, "chain", list);
    json_print(o);
}

/* Prints the causal chain in whichever direction there is one. */
static int order_print_causal_chain(const struct command *command, struct command_source *subject,
                                    struct order_pair pair, bool json)
{
    struct json_object *list = json ? json_object_new_array() : NULL;
    struct order_pair turned = {pair.b, pair.a};
    const char *order = words[RELATION_CODE(ORDER_BEFORE)];
    int count = order_request_chain(command, subject, &pair, list);
    if (count == 0 && !event_id_equal(pair.a, pair.b)) {
        order = words[RELATION_CODE(ORDER_AFTER)];
        count = order_request_chain(command, subject, &turned, list);
    }
    if (count >= 0 && json)
        print_why(pair, count ? order : NULL, list);
    else if (json)
        json_object_put(list);
    else if (count == 0)
        puts("no causal chain connects them");
    return count >= 0 ? EXIT_DONE : EXIT_FAILED;
}

static int order_request_all(const struct command *command, struct command_source *subject, FILE *f,
                             bool json)
{
    static struct order_pair pairs[BATCH];
    char line[256], a[100], b[100], rest;
    size_t count = 0, total = 0;
    int status = EXIT_DONE;
    for (unsigned long number = 1; status == EXIT_DONE && fgets(line, sizeof line, f); number++) {
        if (line[strspn(line, " \t\n")] == 0)
            continue;
        if (sscanf(line, "%99s %99s %c", a, b, &rest) != 2 || !event_id_parse(a, &pairs[count].a) ||
            !event_id_parse(b, &pairs[count].b))
            return command_fail(command, "standard input:%lu: expected LINE:NUMBER LINE:NUMBER",
                                number);
        if (++count == BATCH) {
            status = order_request_relations(command, subject, pairs, count, total, json);
            total += count;
            count = 0;
        }
    }
    return status == EXIT_DONE && count
               ? order_request_relations(command, subject, pairs, count, total, json)
               : status;
}

enum { WHY = 256 };

struct order_options {
    bool why, json;
};

static const struct option_row order_rows[] = {
    OPTION_SETS(WHY, struct order_options, why), OPTION_SETS('j', struct order_options, json), {0}};

static error_t order_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(order_rows, key, value, state);
}

static int order_run(const struct command *command, int argc, char **argv)
{
    struct order_options wanted = {0};
    int first, status = command_read(command, argc, argv, &wanted, &first);
    if (status != OPTIONS_READ)
        return status;
    struct order_pair pair;
    const char *source = command_source_name(argc, argv, &first);
    bool from_input = !wanted.why && argc - first == 1 && strcmp(argv[first], "-") == 0;
    if (!from_input && argc - first != 2)
        return command_usage(command, "expected two events, or -");
    if (!from_input &&
        (!event_id_parse(argv[first], &pair.a) || !event_id_parse(argv[first + 1], &pair.b)))
        return command_usage(command, "invalid event (expected LINE:NUMBER, as in 2:17)");
    struct command_source subject;
    if (!command_source_open(command, &subject, source, SESSION_NAMED_LINES,
                             label_option_selected(wanted.json ? LABELS_ADDRESS : LABELS_NAME)))
        return EXIT_FAILED;
    if (!from_input)
        pager_begin();
    status =
        wanted.why && !from_input ? order_print_causal_chain(command, &subject, pair, wanted.json)
        : from_input              ? order_request_all(command, &subject, stdin, wanted.json)
                     : order_request_relations(command, &subject, &pair, 1, ALONE, wanted.json);
    stat_info_free(&stat);
    command_source_close(&subject);
    return status;
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0,
     "one JSON object per line: {\"a\": A, \"b\": B, \"order\": ANSWER, \"reasons\": [TEXT, ...]}; "
     "with --why one object: {\"a\": A, \"b\": B, \"order\": ANSWER, \"chain\": [{\"event\": E, "
     "...}, ...]}",
     0},
    {"why", WHY, NULL, 0,
     "print a shortest causal chain (fewest hops between lines): one event per output line, with "
     "its type, its trace line and its call site",
     0},
    {0}};
static const struct argp_child children[] = {{&labels_options, 0, NULL, 0},
                                             {&color_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = order_parse_option,
    .args_doc = "[SOURCE] A B\n[SOURCE] -",
    .doc = "Print the causal relation of event A to event B: before, after, concurrent, same (one "
           "synchronization point), or unknown if untraced synchronization may order them.  The "
           "reasons for unknown, and untraced synchronization that may order concurrent events, "
           "are printed on standard error, each once.  Events are written LINE:NUMBER.  With -, "
           "pairs are read from standard input, one per line.",
    .children = children};

const struct command command_order = {.name = "order",
                                      .summary = "tell whether one event happened before another",
                                      .run = order_run,
                                      .argp = &argp};
