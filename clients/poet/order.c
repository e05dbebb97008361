/* poet order: how two events stand to each other. */
#define _GNU_SOURCE
#include "clients/poet/command.h"
#include "clients/poet/subject.h"

#include "clients/poet/colour.h"
#include "clients/poet/exists.h"
#include "clients/poet/json.h"
#include "clients/poet/labels.h"
#include "clients/poet/pager.h"
#include "memory/memory.h"
#include "wire/ref.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 10000

struct pair {
    struct ref a, b;
};

static const char *const words[] = {"no such event", "before", "after",
                                    "concurrent",    "same",   "unknown"};

/* What the run does not see, asked for when first needed. */
static struct shown_stat stat;
static bool stat_known;
static uint32_t told[2]; /* reasons for UNKNOWN, for CONCURRENT, that were told */

static void take_stat(void *user, const struct answer *answer)
{
    if (answer->part == PART_STAT)
        get_stat(answer->in, &stat);
}

static void ask_stat(const struct command *command, struct subject *subject)
{
    if (!stat_known)
        stat_known = subject_ask(command, subject, ASK_STAT, NULL, take_stat, NULL);
}

/* "numbers were lost", or with what it is about: "...: Rust, OpenMP (libgomp.so.1)". */
static void reason_phrase(unsigned reason, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", unseen_text(reason));
    const char *between = ": ";
    for (uint32_t i = 0; i < stat.unseen_count && n < size; i++) {
        if (stat.unseen[i].reason != reason || !*stat.unseen[i].about)
            continue;
        n += (size_t)snprintf(text + n, size - n, "%s%s", between, stat.unseen[i].about);
        between = ", ";
    }
}

/* Each reason once, however many pairs are asked about. */
static void tell_reasons(uint8_t answer, uint32_t reasons)
{
    bool unknown = answer == STANDS_AS(ORDER_UNKNOWN);
    char text[2000];
    for (unsigned reason = 1; reason < 32; reason++) {
        if (!(reasons & ~told[!unknown] & UNSEEN_BIT(reason)))
            continue;
        reason_phrase(reason, text, sizeof text);
        fprintf(stderr, "poet order: %s: %s\n",
                unknown ? "unknown" : "concurrent as far as is seen", text);
    }
    told[!unknown] |= reasons;
}

static void print_answer(struct pair pair, uint8_t answer, uint32_t reasons, bool json)
{
    if (!json) {
        static const enum colour colours[] = {COLOUR_BAD,   COLOUR_PAST, COLOUR_FUTURE,
                                              COLOUR_FAINT, COLOUR_HEAD, COLOUR_BAD};
        printf("%s%s%s\n", colour_begin(colours[answer]), words[answer], colour_end());
        tell_reasons(answer, reasons);
        return;
    }
    char text[2000];
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();
    json_object_object_add(o, "a", json_ref(pair.a));
    json_object_object_add(o, "b", json_ref(pair.b));
    json_object_object_add(o, "order", json_object_new_string(words[answer]));
    for (unsigned reason = 1; reason < 32; reason++) {
        if (!(reasons & UNSEEN_BIT(reason)))
            continue;
        reason_phrase(reason, text, sizeof text);
        json_object_array_add(list, json_object_new_string(text));
    }
    json_object_object_add(o, "reasons", list);
    json_print(o);
}

/* The events of a pair that there are not.  number 0: the only pair. */
static int missing(const struct command *command, struct subject *subject, const struct pair *pair,
                   size_t number)
{
    const struct ref both[] = {pair->a, pair->b};
    char which[40] = "";
    struct error why;
    bool said = false;
    if (number)
        snprintf(which, sizeof which, "pair %zu: ", number);
    for (int i = 0; i < (ref_equal(both[0], both[1]) ? 1 : 2); i++)
        if (!exists_event(subject, both[i], &why))
            said = command_fail(command, "%s%s", which, why.text);
    return said ? EXIT_FAILED
                : command_fail(command, "%sone of the two is not in the order", which);
}

struct answered {
    uint8_t answer;
    uint32_t reasons;
};

struct batch {
    struct answered *answers;
    size_t count;
};

static void take_order(void *user, const struct answer *answer)
{
    struct batch *batch = user;
    for (size_t i = 0; answer->part == PART_ORDER && i < batch->count; i++) {
        batch->answers[i].answer = get_u8(answer->in);
        batch->answers[i].reasons = get_u32(answer->in);
    }
}

#define ALONE SIZE_MAX /* as `first`: the only pair, which has no number */

/* Asks for a batch and prints the answers; the first pair that does not exist ends it. */
static int ask(const struct command *command, struct subject *subject, const struct pair *pairs,
               size_t count, size_t first, bool json)
{
    struct out body = {0};
    struct answered *answers = memory_zeroed(count, sizeof *answers);
    struct batch batch = {answers, count};
    for (size_t i = 0; i < count; i++) {
        put_ref(&body, pairs[i].a);
        put_ref(&body, pairs[i].b);
    }
    if (!subject_ask(command, subject, ASK_ORDER, &body, take_order, &batch)) {
        free(answers);
        return EXIT_FAILED;
    }
    uint32_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= answers[i].reasons;
    if (any)
        ask_stat(command, subject);
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
        uint8_t answer = answers[i].answer;
        if (answer == 0 || answer > 5) {
            fflush(stdout);
            status = missing(command, subject, &pairs[i], first + i + 1);
        } else {
            print_answer(pairs[i], answer, answers[i].reasons, json);
        }
    }
    free(answers);
    return status;
}

struct why {
    struct subject *subject;
    bool known; /* there are both events */
    uint32_t count;
    struct json_object *list; /* NULL: as text */
};

static void why_text(const struct why *why, const struct shown_event *event)
{
    const struct book *book = &why->subject->source.book;
    char ref[48];
    ref_print(ref, sizeof ref, event->at);
    printf("%-10s %-12s %-20s %s\n", ref, book_type(book, event->type),
           event->at.line & HIDDEN_LINE ? "(collects what comes before)"
                                        : book_label(book, event->at.line),
           subject_site(why->subject, event));
}

static void why_json(const struct why *why, const struct shown_event *event)
{
    const struct book *book = &why->subject->source.book;
    const char *site = subject_site(why->subject, event);
    bool hidden = event->at.line & HIDDEN_LINE;
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "event", json_ref(event->at));
    json_object_object_add(o, "type", json_object_new_string(book_type(book, event->type)));
    json_object_object_add(
        o, "line", hidden ? NULL : json_object_new_string(book_label(book, event->at.line)));
    json_object_object_add(o, "site", *site ? json_object_new_string(site) : NULL);
    json_object_array_add(why->list, o);
}

static void take_why(void *user, const struct answer *answer)
{
    struct why *why = user;
    if (answer->part == PART_CHAIN) {
        why->known = get_u8(answer->in);
        why->count = get_u32(answer->in);
    }
    if (answer->part != PART_EVENT)
        return;
    struct shown_event event;
    get_event(answer->in, &event);
    if (!answer->in->error && why->list)
        why_json(why, &event);
    else if (!answer->in->error)
        why_text(why, &event);
    shown_event_free(&event);
}

/* Tells the chain of events that makes one come before the other; list: into it.  Negative: there is none to be had,
 * and why not is said. */
static int ask_why(const struct command *command, struct subject *subject, const struct pair *pair,
                   struct json_object *list)
{
    struct out body = {0};
    struct why why = {.subject = subject, .list = list};
    put_ref(&body, pair->a);
    put_ref(&body, pair->b);
    if (!subject_ask(command, subject, ASK_WHY, &body, take_why, &why))
        return -EXIT_FAILED;
    if (!why.known)
        return -missing(command, subject, pair, 0);
    return (int)why.count;
}

/* Takes the list. */
static void print_why(struct pair pair, const char *order, struct json_object *list)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "a", json_ref(pair.a));
    json_object_object_add(o, "b", json_ref(pair.b));
    json_object_object_add(o, "order", order ? json_object_new_string(order) : NULL);
    json_object_object_add(o, "chain", list);
    json_print(o);
}

/* Either way round. */
static int why(const struct command *command, struct subject *subject, struct pair pair, bool json)
{
    struct json_object *list = json ? json_object_new_array() : NULL;
    struct pair turned = {pair.b, pair.a};
    const char *order = words[STANDS_AS(ORDER_BEFORE)];
    int count = ask_why(command, subject, &pair, list);
    if (count == 0 && !ref_equal(pair.a, pair.b)) {
        order = words[STANDS_AS(ORDER_AFTER)];
        count = ask_why(command, subject, &turned, list);
    }
    if (count >= 0 && json)
        print_why(pair, count ? order : NULL, list);
    else if (json)
        json_object_put(list);
    else if (count == 0)
        puts("no chain of events leads from one to the other");
    return count >= 0 ? EXIT_DONE : EXIT_FAILED;
}

static int ask_all(const struct command *command, struct subject *subject, FILE *f, bool json)
{
    static struct pair pairs[BATCH];
    char line[256], a[100], b[100], rest;
    size_t count = 0, total = 0;
    int status = EXIT_DONE;
    for (unsigned long number = 1; status == EXIT_DONE && fgets(line, sizeof line, f); number++) {
        if (line[strspn(line, " \t\n")] == 0)
            continue;
        if (sscanf(line, "%99s %99s %c", a, b, &rest) != 2 || !ref_parse(a, &pairs[count].a) ||
            !ref_parse(b, &pairs[count].b))
            return command_fail(command, "standard input:%lu: write LINE:NUMBER LINE:NUMBER",
                                number);
        if (++count == BATCH) {
            status = ask(command, subject, pairs, count, total, json);
            total += count;
            count = 0;
        }
    }
    return status == EXIT_DONE && count ? ask(command, subject, pairs, count, total, json) : status;
}

enum { WHY = 256 };

struct wanted {
    bool why, json;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct wanted *wanted = state->input;
    (void)value;
    switch (key) {
    case WHY:
        wanted->why = true;
        return 0;
    case 'j':
        wanted->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int run(const struct command *command, int argc, char **argv)
{
    struct wanted wanted = {0};
    int first, status = command_read(command, argc, argv, &wanted, &first);
    if (status != OPTIONS_READ)
        return status;
    struct pair pair;
    const char *source = subject_named(argc, argv, &first);
    bool from_input = !wanted.why && argc - first == 1 && strcmp(argv[first], "-") == 0;
    if (!from_input && argc - first != 2)
        return command_usage(command, "two events are needed, or -");
    if (!from_input && (!ref_parse(argv[first], &pair.a) || !ref_parse(argv[first + 1], &pair.b)))
        return command_usage(command, "an event is written LINE:NUMBER, as in 2:17");
    struct subject subject;
    if (!subject_open(command, &subject, source, SOURCE_NAMED_LINES,
                      labels_wanted(wanted.json ? LABELS_ADDRESS : LABELS_NAME)))
        return EXIT_FAILED;
    if (!from_input)
        pager_begin();
    status = wanted.why && !from_input ? why(command, &subject, pair, wanted.json)
             : from_input              ? ask_all(command, &subject, stdin, wanted.json)
                                       : ask(command, &subject, &pair, 1, ALONE, wanted.json);
    shown_stat_free(&stat);
    subject_close(&subject);
    return status;
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0,
     "one JSON object a line: {\"a\": A, \"b\": B, \"order\": ANSWER, \"reasons\": [TEXT, ...]}; "
     "with --why one object: {\"a\": A, \"b\": B, \"order\": ANSWER, \"chain\": [{\"event\": E, "
     "...}, ...]}",
     0},
    {"why", WHY, NULL, 0,
     "print a chain of events that makes one come before the other, by the fewest steps from "
     "line to line: one event a line, with its type, its line and its call site",
     0},
    {0}};
static const struct argp_child children[] = {{&labels_options, 0, NULL, 0},
                                             {&colour_options, 0, NULL, 0},
                                             {&options_common, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[SOURCE] A B\n[SOURCE] -",
    .doc = "Print how event A stands to event B: before, after, concurrent, same (one point of "
           "the order), or unknown where something that was not seen may order them.  Why, and "
           "what else may order events that are concurrent, is said on standard error, each reason "
           "once.  Events are written LINE:NUMBER.  With - pairs are read from standard input, one "
           "a line.",
    .children = children};

const struct command command_order = {.name = "order",
                                      .summary = "say how two events stand to each other",
                                      .run = run,
                                      .argp = &argp};
