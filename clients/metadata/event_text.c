#define _GNU_SOURCE
#include "clients/metadata/event_text.h"

#include "base/alloc.h"
#include "base/units.h"
#include "wire/annotation_text.h"
#include "wire/thread_state_names.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTNERS_SHOWN 3u

struct event_text_buffer {
    char *text;
    size_t size;
    FILE *f;
};

static void event_text_begin(struct event_text_buffer *s)
{
    s->f = xcheck(open_memstream(&s->text, &s->size), 1);
}

static char *event_text_finish(struct event_text_buffer *s)
{
    if (fclose(s->f) != 0)
        out_of_memory(s->size);
    return s->text;
}

const char *state_text(const struct event_info *e)
{
    return e->state == EVENT_PENDING         ? " (pending: partner event missing)"
           : e->state == EVENT_CONTRADICTORY ? " (inconsistent: not ordered)"
                                             : "";
}

char *event_text(const struct trace_metadata *book, const struct event_info *e)
{
    const char *tie = e->relation == RELATION_RECEIVE ? ", after"
                      : e->relation == RELATION_SEND  ? ", before"
                                                      : ", simultaneous with";
    struct event_text_buffer s;
    char at[48];
    event_text_begin(&s);
    metadata_print_event_id(book, at, sizeof at, e->at);
    fprintf(s.f, "%s: %s (%s)%s", metadata_label(book, e->at.line),
            metadata_type_name(book, e->type), at, state_text(e));
    if (e->about)
        fprintf(s.f, " about %s", metadata_label(book, e->about));
    const struct target_event *look = e->undelivered ? event_style(book, e) : NULL;
    if (look && look->undelivered)
        fprintf(s.f, ", %s", look->undelivered);
    for (uint32_t i = 0; i < e->partner_count && i < PARTNERS_SHOWN; i++) {
        metadata_print_event_id(book, at, sizeof at, e->partners[i]);
        fprintf(s.f, "%s %s %s", i ? "," : tie, at,
                e->partners[i].line & HIDDEN_LINE ? "" : metadata_label(book, e->partners[i].line));
    }
    for (uint32_t i = 0; i < e->text_count; i++)
        fprintf(s.f, " “%s”", e->texts[i]);
    return event_text_finish(&s);
}

struct event_text wait_text(const struct trace_metadata *book, const struct wait_info *wait)
{
    const struct target_event *look = event_style(book, &wait->event);
    const char *does = wait->loader ? "waits for the loader's lock"
                       : wait->end  ? "waits for the end of"
                       : look       ? look->text
                                    : metadata_type_name(book, wait->event.type);
    bool own = wait->about && wait->about == wait->thread && !wait->end;
    const char *about = !own ? metadata_expand_text(book, does, wait->about)
                        : look && look->category == CATEGORY_RECEIVE ? "its own members"
                                                                     : "its own";
    return (struct event_text){metadata_label(book, wait->thread), does, about};
}

#define NAMED 4u /* maximum number of threads named in a sentence */

/* ---- times ---- */

static void three_digits(char *s, size_t size, double value, const char *unit)
{
    snprintf(s, size, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

void duration_text(char *s, size_t size, int64_t ns)
{
    double value = (double)(ns < 0 ? -ns : ns);
    long long seconds = (long long)(value / 1e9);
    size_t unit = TIME_UNITS - 1;
    while (unit && value >= 999.5 * (double)time_units[unit].ns)
        unit--;
    if (unit == TIME_UNITS - 1)
        snprintf(s, size, "%.0f %s", value, time_units[unit].name);
    else if (seconds < 600)
        three_digits(s, size, value / (double)time_units[unit].ns, time_units[unit].name);
    else if (seconds < 36000)
        snprintf(s, size, "%lld min %lld s", seconds / 60, seconds % 60);
    else
        snprintf(s, size, "%lld h %lld min", seconds / 3600, seconds / 60 % 60);
}

bool duration_read(const char *text, int64_t *ns)
{
    char *end;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    double v = strtod_l(text, &end, plain);
    double unit_ns = (double)time_unit_named_ns(end + strspn(end, " "));
    freelocale(plain);
    if (end == text || unit_ns < 1 || fabs(v) >= 9e18 / unit_ns)
        return false;
    *ns = (int64_t)llround(v * unit_ns);
    return true;
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
        snprintf(s, size, "for %s (until the end of the trace)", time);
    else if (ns > 0)
        snprintf(s, size, "since %s before the last event (until the end of the trace)", time);
    else
        snprintf(s, size, "since the last event (until the end of the trace)");
}

/* ---- holders ---- */

/* How a thread keeps others waiting; %s is the thread. */
static const struct hold_words {
    const char *name;
    const char *before, *after; /* the text around the thread */
    const char *others; /* instead of `before` if other threads do so, too; NULL: the same */
    const char *since; /* what it did at the event */
    const char *awaited; /* what is awaited; NULL: the object */
} hold_words[HOLD_KINDS] = {
    [HOLD_LOCK] = {"lock", "held by", "", NULL, "acquired at"},
    [HOLD_READ] = {"read", "read-locked by", "", NULL, "acquired at"},
    [HOLD_WRITE] = {"write", "write-locked by", "", NULL, "acquired at"},
    [HOLD_AT_FORK] = {"fork", "held at the fork by", ", which is not in the child", NULL,
                      "acquired at"},
    [HOLD_UNIT] = {"unit", "last unit acquired by", ", which has not posted it", NULL,
                   "acquired at"},
    [HOLD_QUEUED] = {"queued", "queued behind the waiting writer", "", NULL, "requested at"},
    [HOLD_LOADER] = {"loader", "held by", "", NULL, "", "the loader's lock"},
    [HOLD_CHILD] = {"child", "that of", "", NULL, "", "the end of a child process"},
    [HOLD_TASK] = {"task", "its task run by", "", NULL, "begun at", "a future"},
    [HOLD_TEAM] = {"team", "for threads that were created before the fork, such as",
                   ", which are not in the child", NULL, "idle in the parent since"},
    [HOLD_MUTEX] = {"mutex", "held by", "", NULL, "acquired at"},
    [HOLD_DELETED] = {"deleted", "deleted by", "", NULL, "at"},
    [HOLD_MEMBER] = {"member", "at which", " has not arrived", NULL, ""},
    [HOLD_LEFT] = {"left", "at which", " will not arrive", NULL, "it left at"},
    [HOLD_READER] = {"reader", "which only", " can read", "read by", "last read at"},
    [HOLD_WRITER] = {"writer", "which only", " can write", "written by", "last written at"},
};

const char *hold_name(unsigned how) { return how < HOLD_KINDS ? hold_words[how].name : ""; }

/* Returns the lock that a thread needs besides what it waits for; "": none. */
static const char *hold_second_lock(const struct trace_metadata *book, unsigned how,
                                    struct event_id since)
{
    return how == HOLD_MUTEX ? metadata_label(book, since.line) : "";
}

void holder_text(char *s, size_t size, const struct trace_metadata *book,
                 const struct holder_info *holder, const char *site)
{
    const struct hold_words *w = &hold_words[holder->how];
    char at[48], since[80] = "";
    event_id_print(at, sizeof at, holder->since);
    if (holder->since.number)
        snprintf(since, sizeof since, *site ? " (event %s)" : "event %s", at);
    bool any = *site || *since, other = w->others && any;
    const char *lock = hold_second_lock(book, holder->how, holder->since);
    snprintf(s, size, "%s%s%s %s%s%s%s%s%s%s", lock, *lock ? ", which it needs to resume, is " : "",
             other ? w->others : w->before, metadata_label(book, holder->thread),
             other ? "" : w->after, any ? ", " : "", any ? w->since : "", any ? " " : "", site,
             since);
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

char *deadlock_text(const struct cycle_info *cycle)
{
    const char *tag = cycle->doubts ? "LIKELY DEADLOCK" : "DEADLOCK";
    return cycle->count == 1 ? xasprintf("%s: a thread waits for itself", tag)
                             : xasprintf("%s: %u threads wait for each other", tag, cycle->count);
}

/* Returns the annotation of the event with which a thread waits that begins so; NULL: none. */
static const char *hang_text_annotation(const struct wait_info *wait, const char *begin)
{
    for (uint32_t i = 0; wait && !wait->end && !wait->loader && i < wait->event.text_count; i++)
        if (strncmp(wait->event.texts[i], begin, strlen(begin)) == 0)
            return wait->event.texts[i];
    return NULL;
}

const char *destructor_text(const struct wait_info *wait)
{
    return hang_text_annotation(wait, TEXT_IN_CLOSE);
}

const char *object_state_text(const struct wait_info *wait)
{
    return hang_text_annotation(wait, TEXT_OF_OBJECT);
}

const char *awaited_text(const struct trace_metadata *book, uint32_t about, unsigned how)
{
    const char *awaited = how < HOLD_KINDS ? hold_words[how].awaited : NULL;
    return awaited ? awaited : about ? metadata_label(book, about) : "";
}

char *handler_text(const struct trace_metadata *book, const struct wait_info *wait)
{
    struct hang_text_buffer s;
    const char *text = hang_text_annotation(wait, TEXT_IN_HANDLER);
    if (!text)
        return NULL;
    hang_text_begin(&s);
    fputs(text, s.f);
    if (wait->signal.number) {
        fprintf(s.f, " (sent by %s at event ", metadata_label(book, wait->sender));
        hang_text_report_ref(&s, wait->signal);
        fputc(')', s.f);
    }
    return hang_text_finish(&s);
}

char *deadlock_edge_text(const struct trace_metadata *book, const struct cycle_info *cycle,
                         uint32_t i, const struct wait_info *wait)
{
    const struct cycle_step_info *step = &cycle->steps[i],
                                 *next = &cycle->steps[(i + 1) % cycle->count];
    const struct hold_words *w = &hold_words[step->how];
    struct hang_text_buffer s;
    bool held = step->about != next->thread;
    const char *lock = hold_second_lock(book, step->how, step->since);
    char *handler = handler_text(book, wait);
    hang_text_begin(&s);
    fprintf(s.f, "%s ", metadata_label(book, step->thread));
    fprintf(s.f, "%s ",
            wait && (w->others || *lock || step->how == HOLD_MEMBER) ? wait_text(book, wait).does
                                                                     : "waits for");
    if (held) {
        fputs(awaited_text(book, step->about, step->how), s.f);
        if (*lock)
            fprintf(s.f, " and needs %s to resume", lock);
        fprintf(s.f, "%s%s, %s ", handler ? " " : "", handler ? handler : "",
                step->only || !w->others ? w->before : w->others);
    }
    fprintf(s.f, "%s", metadata_label(book, next->thread));
    if (held && (step->only || !w->others) && *w->after)
        fputs(w->after, s.f);
    if (step->since.number) {
        fprintf(s.f, " (%s event ", held ? w->since : "since");
        hang_text_report_ref(&s, step->since);
        fputc(')', s.f);
    }
    if (held && step->thread == next->thread)
        fputs(handler                  ? " when the signal interrupted it"
              : step->how == HOLD_READ ? ": a read lock cannot be upgraded"
                                       : "",
              s.f);
    if (handler && !held)
        fprintf(s.f, ", %s", handler);
    if (destructor_text(wait))
        fprintf(s.f, ", %s", destructor_text(wait));
    free(handler);
    return hang_text_finish(&s);
}

char *abandoned_lock_text(const struct trace_metadata *book, const struct wait_info *wait)
{
    struct hang_text_buffer s;
    const struct holder_info *holder = &wait->holders[0];
    bool fork = holder->how == HOLD_AT_FORK;
    hang_text_begin(&s);
    const char *second = hold_second_lock(book, holder->how, holder->since);
    fprintf(s.f, "HANG: %s %s held by ", *second ? second : metadata_label(book, wait->about),
            fork ? "was" : "is");
    fprintf(s.f, "%s", metadata_label(book, holder->thread));
    if (fork) {
        fputs(" at the fork (event ", s.f);
        hang_text_report_ref(&s, holder->since);
        fputs("), and that thread is not in the child: its waiters will never resume\n", s.f);
    } else {
        fputs(", which has exited: its waiters will never resume\n", s.f);
    }
    return hang_text_finish(&s);
}

char *transitive_wait_text(const struct trace_metadata *book, const struct wait_info *of)
{
    static const char *const ends[OUTCOME_COUNT] = {[OUTCOME_OPEN] = "",
                                                    [OUTCOME_POSSIBLE] =
                                                        " and will likely never resume",
                                                    [OUTCOME_NEVER] = " and will never resume"};
    struct hang_text_buffer s;
    hang_text_begin(&s);
    fprintf(s.f, "%s is itself blocked", metadata_label(book, of->thread));
    if (of->about && of->about != of->thread)
        fprintf(s.f, " on %s", metadata_label(book, of->about));
    else if (of->loader)
        fputs(" on the loader's lock", s.f);
    fputs(ends[of->fate], s.f);
    return hang_text_finish(&s);
}

/* ---- uncertainty ---- */

/* name, sentence below a diagnosis; "": one that names threads, or that says what was analyzed */
static const struct uncertainty_words {
    unsigned doubt;
    const char *name, *sentence;
} uncertainty_words[] = {
    {UNCERTAIN_WAKER, "woken",
     "uncertain: a waiter may already have been woken and not resumed yet"},
    {UNCERTAIN_RUNS, "running", ""},
    {UNCERTAIN_HANDLER, "handler", "uncertain: a signal handler could wake them"},
    {UNCERTAIN_UNTRACED, "untraced", "uncertain: not all threads were traced"},
    {UNCERTAIN_PAST, "past", ""},
    {UNCERTAIN_TYPES, "types", "uncertain: the target description does not say what wakes them"},
    {UNCERTAIN_MEMORY, "memory", "uncertain: processes that are not traced may use its memory"},
    {UNCERTAIN_KERNEL, "kernel",
     "uncertain: the kernel could wake them, at the end of an asynchronous call"},
    {UNCERTAIN_NAME, "name", "uncertain: processes that are not traced could open it by its name"}};

static const struct uncertainty_words *uncertainty_find(unsigned doubt)
{
    static const struct uncertainty_words none = {0, NULL, ""};
    for (size_t i = 0; i < sizeof uncertainty_words / sizeof *uncertainty_words; i++)
        if (uncertainty_words[i].doubt == doubt)
            return &uncertainty_words[i];
    return &none;
}

const char *uncertainty_text(unsigned doubt) { return uncertainty_find(doubt)->name; }

const char *uncertainty_sentence(unsigned doubt) { return uncertainty_find(doubt)->sentence; }

/* ---- diagnoses ---- */

/* Returns whether it is an object through which processes communicate, such as a pipe. */
static bool hang_text_is_communication(const struct trace_metadata *book, uint32_t about)
{
    const struct target_line_type *kind = metadata_line_type(book, about);
    return kind && kind->everywhere && kind->category != CATEGORY_SEMAPHORE;
}

/* Returns whether the waiters wake each other, so that all have to arrive, as at a barrier. */
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
    const char *about = v->about   ? metadata_label(book, v->about)
                        : v->polls ? "descriptors"
                                   : "futexes";
    /* a thread waits on its own line for other threads, such as those that call its members */
    bool own = v->about && v->wait.line == v->about && metadata_line_is_thread(book, v->about);
    const char *waiters = own ? "" : "the waiters of ";
    bool named = v->doubts & UNCERTAIN_NAME;
    if ((v->fate == OUTCOME_NEVER || (v->fate == OUTCOME_POSSIBLE && named)) &&
        hang_text_is_communication(book, v->about))
        fprintf(s->f, "%sHANG: no %s thread can %sread from, or write to, %s\n",
                v->fate == OUTCOME_NEVER ? "" : "LIKELY ",
                v->fate == OUTCOME_NEVER ? "remaining" : "traced",
                v->fate == OUTCOME_NEVER ? "" : "still ", about);
    else if (v->polls && v->fate != OUTCOME_OPEN)
        fprintf(s->f,
                "%sHANG: no %s thread can %smake ready a descriptor that an event loop waits for\n",
                v->fate == OUTCOME_NEVER ? "" : "LIKELY ",
                v->fate == OUTCOME_NEVER ? "remaining" : "traced",
                v->fate == OUTCOME_NEVER ? "" : "still ");
    else if (v->fate == OUTCOME_NEVER)
        fprintf(s->f, "HANG: no remaining thread can wake %s%s\n", waiters, about);
    else if (v->fate == OUTCOME_POSSIBLE && v->doubts & UNCERTAIN_RUNS)
        fprintf(s->f,
                "POSSIBLE HANG: every thread that ever performed %s on %s is blocked or has "
                "exited\n",
                hang_text_signal_name(book, v), about);
    else if (v->fate == OUTCOME_POSSIBLE)
        fprintf(s->f, "LIKELY HANG: no traced thread can still wake %s%s\n", waiters, about);
    else
        fputs("POSSIBLE LOST WAKE-UP: ", s->f);
}

/* The last waker came after the wait began: did it wake another thread? */
static void hang_text_report_woken(const struct trace_metadata *book,
                                   const struct diagnosis_info *v, const char *wait,
                                   struct hang_text_buffer *s)
{
    fprintf(s->f, "; it happened after the wait began (event %s)\n", wait);
    if (v->woken_left)
        fprintf(s->f, "it woke %s only, and others wait: a broadcast wakes all\n",
                metadata_label(book, v->woken));
    if (!v->woken || v->woken_left)
        return;
    fprintf(s->f, "%s resumed after it and waits again%s\n", metadata_label(book, v->woken),
            v->woken_elsewhere ? "; others wait at another call: a signal wakes any one waiter; if "
                                 "they wait for different conditions, use broadcast or one "
                                 "condition variable for each"
                               : "");
}

static void hang_text_report_waker(const struct trace_metadata *book,
                                   const struct diagnosis_info *v, struct hang_text_buffer *s)
{
    const char *about = metadata_label(book, v->about);
    if (!v->about || (!v->waker.line && v->doubts & UNCERTAIN_TYPES))
        return;
    bool bytes = hang_text_is_communication(book, v->about);
    const struct target_line_type *kind = metadata_line_type(book, v->about);
    if (!v->waker.line) {
        if (bytes)
            fputs("no thread has done so before\n", s->f);
        else if (v->able_count)
            fprintf(s->f, "%s was signaled by its waiters only\n", about);
        else
            fprintf(s->f, "%s was never signaled%s\n", about,
                    kind && kind->category == CATEGORY_LOCK /* a condition of a monitor */
                        ? " while a thread waited; a signal without a waiter is not recorded"
                        : "");
        return;
    }
    fprintf(s->f, "last %s of %s: event ", hang_text_signal_name(book, v), about);
    hang_text_report_ref(s, v->waker);
    if (bytes) {
        fputc('\n', s->f);
        return;
    }
    if (v->went_on == WAKE_NO_THREAD)
        fputs(", no thread was woken", s->f);
    char wait[48];
    event_id_print(wait, sizeof wait, v->wait);
    if (v->waker_relation == RELATION_CODE(ORDER_BEFORE))
        fprintf(s->f, "; it happened before the wait (event %s)\n", wait);
    else if (v->waker_relation == RELATION_CODE(ORDER_CONCURRENT))
        fprintf(s->f, "; concurrent with the wait (event %s)%s\n", wait,
                v->fate == OUTCOME_OPEN        ? ""
                : v->went_on == WAKE_NO_THREAD ? ": possible lost wake-up"
                                               : ": it may have come before the wait");
    else if (v->waker_relation == RELATION_CODE(ORDER_AFTER))
        hang_text_report_woken(book, v, wait, s);
    else
        fprintf(s->f,
                "; its order relative to the wait (event %s) is unknown: possible lost wake-up\n",
                wait);
}

const char *waker_state_name(unsigned state)
{
    static const uint8_t codes[WAKER_COUNT] = {[WAKER_ENDED] = THREAD_STATE_EXITED,
                                               [WAKER_WAITS] = THREAD_STATE_BLOCKED,
                                               [WAKER_RUNS] = THREAD_STATE_RUNNING};
    return state < WAKER_COUNT ? thread_state_name(codes[state]) : "";
}

static void hang_text_report_able(const struct trace_metadata *book, const struct diagnosis_info *v,
                                  bool come, struct hang_text_buffer *s)
{
    if (!v->able_count)
        return;
    fputs(come ? "has not arrived: " : "threads that ever did so: ", s->f);
    for (uint32_t i = 0; i < v->able_count && i < NAMED; i++)
        fprintf(s->f, "%s%s (%s)", i ? ", " : "", metadata_label(book, v->able[i].thread),
                waker_state_name(v->able[i].state));
    if (v->able_count > NAMED)
        fprintf(s->f, " and %u more", v->able_count - NAMED);
    fputc('\n', s->f);
}

static void hang_text_report_doubts(const struct trace_metadata *book,
                                    const struct diagnosis_info *v, struct hang_text_buffer *s)
{
    if (v->doubts & UNCERTAIN_RUNS && v->run_count) {
        fputs("uncertain: ", s->f);
        for (uint32_t i = 0; i < v->run_count && i < NAMED; i++)
            fprintf(s->f, "%s%s", i ? ", " : "", metadata_label(book, v->runs[i]));
        fprintf(s->f, " %s still running and might do so for the first time\n",
                v->run_count == 1 ? "is" : "are");
    }
    for (unsigned bit = 1; bit; bit <<= 1)
        if (v->doubts & bit && *uncertainty_sentence(bit))
            fprintf(s->f, "%s\n", uncertainty_sentence(bit));
    if (v->doubts & UNCERTAIN_PAST)
        fputs("only part of the trace was analyzed\n", s->f);
}

/* Returns what is known of a pool: all threads that take work there are blocked elsewhere. */
static char *hang_text_pool(const struct trace_metadata *book, const struct diagnosis_info *v)
{
    struct hang_text_buffer s;
    hang_text_begin(&s);
    fprintf(s.f, "POSSIBLE STARVATION: %s was last signaled at event ",
            metadata_label(book, v->about));
    hang_text_report_ref(&s, v->waker);
    if (v->able_count == 1)
        fputs(", but the only thread that ever waited there is blocked elsewhere: ", s.f);
    else
        fprintf(s.f, ", but all %u threads that ever waited there are blocked elsewhere: ",
                v->able_count);
    for (uint32_t i = 0; i < v->able_count && i < NAMED; i++)
        fprintf(s.f, "%s%s", i ? ", " : "", metadata_label(book, v->able[i].thread));
    if (v->able_count > NAMED)
        fprintf(s.f, " and %u more", v->able_count - NAMED);
    fputc('\n', s.f);
    return hang_text_finish(&s);
}

char *diagnosis_text(const struct trace_metadata *book, const struct diagnosis_info *v)
{
    if (v->pool)
        return hang_text_pool(book, v);
    bool lost =
        v->waker_relation == RELATION_CODE(ORDER_CONCURRENT) && v->went_on == WAKE_NO_THREAD;
    bool come = hang_text_needs_all_participants(book, v);
    if (v->fate == OUTCOME_OPEN && (!lost || come || hang_text_is_communication(book, v->about)))
        return NULL;
    struct hang_text_buffer s;
    hang_text_begin(&s);
    hang_text_report_worst(book, v, &s);
    if (!come)
        hang_text_report_waker(book, v, &s);
    else if (v->participants)
        fprintf(s.f, "arrived: %u of %u threads\n", v->arrived, v->participants);
    if (v->fate != OUTCOME_OPEN) {
        hang_text_report_able(book, v, come, &s);
        hang_text_report_doubts(book, v, &s);
    }
    return hang_text_finish(&s);
}

const char *outcome_name(enum wait_outcome fate)
{
    static const char *const words[OUTCOME_COUNT] = {[OUTCOME_OPEN] = "may_resume",
                                                     [OUTCOME_POSSIBLE] = "likely_never",
                                                     [OUTCOME_NEVER] = "never"};
    return fate < OUTCOME_COUNT ? words[fate] : "";
}
