#define _GNU_SOURCE
#include "clients/book/fate.h"

#include "clients/book/say.h"
#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMED 4u /* threads in a sentence */

/* ---- times ---- */

static void three_digits(char *s, size_t size, double value, const char *unit)
{
    snprintf(s, size, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

void duration_text(char *s, size_t size, int64_t ns)
{
    double value = (double)(ns < 0 ? -ns : ns);
    long long seconds = (long long)(value / 1e9);
    if (value < 1000)
        snprintf(s, size, "%.0f ns", value);
    else if (value < 999500)
        three_digits(s, size, value / 1e3, "µs");
    else if (value < 999.5e6)
        three_digits(s, size, value / 1e6, "ms");
    else if (seconds < 600)
        three_digits(s, size, value / 1e9, "s");
    else if (seconds < 36000)
        snprintf(s, size, "%lld min %lld s", seconds / 60, seconds % 60);
    else
        snprintf(s, size, "%lld h %lld min", seconds / 3600, seconds / 60 % 60);
}

void wait_duration_text(char *s, size_t size, const struct trace_time_info *now, int64_t began_ns)
{
    char time[32];
    bool clock = now->now_ns >= 0;
    int64_t ns = (clock ? now->now_ns : now->last_ns) - began_ns;
    duration_text(time, sizeof time, ns);
    if (now->live && clock)
        snprintf(s, size, "for %s", time);
    else if (clock)
        snprintf(s, size, "until the end, for %s", time);
    else if (ns > 0)
        snprintf(s, size, "until the end, since %s before the last event", time);
    else
        snprintf(s, size, "until the end, since the last event");
}

/* ---- sentences ---- */

struct hang_text_buffer {
    char *text;
    size_t size;
    FILE *f;
};

static void hang_text_begin(struct hang_text_buffer *s)
{
    s->f = xcheck(open_memstream(&s->text, &s->size), 1);
}

static char *hang_text_finish(struct hang_text_buffer *s)
{
    if (fclose(s->f) != 0)
        out_of_memory(s->size);
    return s->text;
}

static void hang_text_report_ref(struct hang_text_buffer *s, struct event_id at)
{
    char text[48];
    event_id_print(text, sizeof text, at);
    fputs(text, s->f);
}

char *deadlock_edge_text(const struct trace_metadata *book, const struct cycle_info *cycle,
                         uint32_t i)
{
    const struct cycle_step_info *step = &cycle->steps[i],
                                 *next = &cycle->steps[(i + 1) % cycle->count];
    struct hang_text_buffer s;
    hang_text_begin(&s);
    if (step->about == next->thread) {
        fprintf(s.f, "%s waits for ", metadata_label(book, step->thread));
        fprintf(s.f, "%s", metadata_label(book, next->thread));
    } else {
        fprintf(s.f, "%s waits for ", metadata_label(book, step->thread));
        fprintf(s.f, "%s held by ", metadata_label(book, step->about));
        fprintf(s.f, "%s", metadata_label(book, next->thread));
    }
    if (step->since.number) {
        fputs(", since ", s.f);
        hang_text_report_ref(&s, step->since);
    }
    return hang_text_finish(&s);
}

char *transitive_wait_text(const struct trace_metadata *book, const struct wait_info *of)
{
    static const char *const ends[OUTCOME_COUNT] = {[OUTCOME_OPEN] = "",
                                                    [OUTCOME_POSSIBLE] =
                                                        ", and perhaps never goes on",
                                                    [OUTCOME_NEVER] = ", and never goes on"};
    struct hang_text_buffer s;
    hang_text_begin(&s);
    fprintf(s.f, "%s itself waits", metadata_label(book, of->thread));
    if (of->about)
        fprintf(s.f, " for %s", metadata_label(book, of->about));
    fputs(ends[of->fate], s.f);
    return hang_text_finish(&s);
}

/* ---- verdicts ---- */

/* Those who wait are woken by one another: all have to come, as to a barrier. */
static bool hang_text_needs_all_participants(const struct trace_metadata *book,
                                             const struct diagnosis_info *v)
{
    struct event_info e = {.at = v->waker.line ? v->waker : v->wait, .type = v->waker_type};
    const struct target_event *look = v->waker_type ? event_style(book, &e) : NULL;
    return look && look->waits;
}

static const char *hang_text_signal_name(const struct trace_metadata *book,
                                         const struct diagnosis_info *v)
{
    return v->waker_type ? metadata_type_name(book, v->waker_type) : "signal";
}

static void hang_text_report_worst(const struct trace_metadata *book,
                                   const struct diagnosis_info *v, struct hang_text_buffer *s)
{
    const char *about = metadata_label(book, v->about);
    if (v->fate == OUTCOME_NEVER)
        fprintf(s->f, "nobody is left who could wake who waits for %s: this is a hang\n", about);
    else if (v->fate == OUTCOME_POSSIBLE && v->doubts & UNCERTAIN_RUNS)
        fprintf(s->f, "nobody who ever did a %s of %s can run: perhaps a hang\n",
                hang_text_signal_name(book, v), about);
    else if (v->fate == OUTCOME_POSSIBLE)
        fprintf(s->f, "nobody is left who could wake who waits for %s: a hang, as far as is seen\n",
                about);
}

static void hang_text_report_waker(const struct trace_metadata *book,
                                   const struct diagnosis_info *v, struct hang_text_buffer *s)
{
    const char *about = metadata_label(book, v->about);
    if (!v->waker.line && v->doubts & UNCERTAIN_TYPES)
        return;
    if (!v->waker.line) {
        fprintf(s->f, "nobody ever woke anybody who waited for %s\n", about);
        return;
    }
    fprintf(s->f, "last %s of %s: ", hang_text_signal_name(book, v), about);
    hang_text_report_ref(s, v->waker);
    if (v->went_on == WAKE_NO_THREAD)
        fputs(" woke nobody", s->f);
    char wait[48];
    event_id_print(wait, sizeof wait, v->wait);
    if (v->stands == RELATION_CODE(ORDER_BEFORE))
        fprintf(s->f, "; it was before the wait %s began\n", wait);
    else if (v->stands == RELATION_CODE(ORDER_CONCURRENT))
        fprintf(s->f, "; concurrent with the wait %s: %s\n", wait,
                v->went_on == WAKE_NO_THREAD ? "perhaps lost" : "perhaps it came too early");
    else if (v->stands == RELATION_CODE(ORDER_AFTER))
        fprintf(s->f, "; after the wait %s began\n", wait);
    else
        fprintf(s->f, "; how it stands to the wait %s is not known: perhaps lost\n", wait);
}

static void hang_text_report_able(const struct trace_metadata *book, const struct diagnosis_info *v,
                                  bool come, struct hang_text_buffer *s)
{
    static const char *const does[WAKER_COUNT] = {
        [WAKER_ENDED] = "has ended", [WAKER_WAITS] = "waits itself", [WAKER_RUNS] = "runs"};
    if (!v->able_count)
        return;
    fputs(come ? "has not come: " : "who did that: ", s->f);
    for (uint32_t i = 0; i < v->able_count && i < NAMED; i++)
        fprintf(s->f, "%s%s (%s)", i ? ", " : "", metadata_label(book, v->able[i].thread),
                does[v->able[i].state]);
    if (v->able_count > NAMED)
        fprintf(s->f, " and %u more", v->able_count - NAMED);
    fputc('\n', s->f);
}

static void hang_text_report_doubts(const struct trace_metadata *book,
                                    const struct diagnosis_info *v, struct hang_text_buffer *s)
{
    if (v->doubts & UNCERTAIN_RUNS && v->run_count) {
        fputs("not certain: ", s->f);
        for (uint32_t i = 0; i < v->run_count && i < NAMED; i++)
            fprintf(s->f, "%s%s", i ? ", " : "", metadata_label(book, v->runs[i]));
        fputs(" did it never so far, but runs\n", s->f);
    }
    if (v->doubts & UNCERTAIN_WAKER)
        fputs("not certain: one of them may have been woken, and has not gone on yet\n", s->f);
    if (v->doubts & UNCERTAIN_HANDLER)
        fputs("not certain: a signal handler might do it\n", s->f);
    if (v->doubts & UNCERTAIN_UNTRACED)
        fputs("not certain: not every thread was seen\n", s->f);
    if (v->doubts & UNCERTAIN_TYPES)
        fputs("not certain: the description of this run does not say what wakes them\n", s->f);
    if (v->doubts & UNCERTAIN_PAST)
        fputs("not all that was recorded was looked at\n", s->f);
}

char *diagnosis_text(const struct trace_metadata *book, const struct diagnosis_info *v)
{
    bool lost = v->stands == RELATION_CODE(ORDER_CONCURRENT) && v->went_on == WAKE_NO_THREAD;
    bool come = hang_text_needs_all_participants(book, v);
    if (v->fate == OUTCOME_OPEN && (!lost || come))
        return NULL;
    struct hang_text_buffer s;
    hang_text_begin(&s);
    hang_text_report_worst(book, v, &s);
    if (!come)
        hang_text_report_waker(book, v, &s);
    if (v->fate != OUTCOME_OPEN) {
        hang_text_report_able(book, v, come, &s);
        hang_text_report_doubts(book, v, &s);
    }
    return hang_text_finish(&s);
}

const char *outcome_name(enum wait_outcome fate)
{
    static const char *const words[OUTCOME_COUNT] = {
        [OUTCOME_OPEN] = "open", [OUTCOME_POSSIBLE] = "perhaps", [OUTCOME_NEVER] = "never"};
    return fate < OUTCOME_COUNT ? words[fate] : "";
}

const char *uncertainty_text(unsigned doubt)
{
    switch (doubt) {
    case UNCERTAIN_WAKER:
        return "woken";
    case UNCERTAIN_RUNS:
        return "runs";
    case UNCERTAIN_HANDLER:
        return "handler";
    case UNCERTAIN_UNTRACED:
        return "unseen";
    case UNCERTAIN_PAST:
        return "past";
    case UNCERTAIN_TYPES:
        return "types";
    default:
        return NULL;
    }
}
