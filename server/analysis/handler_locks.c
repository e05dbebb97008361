/* Locks that a signal handler requests and that the thread which it interrupts can hold: the thread
 * waits for itself then.
 *
 * A critical section counts if the thread does not block the signal in it, and if the signal can
 * arrive in it: it was sent by another thread and the section need not have ended before, or it
 * arrived both before and after the section. Signals that a thread causes itself arrive at a
 * certain place, and locks that the thread acquires recursively do not make it wait. */
#include "base/alloc.h"
#include "base/map.h"
#include "server/analysis/findings.h"

#include <stdlib.h>
#include <string.h>

#define HANDLER_SIGNALS 64u
#define HANDLER_HELD 16u /* maximum number of held locks that are examined */
#define HANDLER_NESTED 8u
#define HANDLER_SECTIONS 8u /* sections that are kept of a thread and call site */
#define HANDLER_RUNS 10000u /* maximum number of runs kept */

struct handler_run {
    uint32_t thread, lock, place, signal; /* thread: index; signal: index of its name */
    bool shared, ended;
    uint64_t begin, position; /* of the handler, of its first request */
    struct sync_op sent; /* thread 0: not known */
};

struct handler_section {
    uint32_t thread, lock, times; /* times: in the first one of a call site: how many there were */
    bool shared, over;
    uint64_t position;
    struct mhb_clock_mark end;
    /* signals that were blocked at its begin, those of which that is not known, and those that the
     * thread unblocked in it */
    uint64_t blocked, unknown, unblocked;
};

struct handler_thread {
    uint32_t line;
    uint64_t blocked, known, at_first; /* signals; at_first: blocked before they were known */
    uint64_t first[HANDLER_SIGNALS], last[HANDLER_SIGNALS]; /* 1 + position of handlers; 0: none */
    struct sync_op asks; /* pending request; lock 0: none */
    uint32_t held[HANDLER_HELD], section[HANDLER_HELD], held_count; /* section: 1 + index */
    struct {
        uint32_t signal, runs; /* runs: how many runs there were before */
        uint64_t begin;
        struct sync_op sent;
    } nested[HANDLER_NESTED];
    uint32_t depth; /* of handlers that it runs */
};

struct handler_locks {
    struct handler_thread *threads;
    size_t thread_count, thread_room;
    uint32_t last; /* index of the thread that was looked up last */
    struct map thread_of; /* line -> 1 + index */
    struct handler_run *runs; /* of handlers that requested a lock */
    size_t run_count, run_room;
    struct handler_section *sections; /* outside of handlers; some of each thread and call site */
    size_t section_count, section_room;
    struct map section_of; /* thread and lock, call site -> 1 + index of the first section */
    struct map reentrant; /* locks that a thread acquires again while it holds them */
    char *names[HANDLER_SIGNALS]; /* of signals; their index is a bit of the masks */
    unsigned name_count;
};

static uint32_t handler_thread_index(struct handler_locks *h, uint32_t line)
{
    if (h->thread_count && h->threads[h->last].line == line)
        return h->last;
    return h->last = (uint32_t)MAP_INDEX(&h->thread_of, line, 0, h->threads, h->thread_count,
                                         h->thread_room, (struct handler_thread){.line = line});
}

/* Returns the index of a signal's name; HANDLER_SIGNALS: there are too many. */
static unsigned handler_signal_index(struct handler_locks *h, const char *name, size_t bytes)
{
    for (unsigned i = 0; i < h->name_count; i++)
        if (strlen(h->names[i]) == bytes && memcmp(h->names[i], name, bytes) == 0)
            return i;
    if (h->name_count == HANDLER_SIGNALS)
        return HANDLER_SIGNALS;
    h->names[h->name_count] = xstrndup(name, bytes);
    return h->name_count++;
}

/* ---- signals ---- */

static void handler_locks_on_mask(struct handler_locks *h, struct handler_thread *t,
                                  const struct sync_op *op)
{
    bool blocks = false;
    if (t->depth) /* the mask is restored when the handler returns */
        return;
    for (const char *word = op->text; *word;) {
        size_t n = strcspn(word, " ,");
        unsigned signal = HANDLER_SIGNALS;
        if (strncmp(word, "SIG", 3) == 0)
            signal = handler_signal_index(h, word, n);
        else if (n)
            blocks = *word == 'b';
        uint64_t bit = signal < HANDLER_SIGNALS ? UINT64_C(1) << signal : 0;
        t->at_first |= blocks ? 0 : bit & ~t->known;
        t->known |= bit;
        t->blocked = blocks ? t->blocked | bit : t->blocked & ~bit;
        for (uint32_t i = 0; i < t->held_count && !blocks; i++)
            if (t->section[i])
                h->sections[t->section[i] - 1].unblocked |= bit;
        word += n + (word[n] != 0);
    }
}

static void handler_locks_on_begin(struct handler_locks *h, struct handler_thread *t,
                                   const struct sync_op *op)
{
    unsigned signal = handler_signal_index(h, op->text, strlen(op->text));
    if (t->depth == HANDLER_NESTED)
        t->depth = 0; /* handlers that were left by jumps */
    t->nested[t->depth].signal = signal;
    t->nested[t->depth].runs = (uint32_t)h->run_count;
    t->nested[t->depth].begin = op->position;
    t->nested[t->depth++].sent =
        (struct sync_op){.thread = op->sender, .position = op->sent, .mark = op->sent_mark};
    if (signal == HANDLER_SIGNALS || op->sender == op->thread)
        return;
    if (!t->first[signal])
        t->first[signal] = op->position + 1;
    t->last[signal] = op->position + 1;
}

static void handler_locks_on_end(struct handler_locks *h, struct handler_thread *t)
{
    if (!t->depth)
        return;
    for (size_t i = t->nested[--t->depth].runs; i < h->run_count; i++)
        h->runs[i].ended |= h->threads[h->runs[i].thread].line == t->line;
}

/* ---- locks ---- */

/* Returns the index of the section to be replaced or added: the first half of those of a call site
 * are kept, and later ones replace each other. */
static size_t handler_section_slot(struct handler_locks *h, const struct sync_op *op)
{
    uint64_t of = (uint64_t)op->thread << 32 | op->lock;
    uintptr_t first = (uintptr_t)map_get(&h->section_of, of, op->place);
    if (!first) {
        h->sections =
            array_reserve_zeroed(h->sections, &h->section_room, h->section_count + HANDLER_SECTIONS,
                                 sizeof *h->sections);
        first = h->section_count + 1;
        h->section_count += HANDLER_SECTIONS;
        map_put(&h->section_of, of, op->place, (void *)first);
    }
    uint32_t times = h->sections[first - 1].times++, half = HANDLER_SECTIONS / 2;
    return first - 1 + (times < half ? times : half + times % half);
}

static void handler_locks_on_acquire(struct handler_locks *h, uint32_t index,
                                     const struct sync_op *op)
{
    struct handler_thread *t = &h->threads[index];
    bool requested = t->asks.lock == op->lock && !t->asks.timed;
    t->asks.lock = 0;
    if (t->depth && requested && h->run_count < HANDLER_RUNS) {
        h->runs = array_reserve(h->runs, &h->run_room, h->run_count + 1, sizeof *h->runs);
        h->runs[h->run_count++] = (struct handler_run){.thread = index,
                                                       .lock = op->lock,
                                                       .place = op->place,
                                                       .signal = t->nested[t->depth - 1].signal,
                                                       .shared = op->shared,
                                                       .begin = t->nested[t->depth - 1].begin,
                                                       .position = t->asks.position,
                                                       .sent = t->nested[t->depth - 1].sent};
    }
    if (t->depth || t->held_count == HANDLER_HELD)
        return;
    size_t i = handler_section_slot(h, op);
    uint32_t times = h->sections[i].times;
    h->sections[i] = (struct handler_section){.thread = index,
                                              .lock = op->lock,
                                              .times = times,
                                              .shared = op->shared,
                                              .position = op->position,
                                              .blocked = t->blocked & t->known,
                                              .unknown = ~t->known};
    t->held[t->held_count] = op->lock;
    t->section[t->held_count++] = (uint32_t)i + 1;
}

static void handler_locks_on_release(struct handler_locks *h, struct handler_thread *t,
                                     const struct sync_op *op)
{
    uint32_t i = 0;
    while (i < t->held_count && t->held[i] != op->lock)
        i++;
    if (t->depth || i == t->held_count)
        return;
    struct handler_section *s = &h->sections[t->section[i] - 1];
    if (s->lock == op->lock && !s->over) {
        s->end = op->mark;
        s->over = true;
    }
    t->held_count--;
    t->held[i] = t->held[t->held_count];
    t->section[i] = t->section[t->held_count];
}

static bool handler_thread_holds(const struct handler_thread *t, uint32_t lock)
{
    for (uint32_t i = 0; i < t->held_count; i++)
        if (t->held[i] == lock)
            return true;
    return false;
}

static void handler_locks_feed(void *predictor, const struct sync_op *op)
{
    struct handler_locks *h = predictor;
    if (op->unit)
        return;
    if (op->is != SYNC_OP_REQUEST && op->is != SYNC_OP_ACQUIRE && op->is != SYNC_OP_RELEASE &&
        op->is != SYNC_OP_WAIT && op->is != SYNC_OP_SIGNAL_MASK &&
        op->is != SYNC_OP_HANDLER_BEGIN && op->is != SYNC_OP_HANDLER_END)
        return;
    uint32_t index = handler_thread_index(h, op->thread);
    struct handler_thread *t = &h->threads[index];
    if (op->is == SYNC_OP_REQUEST) {
        t->asks = *op;
        if (!op->timed && handler_thread_holds(t, op->lock))
            map_put(&h->reentrant, op->lock, 0, h);
    } else if (op->is == SYNC_OP_ACQUIRE) {
        handler_locks_on_acquire(h, index, op);
    } else if (op->is == SYNC_OP_HANDLER_BEGIN) {
        handler_locks_on_begin(h, t, op);
    } else if (op->is == SYNC_OP_HANDLER_END) {
        handler_locks_on_end(h, t);
    } else if (op->is == SYNC_OP_SIGNAL_MASK) {
        handler_locks_on_mask(h, t, op);
    } else {
        handler_locks_on_release(h, t, op);
    }
}

/* ---- findings ---- */

static bool handler_section_is_interruptible(const struct handler_locks *h,
                                             const struct handler_section *s,
                                             const struct handler_run *r)
{
    const struct handler_thread *t = &h->threads[r->thread];
    uint64_t bit = UINT64_C(1) << r->signal, begin = s->position + 1;
    bool blocked = (s->blocked | (s->unknown & t->at_first)) & bit && !(s->unblocked & bit),
         sent = r->sent.thread && r->sent.thread != t->line && s->position < r->begin && s->over &&
                !mhb_before(s->end, r->sent.mark);
    return !blocked && (sent || (t->first[r->signal] && t->first[r->signal] < begin &&
                                 t->last[r->signal] > begin));
}

static void handler_locks_add_finding(const struct handler_locks *h,
                                      const struct handler_section *s, const struct handler_run *r,
                                      struct findings *findings)
{
    struct finding *one = findings_add(findings, FINDING_HANDLER_LOCK);
    uint32_t line = h->threads[r->thread].line;
    finding_add_participant(one, (struct finding_participant){.thread = line,
                                                              .lock = s->lock,
                                                              .then_lock = r->lock,
                                                              .position = s->position,
                                                              .then = r->position,
                                                              .begin = NO_POSITION});
    if (r->sent.thread)
        finding_add_event(one, r->sent.thread, line, r->sent.position);
}

static bool handler_locks_is_candidate(const struct handler_locks *h, const struct handler_run *r)
{
    /* those that a thread causes by what it does */
    static const char *const own[] = {"SIGSEGV", "SIGBUS",  "SIGFPE",  "SIGILL", "SIGTRAP",
                                      "SIGSYS",  "SIGABRT", "SIGPIPE", "SIGXFSZ"};
    bool asynchronous = r->ended && r->signal < HANDLER_SIGNALS &&
                        r->sent.thread != h->threads[r->thread].line &&
                        !map_get(&h->reentrant, r->lock, 0);
    for (size_t i = 0; i < sizeof own / sizeof *own && asynchronous && !r->sent.thread; i++)
        asynchronous = strcmp(h->names[r->signal], own[i]) != 0;
    return asynchronous;
}

static bool handler_locks_step(void *predictor, struct findings *findings, uint64_t *budget)
{
    const struct handler_locks *h = predictor;
    struct map found = {0};
    for (size_t i = 0; i < h->run_count; i++) {
        const struct handler_run *r = &h->runs[i];
        uint64_t of = (uint64_t)r->place << 32 | r->lock;
        size_t k = 0;
        if (!handler_locks_is_candidate(h, r))
            continue;
        if (findings_count_again(findings, &found, of, r->thread))
            continue;
        while (k < h->section_count &&
               (h->sections[k].thread != r->thread || h->sections[k].lock != r->lock ||
                (h->sections[k].shared && r->shared) ||
                !handler_section_is_interruptible(h, &h->sections[k], r)))
            k++;
        if (k == h->section_count)
            continue;
        handler_locks_add_finding(h, &h->sections[k], r, findings);
        findings_remember_last(findings, &found, of, r->thread);
    }
    findings->cut |= h->run_count == HANDLER_RUNS;
    map_free(&found);
    (void)budget;
    return true;
}

static void handler_locks_free(void *predictor)
{
    struct handler_locks *h = predictor;
    for (unsigned i = 0; i < h->name_count; i++)
        free(h->names[i]);
    free(h->threads);
    free(h->runs);
    free(h->sections);
    map_free(&h->thread_of);
    map_free(&h->section_of);
    map_free(&h->reentrant);
    free(predictor);
}

const struct predictor predictor_handler_locks = {.size = sizeof(struct handler_locks),
                                                  .all = true,
                                                  .feed = handler_locks_feed,
                                                  .step = handler_locks_step,
                                                  .free = handler_locks_free};
