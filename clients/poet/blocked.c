/* poet blocked: who waits for what, who holds it since when, and any cycle. */
#define _GNU_SOURCE
#include "clients/poet/command.h"

#include "clients/poet/json.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

struct tails {
    struct shown_tail *items; /* by line - 1 */
    uint32_t count;
    int64_t now_ns;
};

struct waiting { /* one thread that waits */
    uint32_t thread, about;
    const struct shown_event *event;
};

static bool receive(const struct command *command, struct subject *subject, struct tails *tails)
{
    struct out out = {0};
    struct in in;
    struct error error;
    unsigned type;
    int got;
    source_ask(&out, MESSAGE_TAILS);
    source_send(&subject->source, &out);
    while ((got = source_next(&subject->source, true, &type, &in, &error)) > 0) {
        if (type == MESSAGE_TAILS_END) {
            tails->now_ns = (int64_t)get_u64(&in);
            return true;
        }
        if (type != MESSAGE_TAIL)
            continue;
        tails->items = realloc(tails->items, (tails->count + 1) * sizeof *tails->items);
        if (!tails->items)
            abort();
        get_tail(&in, &tails->items[tails->count++]);
    }
    command_fail(command, "%s", error.text);
    return false;
}

/* The thread of a line waits if its last event, anywhere, is of a type that waits. */
static bool waits(const struct book *book, const struct shown_tail *tail, struct waiting *w)
{
    const struct shown_event *e = &tail->last_acted;
    const struct target_event *look = e->at.line ? book_look(book, e) : NULL;
    if (!look || !look->waits)
        return false;
    *w = (struct waiting){tail->line, e->about ? e->about : e->at.line, e};
    if (w->about == w->thread)
        w->about = 0; /* something that was not seen */
    return true;
}

static const struct shown_tail *tail_of(const struct tails *tails, uint32_t line)
{
    return line && line <= tails->count ? &tails->items[line - 1] : NULL;
}

/* Does the thread hold the line?  One that is blocked in it does, unless what it
 * waits by lets others in. */
static bool holds(const struct book *book, const struct tails *tails,
                  const struct shown_inside *inside, uint32_t line)
{
    const struct shown_tail *thread = tail_of(tails, inside->thread);
    const struct shown_event *e = thread ? &thread->last_acted : NULL;
    const struct target_event *look = e && e->at.line == line ? book_look(book, e) : NULL;
    return inside->presence != PRESENCE_BLOCKED || !look || !look->releases;
}

/* Whom a waiting thread waits for, one after the other: the holders of the object, all of which must
 * go, or, of a thread, itself.  0: no more. */
static uint32_t blocker(const struct book *book, const struct tails *tails, const struct waiting *w,
                        uint32_t *next)
{
    const struct shown_tail *about = tail_of(tails, w->about);
    if (!about)
        return 0;
    if (about->last_acted.at.line)
        return (*next)++ == 0 ? w->about : 0;
    while (*next < about->inside_count) {
        const struct shown_inside *inside = &about->inside[(*next)++];
        if (holds(book, tails, inside, w->about))
            return inside->thread;
    }
    return 0;
}

static const struct waiting *waiting_of(const struct waiting *list, size_t count, uint32_t thread)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].thread == thread)
            return &list[i];
    return NULL;
}

struct chase {
    const struct book *book;
    const struct tails *tails;
    const struct waiting *list;
    size_t count;
    uint32_t *cycle; /* threads on the way */
    bool *seen;      /* by place in the list */
};

/* Follows "waits for" from a thread, depth-first; the length of the first way to `goal`, else 0. */
static size_t chase(struct chase *c, uint32_t thread, uint32_t goal, size_t length)
{
    const struct waiting *w = waiting_of(c->list, c->count, thread);
    if (!w || c->seen[w - c->list])
        return 0;
    c->seen[w - c->list] = true;
    c->cycle[length++] = thread;
    for (uint32_t next = 0, by; (by = blocker(c->book, c->tails, w, &next)) != 0;) {
        size_t found = by == goal ? length : chase(c, by, goal, length);
        if (found)
            return found;
    }
    return 0;
}

static bool is_least(const uint32_t *cycle, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (cycle[i] < cycle[0])
            return false;
    return true;
}

struct report {
    struct subject *subject;
    const struct tails *tails;
    const struct waiting *list;
    size_t count;
    struct json_object *json; /* NULL: text */
};

static double since(const struct report *r, const struct shown_event *e)
{
    return (double)(r->tails->now_ns - e->time_ns) / 1e9;
}

static void holder_text(const struct report *r, const struct waiting *w)
{
    const struct book *book = &r->subject->source.book;
    const struct shown_tail *about = tail_of(r->tails, w->about);
    char at[48];
    for (uint32_t i = 0; about && i < about->inside_count; i++) {
        if (!holds(book, r->tails, &about->inside[i], w->about))
            continue;
        ref_print(at, sizeof at, about->inside[i].since);
        printf("    held by %s since event %s\n", book_label(book, about->inside[i].thread), at);
    }
}

static void one_text(const struct report *r, const struct waiting *w)
{
    const struct book *book = &r->subject->source.book;
    const struct target_event *look = book_look(book, w->event);
    const char *site = subject_site(r->subject, w->event);
    char at[48];
    ref_print(at, sizeof at, w->event->at);
    printf("%s %s %s%s%s\n    since %.6f s before the last event, event %s\n",
           book_label(book, w->thread), look->text, w->about ? book_label(book, w->about) : "something",
           *site ? " at " : "", site, since(r, w->event), at);
    holder_text(r, w);
}

static struct json_object *line_json(const struct report *r, uint32_t line)
{
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "line", json_object_new_int64(line));
    json_object_object_add(o, "label", json_object_new_string(book_label(&r->subject->source.book, line)));
    return o;
}

static struct json_object *one_json(const struct report *r, const struct waiting *w)
{
    struct json_object *o = json_object_new_object(), *holders = json_object_new_array();
    const struct shown_tail *about = tail_of(r->tails, w->about);
    const char *site = subject_site(r->subject, w->event);
    json_object_object_add(o, "thread", line_json(r, w->thread));
    json_object_object_add(o, "waits_for", w->about ? line_json(r, w->about) : NULL);
    json_object_object_add(o, "type", json_object_new_string(
        book_type(&r->subject->source.book, w->event->type)));
    json_object_object_add(o, "event", json_ref(w->event->at));
    json_object_object_add(o, "since_ns", json_object_new_int64(w->event->time_ns));
    json_object_object_add(o, "site", *site ? json_object_new_string(site) : NULL);
    for (uint32_t i = 0; about && i < about->inside_count; i++) {
        if (!holds(&r->subject->source.book, r->tails, &about->inside[i], w->about))
            continue;
        struct json_object *h = line_json(r, about->inside[i].thread);
        json_object_object_add(h, "since_event", json_ref(about->inside[i].since));
        json_object_array_add(holders, h);
    }
    json_object_object_add(o, "held_by", holders);
    return o;
}

static void print_cycles(const struct report *r, struct json_object *cycles)
{
    const struct book *book = &r->subject->source.book;
    uint32_t *cycle = calloc(r->count + 1, sizeof *cycle);
    bool *seen = calloc(r->count + 1, sizeof *seen);
    if (!cycle || !seen)
        abort();
    for (size_t i = 0; i < r->count; i++) {
        memset(seen, 0, r->count * sizeof *seen);
        struct chase c = {book, r->tails, r->list, r->count, cycle, seen};
        size_t n = chase(&c, r->list[i].thread, r->list[i].thread, 0);
        if (n == 0 || !is_least(cycle, n))
            continue;
        struct json_object *list = json_object_new_array();
        if (!cycles)
            printf("cycle: ");
        for (size_t k = 0; k < n; k++) {
            const struct waiting *w = waiting_of(r->list, r->count, cycle[k]);
            if (cycles)
                json_object_array_add(list, line_json(r, cycle[k]));
            else
                printf("%s waits for %s, held by ", book_label(book, cycle[k]),
                       book_label(book, w->about));
        }
        if (cycles) {
            json_object_array_add(cycles, list);
        } else {
            printf("%s\n", book_label(book, cycle[0]));
            json_object_put(list);
        }
    }
    free(cycle);
    free(seen);
}

static void print(struct report *r, bool json)
{
    if (!json) {
        if (r->count == 0)
            puts("no thread waits");
        for (size_t i = 0; i < r->count; i++)
            one_text(r, &r->list[i]);
        print_cycles(r, NULL);
        return;
    }
    struct json_object *o = json_object_new_object(), *list = json_object_new_array(),
                       *cycles = json_object_new_array();
    for (size_t i = 0; i < r->count; i++)
        json_object_array_add(list, one_json(r, &r->list[i]));
    print_cycles(r, cycles);
    json_object_object_add(o, "blocked", list);
    json_object_object_add(o, "cycles", cycles);
    json_print(o);
}

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct waiting *)a)->event->time_ns,
            y = ((const struct waiting *)b)->event->time_ns;
    return x < y ? -1 : x > y;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct subject subject;
    struct tails tails = {0};
    bool json;
    int status;
    if (!command_begin(command, argc, argv, &subject, &json, &status))
        return status;
    bool ok = receive(command, &subject, &tails);
    struct waiting *list = calloc(tails.count + 1, sizeof *list);
    size_t count = 0;
    for (uint32_t i = 0; ok && list && i < tails.count; i++)
        count += waits(&subject.source.book, &tails.items[i], &list[count]);
    if (count)
        qsort(list, count, sizeof *list, by_time);
    struct report report = {.subject = &subject, .tails = &tails, .list = list, .count = count};
    if (ok)
        print(&report, json);
    for (uint32_t i = 0; i < tails.count; i++)
        shown_tail_free(&tails.items[i]);
    free(tails.items);
    free(list);
    subject_close(&subject);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_blocked = {
    "blocked", "say who waits for what, who holds it, and any cycle",
    "blocked SOURCE [--json]\n"
    "Say which threads wait at the end of what was recorded, oldest first: for what, since when,\n"
    "called from where, who holds it, and any cycle among them.\n\n"
    "  -j, --json   as one JSON object\n",
    run};
