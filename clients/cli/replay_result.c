#define _GNU_SOURCE
#include "clients/cli/replay_result.h"

#include "clients/cli/command.h"
#include "wire/recorded_input.h"

#include <stdlib.h>
#include <sys/wait.h>

static const char *replay_result_line_label(const struct replay_run *r, uint32_t line)
{
    return line && line <= r->script->line_count ? metadata_label(&r->subject.source.book, line)
                                                 : "another line";
}

/* Prints "enter on M:m (event 4:12, two.c:5)". */
static void replay_result_describe_event(struct replay_run *r, const struct event_info *e, FILE *f)
{
    const struct trace_metadata *book = &r->subject.source.book;
    char at[48];
    event_id_print(at, sizeof at, e->at);
    const char *site = command_source_site(&r->subject, e);
    fprintf(f, "%s on %s (event %s%s%s)", metadata_type_name(book, e->type),
            replay_result_line_label(r, e->about ? e->about : e->at.line), at, *site ? ", " : "",
            site);
}

/* Describes a divergence in which a thread received another event than the recorded one. */
static void replay_result_describe_received(struct replay_run *r, FILE *f)
{
    const struct schedule_end *end = &r->script->end;
    const char *all = (const char *)r->script;
    const struct schedule_line *lines = (const void *)(all + r->script->lines_at);
    const struct schedule_event *was = (const void *)(all + r->script->events_at);
    fprintf(f, "%s received event %u of %s", replay_result_line_label(r, end->thread), end->number,
            replay_result_line_label(r, end->line));
    if (end->thread <= r->script->line_count && end->event < lines[end->thread].count) {
        was += lines[end->thread].first + end->event;
        fprintf(f, ", recorded was event %u of %s", was->after_number,
                replay_result_line_label(r, was->after_line));
    }
    fputs(", for ", f);
}

static void replay_result_describe_divergence(struct replay_run *r, FILE *f)
{
    const struct schedule_end *end = &r->script->end;
    const char *label = replay_result_line_label(r, end->thread);
    if (end->why == SCHEDULE_END_OTHER_EVENT)
        fprintf(f, "%s performed %s on %s, recorded was ", label, end->did,
                replay_result_line_label(r, end->line));
    else if (end->why == SCHEDULE_END_INPUT)
        fprintf(f, "%s called %s (%u), recorded was %s (%u), before ", label, end->did, end->by,
                recorded_input_name(end->line), end->number);
    else if (end->why == SCHEDULE_END_FOREIGN_THREAD)
        fprintf(f, "%s reached ", label);
    else if (end->why == SCHEDULE_END_RECEIVED)
        replay_result_describe_received(r, f);
    else
        fprintf(f, "%s is waiting for event %u on %s before ", label, end->number,
                replay_result_line_label(r, end->line));
}

static void replay_result_describe_end(const struct replay_run *r, FILE *f)
{
    const struct schedule_end *end = &r->script->end;
    const char *by = end->by ? replay_result_line_label(r, end->by) : "an unknown thread";
    if (end->why == SCHEDULE_END_NO_WAKER)
        fprintf(f, "; %s should perform it, but is blocked, too", by);
    else if (end->why == SCHEDULE_END_TIMEOUT)
        fprintf(f, "; %s should perform it but has not reached it", by);
    else if (end->why == SCHEDULE_END_FOREIGN_THREAD)
        fprintf(f, " as number %u on %s: a thread that is not in the trace was there first",
                end->number, replay_result_line_label(r, end->line));
}

static void replay_result_describe_exit(struct replay_run *r, FILE *f)
{
    const struct schedule_end *end = &r->script->end;
    struct event_info was;
    replay_result_describe_divergence(r, f);
    if (schedule_builder_event_at(r->plan, end->thread, end->event, &was))
        replay_result_describe_event(r, &was, f);
    else
        fputs("no further event", f);
    replay_result_describe_end(r, f);
}

/* Describes how far the replay got, and how it ended. */
static void replay_result_describe(struct replay_run *r, const struct replay_result *o,
                                   uint64_t done, FILE *f)
{
    unsigned long long all = r->script->event_count;
    if (o->left) {
        fputs("divergence: ", f);
        replay_result_describe_exit(r, f);
        fputs("; ", f);
    } else if (r->led) {
        fprintf(f, "%s: ",
                o->good ? "order swapped" : "order not swapped: the other event did not occur");
    } else if (done < all) {
        fputs("ended early: ", f);
    } else {
        fprintf(f, "no divergence in %llu event%s", all, plural_suffix(all));
        if (o->more)
            fprintf(f, " (%llu additional record%s)", (unsigned long long)o->more,
                    plural_suffix(o->more));
        return;
    }
    fprintf(f, "%llu of %llu events were replayed", (unsigned long long)done, all);
}

void replay_result_make(struct replay_result *o, struct replay_run *r, uint64_t done, int status)
{
    struct event_info was;
    *o = (struct replay_result){.left = atomic_load(&r->script->state) == SCHEDULE_LEFT,
                                .more = r->led ? 0 : atomic_load(&r->script->more)};
    o->good =
        !o->left && (r->led ? hold_points_order_occurred(r->led) : done >= r->script->event_count);
    if (o->left &&
        schedule_builder_event_at(r->plan, r->script->end.thread, r->script->end.event, &was))
        o->at = was.at;
    size_t size = 0;
    FILE *f = open_memstream(&o->text, &size);
    command_source_label_lines(&r->subject);
    replay_result_describe(r, o, done, f);
    if (WIFSIGNALED(status))
        fprintf(f, "; the program was killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fprintf(f, "; the program's exit status is %d", WEXITSTATUS(status));
    fclose(f);
}

void replay_result_free(struct replay_result *o) { free(o->text); }
