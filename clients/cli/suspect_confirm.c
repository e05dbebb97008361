#define _GNU_SOURCE
#include "clients/cli/suspect_confirm.h"

#include "base/alloc.h"
#include "base/map.h"
#include "clients/cli/command_source.h"
#include "clients/cli/confirm.h"
#include "clients/cli/hold_points.h"
#include "clients/schedule/fisher_test.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS_WANTED 10u /* in which the order occurred */
#define RUNS_MOST 20u
#define TIMEOUT_S 30u
#define CHANCE_MOST 0.01
#define EXIT_TROUBLE 2

/* Where an event of the example was recorded. */
struct suspect_site {
    uint32_t type, process, thread;
    uint64_t address;
    bool found;
    bool waits; /* its thread waits then, until its next event */
};

struct suspect_sites {
    const struct suspect_confirmation *of;
    struct command_source subject;
    struct suspect_site events[3]; /* first, middle, last */
    /* where the last event's thread acquired the lock in which it is: it is held there, outside */
    struct suspect_site entry;
    struct map entries; /* where a thread last acquired a lock, 1 + its index in `acquired` */
    struct suspect_site *acquired;
    size_t acquired_count, acquired_room;
};

/* ---- where ---- */

static struct suspect_site suspect_site_of(const struct suspect_sites *s,
                                           const struct event_info *e)
{
    const struct target_event *style = event_style(&s->subject.source.book, e);
    return (struct suspect_site){.type = e->type,
                                 .process = e->process,
                                 .thread = e->thread,
                                 .address = e->site,
                                 .found = e->site != 0,
                                 .waits = style && style->waits};
}

static void suspect_sites_receive(void *user, const struct response_chunk *answer)
{
    struct suspect_sites *s = user;
    const struct event_id *wanted = s->of->item->events;
    struct event_info e;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &e);
    for (unsigned i = 0; i < 3 && !answer->in->error; i++)
        if (wanted[i].line && event_id_equal(e.at, wanted[i])) {
            s->events[i] = suspect_site_of(s, &e);
            uintptr_t entry = (uintptr_t)map_get(&s->entries, e.thread, e.at.line);
            if (i == 2 && e.at.line != e.thread && entry)
                s->entry = s->acquired[entry - 1];
        }
    if (!answer->in->error && e.relation == RELATION_SYNC && e.partner_count == 1 &&
        e.at.line == e.thread) /* from outside of all locks */
        *MAP_ITEM(&s->entries, e.thread, e.partners[0].line, s->acquired, s->acquired_count,
                  s->acquired_room, (struct suspect_site){0}) = suspect_site_of(s, &e);
    event_info_free(&e);
}

/* ---- hold points ---- */

static bool suspect_add_point(const struct suspect_sites *s, struct schedule_control *head,
                              const struct suspect_site *site, enum hold_until until,
                              uint32_t others)
{
    struct hold_point point = {.until = until, .others = others, .count = 1};
    const struct trace_metadata *book = &s->subject.source.book;
    if (until != HOLD_UNTIL_NOT_HELD)
        point.most = 1;
    if (!site->found ||
        !hold_points_point(&point, book, (struct table_place){site->process, site->address},
                           metadata_type_name(book, site->type)))
        return false;
    head->points[head->point_count++] = point;
    return true;
}

/* The last event's thread is held until the one that came too early, by another thread, was done.
 * Returns NULL, or why the order cannot be made. */
static const char *suspect_make_points(const struct suspect_sites *s, struct schedule_control *head)
{
    const struct order_predicate *item = s->of->item;
    bool between = item->kind == PREDICATE_BETWEEN;
    const struct suspect_site *early = &s->events[between ? 1 : 0],
                              *late = s->entry.found ? &s->entry : &s->events[2];
    *head = hold_points_unresolved();
    if (item->kind > PREDICATE_MISSING)
        return "it is a number, not an order";
    if (item->kind == PREDICATE_MISSING)
        return "one of its events does not occur";
    if (early->thread == s->events[2].thread)
        return "both events are of one thread";
    if (between && s->events[0].waits)
        return "it would have to prolong a wait";
    if (!suspect_add_point(s, head, early, HOLD_UNTIL_NOT_HELD, 0) ||
        !suspect_add_point(s, head, late, between ? HOLD_UNTIL_DONE_SINCE_HELD : HOLD_UNTIL_DONE,
                           1))
        return "an event has no call site";
    return NULL;
}

/* ---- runs ---- */

struct suspect_series {
    unsigned runs, occurred, failed;
};

static bool suspect_run_series(const struct suspect_confirmation *c, const struct attempt *trial,
                               const struct schedule_control *head, struct schedule_control *led,
                               struct suspect_series *series)
{
    while (series->runs < RUNS_MOST && series->occurred < RUNS_WANTED) {
        struct attempt_result end;
        memcpy(led, head, sizeof *led);
        bool ran = attempt_run(trial, &end);
        bool occurred = ran && hold_points_order_occurred(led);
        series->runs++;
        series->occurred += occurred;
        series->failed += occurred && (end.hangs || end.slow || end.status != 0);
        attempt_end_free(&end);
        if (!ran)
            return false;
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r%s: confirming %u: run %u\033[K", "poet suspect", c->number,
                    series->runs);
    }
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return true;
}

static int suspect_print_series(const struct suspect_confirmation *c,
                                const struct suspect_series *series)
{
    double chance = fisher_test_probability(series->failed, series->occurred, c->failed, c->runs);
    if (!series->occurred) {
        printf("%u: the order did not occur in %u runs under schedule control\n", c->number,
               series->runs);
        return EXIT_FAILED;
    }
    printf("%u: with this order, %u of %u runs failed; of the recorded runs, %u of %u: %s "
           "(probability by chance: %.2g)\n",
           c->number, series->failed, series->occurred, c->failed, c->runs,
           chance <= CHANCE_MOST ? "confirmed" : "not confirmed", chance);
    return chance <= CHANCE_MOST ? EXIT_DONE : EXIT_FAILED;
}

static int suspect_run_program(const struct suspect_confirmation *c, const struct suspect_sites *s,
                               const struct schedule_control *head, char **words)
{
    struct preload_check loadable;
    struct schedule_control *led;
    struct suspect_series series = {0};
    const struct target_hang any = {0};
    char why[256], file[400], output[PATH_MAX];
    bool found;
    if (!preload_check_program(words[0], &loadable, &found, why, sizeof why) && !loadable.traced) {
        command_fail(c->command, "%s: %s", words[0], why);
        return EXIT_TROUBLE;
    }
    rerun_output_name(output, sizeof output, c->trace, "confirmed");
    if (!rerun_may_run(c->command, c->trace, words, false) ||
        !hold_points_file(c->command, file, sizeof file, &led))
        return EXIT_TROUBLE;
    variables_restore(c->command, &s->subject.source.book, false);
    setenv("POET_SCHEDULE_CONTROL", file, 1);
    unsetenv("POET_PERTURB");
    const struct attempt trial = {.command = c->command,
                                  .loadable = &loadable,
                                  .words = words,
                                  .again = {.output = output},
                                  .timeout_s = TIMEOUT_S,
                                  .aim = &any};
    bool ran = suspect_run_series(c, &trial, head, led, &series);
    unlink(file);
    return ran ? suspect_print_series(c, &series) : EXIT_TROUBLE;
}

int suspect_confirm(const struct suspect_confirmation *c)
{
    struct suspect_sites s = {.of = c};
    struct schedule_control head;
    int status = EXIT_TROUBLE;
    if (!command_source_open(c->command, &s.subject, c->trace, SESSION_ALL_LINES, LABELS_NAME))
        return status;
    char **words = rerun_arguments(&s.subject.source.book);
    if (!words)
        command_fail(c->command, "%s does not record its complete command line", c->trace);
    else if (command_source_request(c->command, &s.subject, REQUEST_DUMP, NULL,
                                    suspect_sites_receive, &s)) {
        const char *why = suspect_make_points(&s, &head);
        if (why)
            printf("%u: cannot be made to happen: %s\n", c->number, why);
        status = why ? EXIT_FAILED : suspect_run_program(c, &s, &head, words);
    }
    free(words);
    map_free(&s.entries);
    free(s.acquired);
    command_source_close(&s.subject);
    return status;
}
