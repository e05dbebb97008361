#define _GNU_SOURCE
#include "clients/cli/lock_order_runs.h"

#include "base/alloc.h"
#include "base/map.h"
#include "clients/cli/command_source.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/run_findings.h"
#include "clients/schedule/lock_orders.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MOST (1u << 20) /* of a file of intended orders */

/* A lock that a thread holds. */
struct lock_holding {
    uint32_t line, lock; /* lock: number in the orders */
    char *place;         /* "f.c:10 (event 4:1)" */
};

struct lock_holder {
    struct lock_holding held[LOCKS_HELD_MOST];
    unsigned count;
    uint32_t requested; /* the line of the lock that it requested last; 0: none */
};

struct lock_order_reader {
    struct lock_orders *orders;
    struct command_source subject;
    uint32_t run;
    struct map by_thread;
    struct lock_holder *holders;
    size_t holder_count, holder_room;
};

/* ---- reading a run ---- */

static char *lock_order_name(const struct lock_order_reader *r, uint32_t line)
{
    const char *label = metadata_label(&r->subject.source.book, line);
    size_t size = strlen(label), end = size;
    while (end && isdigit((unsigned char)label[end - 1]))
        end--;
    return end && end < size && label[end - 1] == '#' ? xstrndup(label, end - 1) : xstrdup(label);
}

/* Returns whether no other thread of the run has that name. */
static bool lock_order_is_single(const struct lock_order_reader *r, const char *name)
{
    bool several;
    char *second = xasprintf("%s#2", name);
    bool single = !metadata_find_line(&r->subject.source.book, second, &several);
    free(second);
    return single;
}

static bool lock_order_is_lock(const struct lock_order_reader *r, uint32_t line)
{
    const struct target_line_type *type =
        line ? metadata_line_type(&r->subject.source.book, line) : NULL;
    return type && type->category == CATEGORY_LOCK && !type->shared;
}

static char *lock_order_place(struct lock_order_reader *r, const struct event_info *e)
{
    char at[48];
    event_id_print(at, sizeof at, e->at);
    const char *site = command_source_site(&r->subject, e);
    return xasprintf("%s%s(event %s)", site, *site ? " " : "", at);
}

/* Adds the orders of a lock that was requested, after all that the thread holds. */
static void lock_order_add_acquired(struct lock_order_reader *r, const struct lock_holder *h,
                                    uint32_t thread, const struct lock_holding *now)
{
    char *name = lock_order_name(r, thread);
    for (unsigned i = 0; i < h->count; i++) {
        const struct lock_holding *held = &h->held[i];
        char *text = xasprintf("%s acquired %s at %s, then requested %s at %s",
                               metadata_label(&r->subject.source.book, thread),
                               lock_orders_name(r->orders, held->lock), held->place,
                               lock_orders_name(r->orders, now->lock), now->place);
        struct acquisition_order order = {.held = held->lock,
                                          .requested = now->lock,
                                          .run = r->run,
                                          .thread = name,
                                          .single = lock_order_is_single(r, name),
                                          .text = text};
        for (unsigned k = 0; k < h->count; k++)
            if (k != i)
                order.outer[order.outer_count++] = h->held[k].lock;
        lock_orders_add(r->orders, &order);
        free(text);
    }
    free(name);
}

static void lock_order_acquire(struct lock_order_reader *r, struct lock_holder *h,
                               const struct event_info *e)
{
    char *name = lock_order_name(r, e->at.line);
    struct lock_holding now = {.line = e->at.line,
                               .lock = lock_orders_lock(r->orders, name),
                               .place = lock_order_place(r, e)};
    free(name);
    if (h->requested == e->at.line) /* not acquired by a call that does not wait */
        lock_order_add_acquired(r, h, e->thread, &now);
    if (h->count < LOCKS_HELD_MOST)
        h->held[h->count++] = now;
    else
        free(now.place);
}

static void lock_order_release(struct lock_holder *h, uint32_t line)
{
    for (unsigned i = h->count; i-- > 0;)
        if (h->held[i].line == line) {
            free(h->held[i].place);
            memmove(&h->held[i], &h->held[i + 1], (--h->count - i) * sizeof *h->held);
            return;
        }
}

static void lock_order_take_event(struct lock_order_reader *r, const struct event_info *e)
{
    if (e->state != EVENT_ORDERED || e->at.line & HIDDEN_LINE || !e->thread)
        return;
    struct lock_holder *h = MAP_ITEM(&r->by_thread, e->thread, 0, r->holders, r->holder_count,
                                     r->holder_room, (struct lock_holder){0});
    if (e->about && e->relation != RELATION_SYNC)
        h->requested = e->about;
    if (!event_is_of_entered_object(&r->subject.source.book, e) ||
        !lock_order_is_lock(r, e->at.line))
        return;
    const struct target_event *style = event_style(&r->subject.source.book, e);
    if (style && style->has_presence && style->presence == OCCUPANCY_OUT)
        lock_order_release(h, e->at.line);
    else if (style && style->has_presence)
        lock_order_acquire(r, h, e);
    h->requested = 0;
}

static void lock_order_receive(void *user, const struct response_chunk *answer)
{
    struct event_info e;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &e);
    if (!answer->in->error)
        lock_order_take_event(user, &e);
    event_info_free(&e);
}

static bool lock_order_read_run(const struct command *command, struct lock_orders *orders,
                                const char *trace, uint32_t run)
{
    struct lock_order_reader r = {.orders = orders, .run = run};
    if (!command_source_open(command, &r.subject, trace, SESSION_ALL_LINES, LABELS_NAME))
        return false;
    command_source_label_lines(&r.subject);
    bool read =
        command_source_request(command, &r.subject, REQUEST_DUMP, NULL, lock_order_receive, &r);
    command_source_close(&r.subject);
    for (size_t i = 0; i < r.holder_count; i++)
        while (r.holders[i].count)
            lock_order_release(&r.holders[i], r.holders[i].held[0].line);
    map_free(&r.by_thread);
    free(r.holders);
    return read;
}

/* ---- intended orders ---- */

static bool lock_order_read_intended(const struct lock_order_runs *runs, struct lock_orders *orders)
{
    char *text = xcalloc(FILE_BYTES_MOST + 1, 1);
    FILE *f = fopen(runs->intended, "re");
    size_t size = f ? fread(text, 1, FILE_BYTES_MOST, f) : 0;
    bool good = f && !ferror(f) && strlen(text) == size;
    unsigned line;
    if (!f || ferror(f))
        command_fail(runs->command, "%s: %s", runs->intended, strerror(errno));
    else if (!good)
        command_fail(runs->command, "%s: not a text file", runs->intended);
    else if (!(good = lock_orders_read(orders, text, &line)))
        command_fail(runs->command,
                     "%s:%u: a line has two or more locks, in an order that no earlier line "
                     "contradicts",
                     runs->intended, line);
    if (f)
        fclose(f);
    free(text);
    return good;
}

/* ---- output ---- */

struct lock_order_report {
    const struct lock_order_runs *runs;
    struct run_findings findings;
    bool quiet; /* the findings are printed in another form */
    unsigned number;
};

static void lock_order_report_finding(struct lock_order_report *p, const char *text,
                                      const struct acquisition_order *const *orders, unsigned count)
{
    char *whole = xstrdup(text);
    if (!p->quiet)
        printf("%u  lock-order-inversion: %s\n", ++p->number, text);
    for (unsigned i = 0; i < count; i++) {
        const char *trace = p->runs->traces[orders[i]->run];
        char *more = xasprintf("%s; %s", whole, orders[i]->text);
        free(whole);
        whole = more;
        if (!p->quiet)
            printf("  %s (%s)\n", orders[i]->text, trace);
    }
    run_findings_add(&p->findings, FINDING_LOCK_ORDER_INVERSION, FINDING_POSSIBLE, whole, "", 0);
    free(whole);
}

static void lock_order_report_cycles(struct lock_order_report *p, const struct lock_orders *orders)
{
    uint32_t count;
    struct lock_cycle *cycles = lock_orders_cycles(orders, &count);
    for (uint32_t i = 0; i < count; i++)
        lock_order_report_finding(p, "potential deadlock (cyclic lock order of several runs)",
                                  cycles[i].orders, cycles[i].count);
    free(cycles);
}

static void lock_order_report_violations(struct lock_order_report *p,
                                         const struct lock_orders *orders)
{
    uint32_t count;
    const struct acquisition_order **found = lock_orders_violations(orders, &count);
    for (uint32_t i = 0; i < count; i++) {
        char *text = xasprintf("%s: %s is to be acquired before %s", p->runs->intended,
                               lock_orders_name(orders, found[i]->requested),
                               lock_orders_name(orders, found[i]->held));
        lock_order_report_finding(p, text, &found[i], 1);
        free(text);
    }
    free(found);
}

int lock_order_runs_predict(const struct lock_order_runs *runs)
{
    struct lock_orders *orders = lock_orders_new();
    struct lock_order_report p = {.runs = runs, .quiet = finding_options_replace_text()};
    bool good = !runs->intended || lock_order_read_intended(runs, orders);
    for (unsigned i = 0; i < runs->count && good; i++)
        good = lock_order_read_run(runs->command, orders, runs->traces[i], i);
    if (good) {
        lock_order_report_cycles(&p, orders);
        lock_order_report_violations(&p, orders);
        if (!p.findings.count && !p.quiet)
            printf("no potential deadlock by the lock orders of %u run%s together\n", runs->count,
                   plural_suffix(runs->count));
    }
    lock_orders_free(orders);
    if (!good) {
        run_findings_free(&p.findings);
        return finding_options_status(EXIT_FAILED);
    }
    return finding_options_judge_all(runs->command, &p.findings, FINDINGS_OF_PREDICTION,
                                     runs->traces[0], EXIT_DONE);
}
