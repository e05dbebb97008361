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

void fate_duration(char *s, size_t size, int64_t ns)
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

void fate_since(char *s, size_t size, const struct shown_now *now, int64_t began_ns)
{
    char time[32];
    bool clock = now->now_ns >= 0;
    int64_t ns = (clock ? now->now_ns : now->last_ns) - began_ns;
    fate_duration(time, sizeof time, ns);
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

struct sentence {
    char *text;
    size_t size;
    FILE *f;
};

static void begin(struct sentence *s)
{
    s->f = memory_given(open_memstream(&s->text, &s->size), 1);
}

static char *end(struct sentence *s)
{
    if (fclose(s->f) != 0)
        memory_is_out(s->size);
    return s->text;
}

static void say_ref(struct sentence *s, struct ref at)
{
    char text[48];
    ref_print(text, sizeof text, at);
    fputs(text, s->f);
}

char *fate_step(const struct book *book, const struct shown_cycle *cycle, uint32_t i)
{
    const struct shown_step *step = &cycle->steps[i], *next = &cycle->steps[(i + 1) % cycle->count];
    struct sentence s;
    begin(&s);
    if (step->about == next->thread) {
        fprintf(s.f, "%s waits for ", book_label(book, step->thread));
        fprintf(s.f, "%s", book_label(book, next->thread));
    } else {
        fprintf(s.f, "%s waits for ", book_label(book, step->thread));
        fprintf(s.f, "%s held by ", book_label(book, step->about));
        fprintf(s.f, "%s", book_label(book, next->thread));
    }
    if (step->since.number) {
        fputs(", since ", s.f);
        say_ref(&s, step->since);
    }
    return end(&s);
}

char *fate_itself(const struct book *book, const struct shown_wait *of)
{
    static const char *const ends[FATE_COUNT] = {[FATE_OPEN] = "",
                                                 [FATE_PERHAPS] = ", and perhaps never goes on",
                                                 [FATE_NEVER] = ", and never goes on"};
    struct sentence s;
    begin(&s);
    fprintf(s.f, "%s itself waits", book_label(book, of->thread));
    if (of->about)
        fprintf(s.f, " for %s", book_label(book, of->about));
    fputs(ends[of->fate], s.f);
    return end(&s);
}

/* ---- verdicts ---- */

/* Those who wait are woken by one another: all have to come, as to a barrier. */
static bool must_all_come(const struct book *book, const struct shown_verdict *v)
{
    struct shown_event e = {.at = v->waker.line ? v->waker : v->wait, .type = v->waker_type};
    const struct target_event *look = v->waker_type ? book_look(book, &e) : NULL;
    return look && look->waits;
}

static const char *noun(const struct book *book, const struct shown_verdict *v)
{
    return v->waker_type ? book_type(book, v->waker_type) : "signal";
}

static void say_worst(const struct book *book, const struct shown_verdict *v, struct sentence *s)
{
    const char *about = book_label(book, v->about);
    if (v->fate == FATE_NEVER)
        fprintf(s->f, "nobody is left who could wake who waits for %s: this is a hang\n", about);
    else if (v->fate == FATE_PERHAPS && v->doubts & DOUBT_RUNS)
        fprintf(s->f, "nobody who ever did a %s of %s can run: perhaps a hang\n", noun(book, v),
                about);
    else if (v->fate == FATE_PERHAPS)
        fprintf(s->f, "nobody is left who could wake who waits for %s: a hang, as far as is seen\n",
                about);
}

static void say_waker(const struct book *book, const struct shown_verdict *v, struct sentence *s)
{
    const char *about = book_label(book, v->about);
    if (!v->waker.line && v->doubts & DOUBT_TYPES)
        return;
    if (!v->waker.line) {
        fprintf(s->f, "nobody ever woke anybody who waited for %s\n", about);
        return;
    }
    fprintf(s->f, "last %s of %s: ", noun(book, v), about);
    say_ref(s, v->waker);
    if (v->went_on == WENT_NOBODY)
        fputs(" woke nobody", s->f);
    char wait[48];
    ref_print(wait, sizeof wait, v->wait);
    if (v->stands == STANDS_AS(ORDER_BEFORE))
        fprintf(s->f, "; it was before the wait %s began\n", wait);
    else if (v->stands == STANDS_AS(ORDER_CONCURRENT))
        fprintf(s->f, "; concurrent with the wait %s: %s\n", wait,
                v->went_on == WENT_NOBODY ? "perhaps lost" : "perhaps it came too early");
    else if (v->stands == STANDS_AS(ORDER_AFTER))
        fprintf(s->f, "; after the wait %s began\n", wait);
    else
        fprintf(s->f, "; how it stands to the wait %s is not known: perhaps lost\n", wait);
}

static void say_able(const struct book *book, const struct shown_verdict *v, bool come,
                     struct sentence *s)
{
    static const char *const does[ABLE_COUNT] = {
        [ABLE_ENDED] = "has ended", [ABLE_WAITS] = "waits itself", [ABLE_RUNS] = "runs"};
    if (!v->able_count)
        return;
    fputs(come ? "has not come: " : "who did that: ", s->f);
    for (uint32_t i = 0; i < v->able_count && i < NAMED; i++)
        fprintf(s->f, "%s%s (%s)", i ? ", " : "", book_label(book, v->able[i].thread),
                does[v->able[i].state]);
    if (v->able_count > NAMED)
        fprintf(s->f, " and %u more", v->able_count - NAMED);
    fputc('\n', s->f);
}

static void say_doubts(const struct book *book, const struct shown_verdict *v, struct sentence *s)
{
    if (v->doubts & DOUBT_RUNS && v->run_count) {
        fputs("not certain: ", s->f);
        for (uint32_t i = 0; i < v->run_count && i < NAMED; i++)
            fprintf(s->f, "%s%s", i ? ", " : "", book_label(book, v->runs[i]));
        fputs(" did it never so far, but runs\n", s->f);
    }
    if (v->doubts & DOUBT_WAKER)
        fputs("not certain: one of them may have been woken, and has not gone on yet\n", s->f);
    if (v->doubts & DOUBT_HANDLER)
        fputs("not certain: a signal handler might do it\n", s->f);
    if (v->doubts & DOUBT_UNSEEN)
        fputs("not certain: not every thread was seen\n", s->f);
    if (v->doubts & DOUBT_TYPES)
        fputs("not certain: the description of this run does not say what wakes them\n", s->f);
    if (v->doubts & DOUBT_PAST)
        fputs("not all that was recorded was looked at\n", s->f);
}

char *fate_verdict(const struct book *book, const struct shown_verdict *v)
{
    bool lost = v->stands == STANDS_AS(ORDER_CONCURRENT) && v->went_on == WENT_NOBODY;
    bool come = must_all_come(book, v);
    if (v->fate == FATE_OPEN && (!lost || come))
        return NULL;
    struct sentence s;
    begin(&s);
    say_worst(book, v, &s);
    if (!come)
        say_waker(book, v, &s);
    if (v->fate != FATE_OPEN) {
        say_able(book, v, come, &s);
        say_doubts(book, v, &s);
    }
    return end(&s);
}

const char *fate_word(enum fate fate)
{
    static const char *const words[FATE_COUNT] = {
        [FATE_OPEN] = "open", [FATE_PERHAPS] = "perhaps", [FATE_NEVER] = "never"};
    return fate < FATE_COUNT ? words[fate] : "";
}

const char *fate_doubt(unsigned doubt)
{
    switch (doubt) {
    case DOUBT_WAKER:
        return "woken";
    case DOUBT_RUNS:
        return "runs";
    case DOUBT_HANDLER:
        return "handler";
    case DOUBT_UNSEEN:
        return "unseen";
    case DOUBT_PAST:
        return "past";
    case DOUBT_TYPES:
        return "types";
    default:
        return NULL;
    }
}
