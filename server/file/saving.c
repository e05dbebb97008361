#include "server/file/saving.h"

#include "server/file/passing.h"
#include "server/file/saved.h"
#include "server/run/brief.h"
#include "server/run/metered.h"
#include "server/intake/announce.h"
#include "memory/map.h"
#include "server/order/log/block.h"
#include "server/run/run.h"
#include "server/loop/turn.h"
#include "wire/ref.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define EPOCHS_MAX 64
#define SHORT_NS 20000000u /* a state that takes less is written whenever there is enough */
#define SHARE_OF_TIME 50u  /* others take one part of so many of the time */
#define WAIT_MOST 4u       /* up to so many times what is enough waits for that */
/* Where only a part is kept: so many times what is enough is told while a state is written, or
 * something is forgotten.  On a busy machine that takes long, and all of it is used. */
#define LAG_MOST 1u
#define LITTLE 4096u       /* bytes of a journal that are read as quickly as a state */

struct saving {
    struct out facts, texts; /* since the last news */
    struct brief *brief; /* of the facts */
    struct passing *passing; /* those that are forgotten */
    size_t sites; /* written so far */
    uint64_t news; /* place of the newest */
    struct saved_hangup *hangups;
    size_t hangup_count, hangup_room;
    uint64_t keep_bytes;
    struct moment { /* what may be forgotten together */
        uint64_t place, position;
    } moments[EPOCHS_MAX];
    size_t moment_count;
    uint64_t saved_ns, took_ns; /* the newest state: when it was written, and how long that took */
    /* the one under way */
    enum {
        IDLE,
        PREPARING,
        READY,
        FORGETTING,
        WRITING
    } step; /* READY: to begin between two chunks that are told */
    bool forgets; /* it begins with forgetting the first moment */
    bool forgot; /* that is done */
    bool failed; /* the last one was not written */
    bool finishing; /* saving_finish has begun */
    uint64_t spent_ns;
    struct out state; /* what is not of the order, as it was when it began */
    uint64_t state_news;
    uint64_t *parts; /* places */
    size_t part_count, part_room;
};

static void keep_passing(struct run *run, bool all)
{
    struct chunk passed;
    if (passing_flush(run->saving->passing, run, all, &passed))
        brief_put(run->saving->brief, &run->saving->facts, passed);
}

static void keep_fact(struct run *run, struct chunk chunk)
{
    struct saving *s = run->saving;
    if (passing_takes(&chunk)) {
        passing_put(s->passing, run, chunk);
        keep_passing(run, false);
        return;
    }
    if (chunk.kind == CHUNK_HANGUP) {
        s->hangups = grow(s->hangups, &s->hangup_room, s->hangup_count + 1, sizeof *s->hangups);
        s->hangups[s->hangup_count++] =
            (struct saved_hangup){chunk.session, tracefile_epoch(run->trace)};
        return;
    }
    brief_put(s->brief, &s->facts, chunk);
}

/* Of sums the newest are enough. */
static void keep_sums(void *user, const struct context_thread *thread, const struct out *body)
{
    struct run *run = user;
    brief_put(run->saving->brief, &run->saving->facts,
              (struct chunk){.kind = CHUNK_SUMS,
                             .session = thread->session,
                             .thread = thread->code,
                             .data = body->data,
                             .size = (uint32_t)body->size});
}

static void keep_meters(void *user, uint32_t session, uint32_t thread, const struct out *body)
{
    struct run *run = user;
    brief_put(run->saving->brief, &run->saving->facts,
              (struct chunk){.kind = CHUNK_METERS,
                             .session = session,
                             .thread = thread,
                             .data = body->data,
                             .size = (uint32_t)body->size});
}

static void keep_reached(void *context, const struct out *body)
{
    struct run *run = context;
    brief_put(
        run->saving->brief, &run->saving->facts,
        (struct chunk){.kind = CHUNK_REACHED, .data = body->data, .size = (uint32_t)body->size});
}

static void keep_text(struct run *run, uint32_t line, uint64_t number, const char *text)
{
    put_ref(&run->saving->texts, (struct ref){line, number});
    put_string(&run->saving->texts, text);
}

static void keep_no_more(struct run *run)
{
    struct saving *saving = run->saving;
    out_free(&saving->facts);
    out_free(&saving->texts);
    brief_free(saving->brief);
    passing_free(saving->passing);
    out_free(&saving->state);
    free(saving->parts);
    free(saving->hangups);
    free(saving);
}

void saving_begin(struct run *run, uint64_t keep_bytes)
{
    static const struct keeper keeper = {keep_fact, keep_text, keep_no_more};
    struct saving *saving = memory_zeroed(1, sizeof *saving);
    saving->keep_bytes = keep_bytes;
    saving->brief = brief_new();
    saving->passing = passing_new();
    run->saving = saving;
    run->keeper = &keeper;
}

void saving_resume(struct run *run, uint64_t news, const struct saved_hangup *hangups, size_t count)
{
    struct saving *s = run->saving;
    s->news = news;
    s->sites = run->site_count;
    s->hangups = grow(s->hangups, &s->hangup_room, count + 1, sizeof *s->hangups);
    for (; s->hangup_count < count; s->hangup_count++)
        s->hangups[s->hangup_count] = hangups[s->hangup_count];
}

/* ---- writing ---- */

static void put_news(struct run *run)
{
    struct saving *s = run->saving;
    struct out out = {0};
    keep_passing(run, true);
    if (!s->facts.size && !s->texts.size && s->sites == run->site_count)
        return;
    put_u64(&out, s->news);
    put_u32(&out, (uint32_t)s->facts.size | NEWS_BRIEF);
    put_bytes(&out, s->facts.data, s->facts.size);
    put_u32(&out, (uint32_t)(run->site_count - s->sites));
    for (; s->sites < run->site_count; s->sites++) {
        const struct site *site = &run->site_list[s->sites];
        put_u32(&out, site->process | (site->thread ? SITE_WITHIN : 0));
        put_u64(&out, site->address);
        if (site->thread) {
            put_u32(&out, site->thread);
            put_u32(&out, site->context);
        }
    }
    put_bytes(&out, s->texts.data, s->texts.size);
    s->news = tracefile_put(run->trace, CHUNK_NEWS, out.data, out.size);
    s->facts.size = s->texts.size = 0;
    brief_again(s->brief);
    out_free(&out);
}

/* What is not of its order. */
static void put_state(const struct run *run, struct out *out)
{
    const struct saving *s = run->saving;
    put_u64(out, (uint64_t)run->last_ns);
    put_u32(out, (uint32_t)run->process_count | STATE_UNFOLLOWED);
    for (size_t i = 0; i < run->process_count; i++) {
        put_u64(out, run->processes[i].waited_ns);
        put_u64(out, run->processes[i].dropped);
        put_u64(out, run->processes[i].unfollowed);
    }
    put_u32(out, (uint32_t)s->hangup_count);
    for (size_t i = 0; i < s->hangup_count; i++) {
        put_u32(out, s->hangups[i].session);
        put_u32(out, s->hangups[i].epoch);
    }
}

/* Where each thread stands. */
static void put_threads(const struct run *run, struct out *out, uint32_t *oldest)
{
    for (size_t i = 0; i < run->session_count; i++) {
        struct session *session = run->sessions[i];
        if (!session)
            continue;
        session_forget_ended(session);
        for (struct map_walk walk = {.map = &session->threads}; map_next(&walk);) {
            const struct thread_state *state = walk.value;
            if (state->held_count && state->held_epoch < *oldest)
                *oldest = state->held_epoch;
            if (!state->last[0].line && !state->doubt)
                continue;
            put_u32(out, session->number | (uint32_t)state->doubt << THREAD_DOUBT_SHIFT);
            put_u32(out, (uint32_t)walk.a);
            put_ref(out, state->last[0]);
            put_ref(out, state->last[1]);
        }
    }
}

static bool begin(struct run *run)
{
    struct saving *s = run->saving;
    struct out threads = {0};
    uint32_t oldest = order_oldest_batch(run->order);
    s->state.size = 0;
    put_threads(run, &threads, &oldest);
    put_state(run, &s->state);
    contexts_save(&run->contexts, keep_sums, run);
    metered_save(run, keep_meters, run);
    reached_save(&run->reached, keep_reached, run);
    put_news(run);
    s->state_news = s->news;
    bool ok = !s->state.failed && !threads.failed &&
              tracefile_save_begin(run->trace,
                                   (struct chunk){.kind = CHUNK_THREADS,
                                                  .data = threads.data,
                                                  .size = (uint32_t)threads.size},
                                   oldest);
    out_free(&threads);
    if (ok)
        order_save_begin(run->order);
    return ok;
}

static void note_part(void *context, uint64_t place)
{
    struct saving *s = context;
    s->parts = grow(s->parts, &s->part_room, s->part_count + 1, sizeof *s->parts);
    s->parts[s->part_count++] = place;
}

static bool end(struct run *run)
{
    struct saving *s = run->saving;
    struct out *out = &s->state;
    size_t size;
    s->part_count = 0;
    order_saved_parts(run->order, note_part, s);
    uint8_t *order = order_save_end(run->order, &size);
    put_bytes(out, order, size);
    free(order);
    if (out->failed) {
        tracefile_save_drop(run->trace);
        return false;
    }
    struct state state = {.data = out->data,
                          .size = out->size,
                          .news = s->state_news,
                          .parts = s->parts,
                          .part_count = s->part_count,
                          .written = order_saved_bytes(run->order)};
    return tracefile_save_end(run->trace, &state);
}

/* ---- when ---- */

/* A run that keeps only a part saves more often. */
static uint64_t enough(const struct run *run)
{
    uint64_t keep = run->saving->keep_bytes;
    return keep && keep / 16 < tracefile_region_bytes(run->trace)
               ? keep / 16
               : tracefile_region_bytes(run->trace);
}

/* Whole blocks are forgotten; of what is kept nothing may lie before the place: false where that is not so. */
static bool forget(struct run *run)
{
    struct moment moment = run->saving->moments[0];
    uint64_t blocks = (moment.position + BLOCK_EVENTS - 1) / BLOCK_EVENTS;
    run_forget_begin(run, blocks * BLOCK_EVENTS);
    return order_first(run->order) >= moment.position;
}

static void forgotten(struct run *run, bool saved)
{
    struct saving *s = run->saving;
    struct moment moment = s->moments[0];
    memmove(s->moments, s->moments + 1, --s->moment_count * sizeof *s->moments);
    if (saved)
        tracefile_forget(run->trace, moment.place);
    run->generation++;
}

static void note_moment(struct run *run)
{
    struct saving *s = run->saving;
    if (s->moment_count == EPOCHS_MAX) { /* coarser ones */
        for (size_t i = 0; i < EPOCHS_MAX / 2; i++)
            s->moments[i] = s->moments[2 * i + 1];
        s->moment_count = EPOCHS_MAX / 2;
    }
    s->moments[s->moment_count++] =
        (struct moment){tracefile_end(run->trace), order_count(run->order)};
}

/* A state with millions of lines that change takes long to put together: that is a small part of the time, unless
 * so much is unsaved that it must be done. */
static bool is_time(const struct run *run)
{
    const struct saving *s = run->saving;
    uint64_t unsaved = tracefile_unsaved(run->trace), least = enough(run);
    return unsaved >= least && (s->took_ns < SHORT_NS || unsaved >= WAIT_MOST * least ||
                                turn_clock_ns() - s->saved_ns >= SHARE_OF_TIME * s->took_ns);
}

/* It is written, or could not be. */
static void ended(struct run *run, bool saved)
{
    struct saving *s = run->saving;
    s->step = IDLE;
    s->failed = !saved;
    s->took_ns = s->spent_ns;
    s->saved_ns = turn_clock_ns();
    if (s->forgets)
        forgotten(run, saved);
    else if (saved && s->keep_bytes)
        note_moment(run);
    /* it grows until it is looked at again */
    s->forgets =
        saved && s->moment_count > 1 && tracefile_kept(run->trace) + enough(run) > s->keep_bytes;
    if (s->forgets)
        s->step = READY;
}

static void begin_now(struct run *run)
{
    struct saving *s = run->saving;
    uint64_t begin_ns = turn_clock_ns();
    if (s->forgets && !s->forgot) {
        s->forgets = s->forgot = forget(run);
        s->step = s->forgets ? FORGETTING : IDLE;
        return;
    }
    if (s->forgets)
        order_renew(run->order, s->moments[0].place);
    s->forgot = false;
    s->step = WRITING;
    s->spent_ns = 0;
    if (!begin(run))
        ended(run, false);
    s->spent_ns += turn_clock_ns() - begin_ns;
}

void saving_poll(struct run *run)
{
    struct saving *s = run->saving;
    if (s && s->step == IDLE && is_time(run))
        s->step = order_save_prepare(run->order) ? READY : PREPARING;
    if (s && s->step == READY)
        begin_now(run);
}

bool saving_presses(const struct run *run)
{
    return run->saving && run->saving->keep_bytes && run->saving->step != IDLE;
}

bool saving_lags(const struct run *run)
{
    return saving_presses(run) && tracefile_unsaved(run->trace) >= LAG_MOST * enough(run);
}

static bool one_step(struct run *run)
{
    switch (run->saving->step) {
    case PREPARING:
        return order_save_prepare(run->order);
    case FORGETTING:
        return run_forget_step(run);
    default:
        return order_save_step(run->order);
    }
}

bool saving_go_on(struct run *run, struct share share)
{
    struct saving *s = run->saving;
    uint64_t begin_ns = turn_clock_ns();
    if (s && s->step == READY)
        begin_now(run);
    if (!s || s->step == IDLE)
        return true;
    bool all = false;
    do
        all = one_step(run);
    while (!all && share_left(share));
    s->spent_ns += turn_clock_ns() - begin_ns;
    if (all && s->step != WRITING)
        s->step = READY;
    else if (all)
        ended(run, end(run));
    return s->step == IDLE;
}

bool saving_finish(struct run *run, struct share share)
{
    struct saving *s = run->saving;
    if (!s)
        return true;
    s->failed &= s->finishing; /* what failed before is tried again */
    s->finishing = true;
    for (;;) {
        if (!saving_go_on(run, share)) {
            if (!share_left(share))
                return false;
            continue;
        }
        if (s->failed || tracefile_epoch(run->trace) <= 1 ||
            tracefile_unsaved(run->trace) <= LITTLE) {
            s->finishing = false;
            return true;
        }
        s->step = PREPARING;
    }
}
