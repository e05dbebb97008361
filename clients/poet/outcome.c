#define _GNU_SOURCE
#include "clients/poet/outcome.h"

#include "clients/poet/command.h"
#include "wire/input.h"

#include <stdlib.h>
#include <sys/wait.h>

static const char *label(const struct replaying *r, uint32_t line)
{
    return line && line <= r->script->line_count ? book_label(&r->subject.source.book, line)
                                                 : "another line";
}

/* "enter of M:m, 4:12, at two.c:5" */
static void say_event(struct replaying *r, const struct shown_event *e, FILE *f)
{
    const struct book *book = &r->subject.source.book;
    char at[48];
    ref_print(at, sizeof at, e->at);
    const char *site = subject_site(&r->subject, e);
    fprintf(f, "%s of %s (%s%s%s)", book_type(book, e->type),
            label(r, e->about ? e->about : e->at.line), at, *site ? ", " : "", site);
}

/* Where something else was taken up. */
static void say_received(struct replaying *r, FILE *f)
{
    const struct script_end *end = &r->script->end;
    const char *all = (const char *)r->script;
    const struct script_line *lines = (const void *)(all + r->script->lines_at);
    const struct script_event *was = (const void *)(all + r->script->events_at);
    fprintf(f, "%s took up event %u of %s", label(r, end->thread), end->number,
            label(r, end->line));
    if (end->thread <= r->script->line_count && end->event < lines[end->thread].count) {
        was += lines[end->thread].first + end->event;
        fprintf(f, ", where it took up event %u of %s", was->after_number,
                label(r, was->after_line));
    }
    fputs(", for ", f);
}

static void say_did(struct replaying *r, FILE *f)
{
    const struct script_end *end = &r->script->end;
    const char *who = label(r, end->thread);
    if (end->why == SCRIPT_OTHER)
        fprintf(f, "%s did %s of %s, where it did ", who, end->did, label(r, end->line));
    else if (end->why == SCRIPT_INPUT)
        fprintf(f, "%s called %s (%u), where it called %s (%u), before ", who, end->did, end->by,
                input_name(end->line), end->number);
    else if (end->why == SCRIPT_STRANGER)
        fprintf(f, "%s came to ", who);
    else if (end->why == SCRIPT_RECEIVED)
        say_received(r, f);
    else
        fprintf(f, "%s waits until %s comes to %u for ", who, label(r, end->line), end->number);
}

static void say_why(const struct replaying *r, FILE *f)
{
    const struct script_end *end = &r->script->end;
    const char *by = end->by ? label(r, end->by) : "nobody";
    if (end->why == SCRIPT_NOBODY)
        fprintf(f, "; %s is to do that, which waits, too", by);
    else if (end->why == SCRIPT_IMPATIENT)
        fprintf(f, "; %s is to do that and does not come to it", by);
    else if (end->why == SCRIPT_STRANGER)
        fprintf(f, " as number %u of %s: somebody was there before who has no part in the trace",
                end->number, label(r, end->line));
}

static void say_end(struct replaying *r, FILE *f)
{
    const struct script_end *end = &r->script->end;
    struct shown_event was;
    say_did(r, f);
    if (plan_act(r->plan, end->thread, end->event, &was))
        say_event(r, &was, f);
    else
        fputs("nothing more", f);
    say_why(r, f);
}

/* How far it came, and how it was left. */
static void say_far(struct replaying *r, const struct outcome *o, uint64_t done, FILE *f)
{
    unsigned long long all = r->script->event_count;
    if (o->left) {
        fputs("differs: ", f);
        say_end(r, f);
        fputs("; ", f);
    } else if (r->led) {
        fprintf(f, "%s: ",
                o->good ? "flipped: the other came first" : "not flipped: the other did not come");
    } else if (done < all) {
        fputs("ended early: ", f);
    } else {
        fprintf(f, "the same: %llu event%s", all, plural(all));
        if (o->more)
            fprintf(f, ", and %llu record%s more than it has", (unsigned long long)o->more,
                    plural(o->more));
        return;
    }
    fprintf(f, "%llu of %llu events were repeated", (unsigned long long)done, all);
}

void outcome_make(struct outcome *o, struct replaying *r, uint64_t done, int status)
{
    struct shown_event was;
    *o = (struct outcome){.left = atomic_load(&r->script->state) == SCRIPT_ENDED,
                          .more = r->led ? 0 : atomic_load(&r->script->more)};
    o->good = !o->left && (r->led ? steering_happened(r->led) : done >= r->script->event_count);
    if (o->left && plan_act(r->plan, r->script->end.thread, r->script->end.event, &was))
        o->at = was.at;
    size_t size = 0;
    FILE *f = open_memstream(&o->text, &size);
    subject_label(&r->subject);
    say_far(r, o, done, f);
    if (WIFSIGNALED(status))
        fprintf(f, "; the program was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fprintf(f, "; the program's status is %d", WEXITSTATUS(status));
    fclose(f);
}

void outcome_free(struct outcome *o) { free(o->text); }
