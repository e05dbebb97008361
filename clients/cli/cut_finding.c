#define _GNU_SOURCE
#include "clients/cli/cut_finding.h"

#include "base/alloc.h"
#include "clients/cli/run_findings.h"
#include "clients/cli/table_options.h"
#include "clients/connection/result_table.h"
#include "wire/trace_header.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CUT_GROUPS (FINDINGS_OF_HANGS | FINDINGS_OF_RULES | FINDINGS_OF_PREDICTION)

struct cut_search {
    struct cut_output *output;
    struct command_source *subject;
    const struct run_finding *finding;
    unsigned groups;
    struct event_id *events; /* of the finding, then the last ones of all threads */
    uint32_t count, own; /* own: of the finding */
    bool found;
};

/* ---- the finding ---- */

static void cut_finding_list(const struct run_findings *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        printf("%u  %s  %s: %s\n", i + 1, all->items[i].identity, all->items[i].kind->name,
               all->items[i].text);
    if (!all->count)
        puts("no findings of poet blocked or poet predict");
}

/* Returns the finding of a number or an identity, NULL if there is none. */
static const struct run_finding *cut_finding_get(const struct run_findings *all, const char *word)
{
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].identity, word) == 0)
            return &all->items[i];
    bool is_number = isdigit((unsigned char)*word) && !*end;
    return is_number && number && number <= all->count ? &all->items[number - 1] : NULL;
}

/* Collects the findings, with those of orders if an identity is not among the others. */
static int cut_finding_collect(struct cut_search *s, const char *word, struct run_findings *all)
{
    int status = run_findings_collect(s->output->command, s->subject, s->groups, NULL, all);
    if (status != EXIT_DONE || strlen(word) != 16 || cut_finding_get(all, word))
        return status;
    run_findings_free(all);
    s->groups |= FINDINGS_OF_ORDERS;
    return run_findings_collect(s->output->command, s->subject, s->groups, NULL, all);
}

/* ---- attempts ---- */

/* Returns whether the file has the finding, as certain as in the run. */
static bool cut_finding_is_there(const struct cut_search *s)
{
    struct command_source cut;
    struct run_findings all = {0};
    bool there = false;
    if (!command_source_open(s->output->command, &cut, s->output->file, SESSION_ALL_LINES,
                             LABELS_NAME))
        return false;
    if (run_findings_collect(s->output->command, &cut, s->groups, NULL, &all) == EXIT_DONE)
        for (uint32_t i = 0; i < all.count; i++)
            there |= strcmp(all.items[i].identity, s->finding->identity) == 0 &&
                     all.items[i].certainty <= s->finding->certainty;
    run_findings_free(&all);
    command_source_close(&cut);
    return there;
}

/* Writes a cut, and notes whether it has the finding. Returns an exit status. */
static int cut_finding_try(struct cut_search *s, enum cut_kind kind, uint32_t count, uint32_t near)
{
    struct cut_request request = {.kind = (uint8_t)kind,
                                  .events = s->events,
                                  .event_count = count,
                                  .from_ns = INT64_MIN,
                                  .to_ns = INT64_MAX,
                                  .near = near,
                                  .keeps = (char *)(uintptr_t)s->finding->kind->name};
    int status = cut_output_write(s->output, s->subject, &request);
    table_progress_set_file(s->output->file); /* an interrupt removes it */
    s->found = status == EXIT_DONE && cut_finding_is_there(s);
    return status;
}

/* Adds the last event of each thread: a hang is certain if no other thread is left. */
static int cut_finding_add_last(struct cut_search *s)
{
    struct table_settings plain = {.command = s->output->command};
    struct result_table t = {0};
    int status =
        table_request_run(&plain, &(struct table_section){.what = "state"}, s->subject, &t);
    for (uint32_t i = 0; status == EXIT_DONE && i < t.row_count; i++)
        if (!t.rows[i].depth && t.rows[i].event.line && s->count < CUT_EVENTS_MOST)
            ARRAY_PUSH(s->events, s->count, t.rows[i].event);
    result_table_free(&t);
    return status;
}

static int cut_finding_search(struct cut_search *s, char **text)
{
    static const uint32_t within[] = {4, 16, 64, 256, 1024};
    int status = EXIT_DONE;
    for (size_t i = 0; status == EXIT_DONE && !s->found && i < 2 * sizeof within / sizeof *within;
         i++) {
        uint32_t near = within[i / 2], count = i % 2 ? s->count : s->own;
        if (!count)
            continue;
        status = cut_finding_try(s, CUT_OF_NEAR, count, near);
        if (s->found)
            *text =
                xasprintf("it has the finding: %s: %s", s->finding->kind->name, s->finding->text);
    }
    for (int whole = !s->own; status == EXIT_DONE && !s->found && whole < 2; whole++) {
        status = cut_finding_try(s, CUT_OF_PAST, whole ? s->count : s->own, 0);
        if (s->found)
            *text = xasprintf("no smaller part found with the finding: the causal past of %s is "
                              "kept: %s: %s",
                              whole ? "the ends of all threads" : "its events",
                              s->finding->kind->name, s->finding->text);
    }
    if (status == EXIT_DONE && !s->found)
        *text = xasprintf("even the causal past of the ends of all threads does not have the "
                          "finding, which depends on what cuts leave out (profiles, sleeping "
                          "threads): %s: %s",
                          s->finding->kind->name, s->finding->text);
    return status;
}

/* Searches with a file beside the one to be written, which is complete or unchanged. */
static int cut_finding_search_beside(struct cut_search *s, char **text)
{
    const char *file = s->output->file;
    char *beside = xasprintf("%s.try", file), results[PATH_MAX + TRACEHEAD_BESIDE_BYTES];
    tracehead_beside(results, sizeof results, beside, TRACEHEAD_RESULTS);
    s->output->file = beside;
    int status = cut_finding_search(s, text);
    if (status == EXIT_DONE && rename(beside, file) < 0)
        status = command_fail(s->output->command, "%s: %s", file, strerror(errno));
    table_progress_set_file(NULL);
    if (status != EXIT_DONE)
        unlink(beside);
    unlink(results); /* of what was examined */
    s->output->file = file;
    free(beside);
    return status;
}

int cut_finding_write(struct cut_output *output, struct command_source *subject,
                      const char *finding, char **text)
{
    struct run_findings all = {0};
    struct cut_search s = {.output = output, .subject = subject, .groups = CUT_GROUPS};
    int status = cut_finding_collect(&s, finding, &all);
    if (status == EXIT_DONE && strcmp(finding, "list") == 0) {
        cut_finding_list(&all);
    } else if (status == EXIT_DONE) {
        s.finding = cut_finding_get(&all, finding);
        if (!s.finding)
            status = command_fail(output->command,
                                  "--for-finding %s: no such finding of %" PRIu32
                                  "; --for-finding list prints them",
                                  finding, all.count);
    }
    for (uint32_t i = 0; s.finding && i < s.finding->event_count; i++)
        ARRAY_PUSH(s.events, s.count, s.finding->events[i]);
    s.own = s.count;
    if (status == EXIT_DONE && s.finding)
        status = cut_finding_add_last(&s);
    if (status == EXIT_DONE && s.finding)
        status = cut_finding_search_beside(&s, text);
    run_findings_free(&all);
    free(s.events);
    return status;
}
