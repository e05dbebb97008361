/* poet blocked: who waits for what, who holds it since when, and any cycle. */
#include "clients/poet/blocked.h"
#include "clients/poet/colour.h"
#include "clients/poet/command.h"
#include "clients/poet/subject.h"

#include "clients/book/say.h"
#include "clients/poet/json.h"
#include "clients/source/waits.h"
#include "wire/found.h"
#include "wire/limits.h"

#include <json-c/json.h>
#include <stdlib.h>

static void take(void *user, const struct answer *answer) { waits_take(user, answer); }

struct report {
    struct subject *subject;
    const struct book *book;
    const struct waits *waits;
};

/* ---- as text ---- */

static void one_text(const struct report *r, const struct shown_wait *w)
{
    const char *site = subject_site(r->subject, &w->event);
    struct said said = say_wait(r->book, w);
    char at[48], held[LIMIT_TEXT_BYTES];
    ref_print(at, sizeof at, w->event.at);
    printf("%s%s%s %s %s%s%s%s%s\n    since %.6f s before the last event, event %s\n",
           colour_begin(COLOUR_THREAD), said.who, colour_end(), said.does,
           colour_begin(COLOUR_OBJECT), said.about, colour_end(), *site ? " at " : "", site,
           (double)(r->waits->now_ns - w->event.time_ns) / 1e9, at);
    for (uint32_t i = 0; i < w->holder_count; i++) {
        say_holder(held, sizeof held, r->book, &w->holders[i]);
        printf("    %s\n", held);
    }
}

static void print_text(const struct report *r)
{
    if (r->waits->count == 0)
        puts("no thread waits");
    for (size_t i = 0; i < r->waits->count; i++)
        one_text(r, &r->waits->items[i]);
    for (size_t i = 0; i < r->waits->cycle_count; i++) {
        char *said = say_cycle(r->book, &r->waits->cycles[i]);
        printf("%scycle:%s %s\n", colour_begin(COLOUR_BAD), colour_end(), said);
        free(said);
    }
}

/* ---- as JSON ---- */

static struct json_object *line_json(const struct report *r, uint32_t line)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "line", json_object_new_int64(line));
    json_object_object_add(o, "label", json_object_new_string(book_label(r->book, line)));
    return o;
}

static struct json_object *one_json(const struct report *r, const struct shown_wait *w)
{
    struct json_object *o = json_object_new_object(), *holders = json_object_new_array();
    const char *site = subject_site(r->subject, &w->event);
    json_object_object_add(o, "thread", line_json(r, w->thread));
    json_object_object_add(o, "waits_for", w->about ? line_json(r, w->about) : NULL);
    json_object_object_add(o, "type", json_object_new_string(book_type(r->book, w->event.type)));
    json_object_object_add(o, "event", json_ref(w->event.at));
    json_object_object_add(o, "since_ns", json_object_new_int64(w->event.time_ns));
    json_object_object_add(o, "site", *site ? json_object_new_string(site) : NULL);
    for (uint32_t i = 0; i < w->holder_count; i++) {
        struct ref since = w->holders[i].since;
        struct json_object *h = line_json(r, w->holders[i].thread);
        json_object_object_add(h, "since_event", since.number ? json_ref(since) : NULL);
        json_object_array_add(holders, h);
    }
    json_object_object_add(o, "held_by", holders);
    return o;
}

struct json_object *blocked_json(struct subject *subject, const struct waits *waits)
{
    struct report report = {subject, &subject->source.book, waits}, *r = &report;
    struct json_object *o = json_object_new_object(), *list = json_object_new_array(),
                       *cycles = json_object_new_array();
    for (size_t i = 0; i < r->waits->count; i++)
        json_object_array_add(list, one_json(r, &r->waits->items[i]));
    for (size_t i = 0; i < r->waits->cycle_count; i++) {
        struct json_object *cycle = json_object_new_array();
        for (uint32_t k = 0; k < r->waits->cycles[i].count; k++)
            json_object_array_add(cycle, line_json(r, r->waits->cycles[i].steps[k].thread));
        json_object_array_add(cycles, cycle);
    }
    json_object_object_add(o, "blocked", list);
    json_object_object_add(o, "cycles", cycles);
    return o;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct subject subject;
    struct waits waits = {0};
    bool json;
    int status;
    if (!subject_begin(command, argc, argv, SOURCE_NAMED_LINES, &subject, &json, &status))
        return status;
    subject_renewed(command, &subject);
    bool ok = subject_ask(command, &subject, ASK_WAITS, NULL, take, &waits);
    struct report report = {&subject, &subject.source.book, &waits};
    if (ok && json)
        json_print(blocked_json(&subject, &waits));
    else if (ok)
        print_text(&report);
    waits_free(&waits);
    subject_close(&subject);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

static const struct argp_option options[] = {{"json", 'j', NULL, 0, "as one JSON object", 0}, {0}};
static const struct argp_child children[] = {
    {&colour_options, 0, NULL, 0}, {&options_common, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = command_parse_json,
    .args_doc = "[SOURCE]",
    .doc = "Say which threads wait at the end of what was recorded, oldest first: for what, "
           "since when, called from where, who holds it, and any cycle among them.",
    .children = children};

const struct command command_blocked = {.name = "blocked",
                                        .summary =
                                            "say who waits for what, who holds it, and any cycle",
                                        .run = run,
                                        .argp = &argp};
