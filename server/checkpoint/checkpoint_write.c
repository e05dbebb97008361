#include "server/checkpoint/checkpoint_write.h"

#include "base/map.h"
#include "server/checkpoint/expiring_records.h"
#include "server/decode/declarations.h"
#include "server/eventloop/event_loop.h"
#include "server/order/log/log_block.h"
#include "server/run/delta_codec.h"
#include "server/run/metrics.h"
#include "server/run/run.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

#define EPOCHS_MAX 64
/* a checkpoint that takes less is written as soon as enough is unsaved */
#define SHORT_NS 20000000u
#define SHARE_OF_TIME 50u  /* others take at most this fraction of the time (1/SHARE_OF_TIME) */
#define WAIT_MOST 4u /* intervals of unsaved bytes from which on one is written in any case */
/* If only a part of the run is kept: intervals that may be delivered while a checkpoint is written
 * or events are discarded.  That takes long on a busy machine, and all of it is used then. */
#define LAG_MOST 1u
#define LITTLE 4096u /* bytes of journal that are read as quickly as a checkpoint */

struct checkpoint_writer {
    struct encoder facts, texts; /* since the last NEWS */
    struct delta_codec *brief; /* codec of the facts */
    struct expiring_records *passing; /* records that are discarded with their events */
    size_t sites; /* number of sites written so far */
    uint64_t news; /* place of the newest NEWS */
    struct checkpoint_hangup *hangups;
    size_t hangup_count, hangup_room;
    uint64_t keep_bytes;
    /* after a checkpoint: where parts and events ended; all before may be discarded together */
    struct checkpoint_moment {
        uint64_t place, position;
    } moments[EPOCHS_MAX];
    size_t moment_count;
    /* of the newest checkpoint: when it was written, and how long that took */
    uint64_t saved_ns, took_ns;
    /* the checkpoint in progress */
    enum {
        IDLE,
        PREPARING,
        READY,
        FORGETTING,
        WRITING
    } step; /* READY: begins between two chunks */
    bool forgets; /* the checkpoint begins with discarding what is before the first moment */
    bool forgot; /* that is done */
    bool failed; /* the last checkpoint could not be written */
    bool finishing; /* checkpoint_finish() has begun */
    uint64_t spent_ns;
    struct encoder state; /* the checkpoint except the order, as of its begin */
    uint64_t state_news;
    uint64_t *parts; /* places of the parts that it needs */
    size_t part_count, part_room;
};

static struct checkpoint_writer *checkpoint_writer_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_CHECKPOINT_WRITER);
}

static void keep_passing(struct run *run, bool all)
{
    struct chunk passed;
    if (expiring_records_flush(checkpoint_writer_of(run)->passing, run, all, &passed))
        delta_codec_encode(checkpoint_writer_of(run)->brief, &checkpoint_writer_of(run)->facts,
                           passed);
}

static void keep_fact(struct run *run, struct chunk chunk)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    if (expiring_records_accept(&chunk)) {
        expiring_records_append(s->passing, run, chunk);
        keep_passing(run, false);
        return;
    }
    if (chunk.kind == CHUNK_HANGUP) {
        s->hangups =
            array_reserve(s->hangups, &s->hangup_room, s->hangup_count + 1, sizeof *s->hangups);
        s->hangups[s->hangup_count++] =
            (struct checkpoint_hangup){chunk.session, tracefile_epoch(run->trace)};
        return;
    }
    delta_codec_encode(s->brief, &s->facts, chunk);
}

/* Saves the newest sums of a thread; earlier ones are not kept in checkpoints. */
static void keep_sums(void *user, const struct call_context_thread *thread,
                      const struct encoder *body)
{
    struct run *run = user;
    delta_codec_encode(checkpoint_writer_of(run)->brief, &checkpoint_writer_of(run)->facts,
                       (struct chunk){.kind = CHUNK_SUMS,
                                      .session = thread->session,
                                      .thread = thread->code,
                                      .data = body->data,
                                      .size = (uint32_t)body->size});
}

static void keep_meters(void *user, uint32_t session, uint32_t thread, const struct encoder *body)
{
    struct run *run = user;
    delta_codec_encode(checkpoint_writer_of(run)->brief, &checkpoint_writer_of(run)->facts,
                       (struct chunk){.kind = CHUNK_METERS,
                                      .session = session,
                                      .thread = thread,
                                      .data = body->data,
                                      .size = (uint32_t)body->size});
}

static void keep_reached(void *context, const struct encoder *body)
{
    struct run *run = context;
    delta_codec_encode(
        checkpoint_writer_of(run)->brief, &checkpoint_writer_of(run)->facts,
        (struct chunk){.kind = CHUNK_REACHED, .data = body->data, .size = (uint32_t)body->size});
}

static void keep_text(struct run *run, uint32_t line, uint64_t number, const char *text)
{
    encode_event_id(&checkpoint_writer_of(run)->texts, (struct event_id){line, number});
    encode_string(&checkpoint_writer_of(run)->texts, text);
}

static void checkpoint_writer_free(void *state)
{
    struct checkpoint_writer *saving = state;
    encoder_free(&saving->facts);
    encoder_free(&saving->texts);
    delta_codec_free(saving->brief);
    expiring_records_free(saving->passing);
    encoder_free(&saving->state);
    free(saving->parts);
    free(saving->hangups);
    free(saving);
}

void checkpoint_begin(struct run *run, uint64_t keep_bytes)
{
    static const struct fact_writer fact_writer = {keep_fact, keep_text};
    struct checkpoint_writer *saving = xcalloc(1, sizeof *saving);
    saving->keep_bytes = keep_bytes;
    saving->brief = delta_codec_new();
    saving->passing = expiring_records_new();
    run_addon_attach(&run->addons, RUN_ADDON_CHECKPOINT_WRITER,
                     (struct run_addon){saving, checkpoint_writer_free});
    run->fact_writer = &fact_writer;
}

void checkpoint_resume(struct run *run, uint64_t news, const struct checkpoint_hangup *hangups,
                       size_t count)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    s->news = news;
    s->sites = run->sites.count;
    s->hangups = array_reserve(s->hangups, &s->hangup_room, count + 1, sizeof *s->hangups);
    for (; s->hangup_count < count; s->hangup_count++)
        s->hangups[s->hangup_count] = hangups[s->hangup_count];
}

/* ---- writing ---- */

static void put_news(struct run *run)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    struct encoder out = {0};
    keep_passing(run, true);
    if (!s->facts.size && !s->texts.size && s->sites == run->sites.count)
        return;
    encode_u64(&out, s->news);
    encode_u32(&out, (uint32_t)s->facts.size);
    encode_bytes(&out, s->facts.data, s->facts.size);
    encode_u32(&out, (uint32_t)(run->sites.count - s->sites));
    for (; s->sites < run->sites.count; s->sites++) {
        const struct site *site = &run->sites.items[s->sites];
        encode_u32(&out, site->process | (site->thread ? SITE_IN_FUNCTION : 0) |
                             (site->caller ? SITE_CALLED : 0));
        encode_u64(&out, site->address);
        if (site->thread) {
            encode_u32(&out, site->thread);
            encode_u32(&out, site->context);
        }
        if (site->caller)
            encode_u32(&out, site->caller);
    }
    encode_bytes(&out, s->texts.data, s->texts.size);
    s->news = tracefile_put(run->trace, CHUNK_NEWS, out.data, out.size);
    s->facts.size = s->texts.size = 0;
    delta_codec_reset(s->brief);
    encoder_free(&out);
}

/* Writes what the checkpoint holds beside the order, before it. */
static void put_state(const struct run *run, struct encoder *out)
{
    const struct checkpoint_writer *s = checkpoint_writer_of(run);
    encode_u64(out, (uint64_t)run->clock.last_ns);
    encode_u32(out, (uint32_t)run->processes.count);
    for (size_t i = 0; i < run->processes.count; i++) {
        encode_u64(out, run->processes.items[i].waited_ns);
        encode_u64(out, run->processes.items[i].dropped);
        encode_u64(out, run->processes.items[i].unfollowed);
    }
    encode_u32(out, (uint32_t)s->hangup_count);
    for (size_t i = 0; i < s->hangup_count; i++) {
        encode_u32(out, s->hangups[i].session);
        encode_u32(out, s->hangups[i].epoch);
    }
}

/* Writes the position of each thread; lowers *oldest to the epoch of the oldest held event. */
static void put_threads(const struct run *run, struct encoder *out, uint32_t *oldest)
{
    for (size_t i = 0; i < run->sessions.count; i++) {
        struct program_session *session = run->sessions.items[i];
        if (!session)
            continue;
        program_session_forget_ended(session);
        for (struct map_walk walk = {.map = &session->threads}; map_next(&walk);) {
            const struct thread_state *state = walk.value;
            if (state->held_count && state->held_epoch < *oldest)
                *oldest = state->held_epoch;
            if (!state->last[0].line && !state->doubt)
                continue;
            encode_u32(out, session->number | (uint32_t)state->doubt << THREAD_UNCERTAINTY_SHIFT);
            encode_u32(out, (uint32_t)walk.a);
            encode_event_id(out, state->last[0]);
            encode_event_id(out, state->last[1]);
        }
    }
}

static bool checkpoint_begin_write(struct run *run)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    struct encoder threads = {0};
    uint32_t oldest = order_oldest_batch(run->order);
    s->state.size = 0;
    put_threads(run, &threads, &oldest);
    put_state(run, &s->state);
    call_contexts_save(&run->contexts, keep_sums, run);
    program_metrics_save(run, keep_meters, run);
    agent_positions_save(&run->agent_positions, keep_reached, run);
    put_news(run);
    s->state_news = s->news;
    bool ok = !s->state.failed && !threads.failed &&
              tracefile_save_begin(run->trace,
                                   (struct chunk){.kind = CHUNK_THREADS,
                                                  .data = threads.data,
                                                  .size = (uint32_t)threads.size},
                                   oldest);
    encoder_free(&threads);
    if (ok)
        order_save_begin(run->order);
    return ok;
}

static void note_part(void *context, uint64_t place)
{
    struct checkpoint_writer *s = context;
    s->parts = array_reserve(s->parts, &s->part_room, s->part_count + 1, sizeof *s->parts);
    s->parts[s->part_count++] = place;
}

static bool checkpoint_end_write(struct run *run)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    struct encoder *out = &s->state;
    size_t size;
    s->part_count = 0;
    order_saved_parts(run->order, note_part, s);
    uint8_t *order = order_save_end(run->order, &size);
    encode_bytes(out, order, size);
    free(order);
    if (out->failed) {
        tracefile_save_drop(run->trace);
        return false;
    }
    struct checkpoint state = {.data = out->data,
                               .size = out->size,
                               .news = s->state_news,
                               .parts = s->parts,
                               .part_count = s->part_count,
                               .written = order_saved_bytes(run->order)};
    return tracefile_save_end(run->trace, &state);
}

/* ---- scheduling ---- */

/* Returns the number of unsaved bytes after which a checkpoint is due; smaller if only a part of
 * the run is kept. */
static uint64_t checkpoint_interval_bytes(const struct run *run)
{
    uint64_t keep = checkpoint_writer_of(run)->keep_bytes;
    return keep && keep / 16 < tracefile_region_bytes(run->trace)
               ? keep / 16
               : tracefile_region_bytes(run->trace);
}

/* Begins to discard what is before the first moment.  Only whole blocks are discarded; returns
 * false if events before the moment would remain, as their parts must then be kept. */
static bool checkpoint_begin_discard(struct run *run)
{
    struct checkpoint_moment moment = checkpoint_writer_of(run)->moments[0];
    uint64_t blocks = (moment.position + BLOCK_EVENTS - 1) / BLOCK_EVENTS;
    run_discard_begin(run, blocks * BLOCK_EVENTS);
    return order_first(run->order) >= moment.position;
}

static void checkpoint_end_discard(struct run *run, bool saved)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    struct checkpoint_moment moment = s->moments[0];
    memmove(s->moments, s->moments + 1, --s->moment_count * sizeof *s->moments);
    if (saved)
        tracefile_discard_before(run->trace, moment.place);
    run->generation++;
}

static void note_moment(struct run *run)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    if (s->moment_count == EPOCHS_MAX) { /* keeps every other one */
        for (size_t i = 0; i < EPOCHS_MAX / 2; i++)
            s->moments[i] = s->moments[2 * i + 1];
        s->moment_count = EPOCHS_MAX / 2;
    }
    s->moments[s->moment_count++] =
        (struct checkpoint_moment){tracefile_end(run->trace), order_count(run->order)};
}

/* Returns whether a checkpoint is due.  One with millions of changed lines takes long, so it waits
 * until that is a small part of the time, unless very much is unsaved. */
static bool is_time(const struct run *run)
{
    const struct checkpoint_writer *s = checkpoint_writer_of(run);
    uint64_t unsaved = tracefile_unsaved(run->trace), least = checkpoint_interval_bytes(run);
    return unsaved >= least && (s->took_ns < SHORT_NS || unsaved >= WAIT_MOST * least ||
                                loop_clock_ns() - s->saved_ns >= SHARE_OF_TIME * s->took_ns);
}

/* Ends a checkpoint, which was written or could not be. */
static void checkpoint_finish_write(struct run *run, bool saved)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    s->step = IDLE;
    s->failed = !saved;
    s->took_ns = s->spent_ns;
    s->saved_ns = loop_clock_ns();
    if (s->forgets)
        checkpoint_end_discard(run, saved);
    else if (saved && s->keep_bytes)
        note_moment(run);
    /* the file may grow by an interval until the next checkpoint */
    s->forgets = saved && s->moment_count > 1 &&
                 tracefile_kept(run->trace) + checkpoint_interval_bytes(run) > s->keep_bytes;
    if (s->forgets)
        s->step = READY;
}

static void begin_now(struct run *run)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    uint64_t begin_ns = loop_clock_ns();
    if (s->forgets && !s->forgot) {
        s->forgets = s->forgot = checkpoint_begin_discard(run);
        s->step = s->forgets ? FORGETTING : IDLE;
        return;
    }
    if (s->forgets)
        order_renew(run->order, s->moments[0].place);
    s->forgot = false;
    s->step = WRITING;
    s->spent_ns = 0;
    if (!checkpoint_begin_write(run))
        checkpoint_finish_write(run, false);
    s->spent_ns += loop_clock_ns() - begin_ns;
}

void checkpoint_poll(struct run *run)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    if (s && s->step == IDLE && is_time(run))
        s->step = order_save_prepare(run->order) ? READY : PREPARING;
    if (s && s->step == READY)
        begin_now(run);
}

bool checkpoint_is_urgent(const struct run *run)
{
    return checkpoint_writer_of(run) && checkpoint_writer_of(run)->keep_bytes &&
           checkpoint_writer_of(run)->step != IDLE;
}

bool checkpoint_is_overdue(const struct run *run)
{
    return checkpoint_is_urgent(run) &&
           tracefile_unsaved(run->trace) >= LAG_MOST * checkpoint_interval_bytes(run);
}

static bool one_step(struct run *run)
{
    switch (checkpoint_writer_of(run)->step) {
    case PREPARING:
        return order_save_prepare(run->order);
    case FORGETTING:
        return run_discard_step(run);
    default:
        return order_save_step(run->order);
    }
}

bool checkpoint_step(struct run *run, struct loop_share share)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    uint64_t begin_ns = loop_clock_ns();
    if (s && s->step == READY)
        begin_now(run);
    if (!s || s->step == IDLE)
        return true;
    bool all = false;
    do
        all = one_step(run);
    while (!all && loop_share_left(share));
    s->spent_ns += loop_clock_ns() - begin_ns;
    if (all && s->step != WRITING)
        s->step = READY;
    else if (all)
        checkpoint_finish_write(run, checkpoint_end_write(run));
    return s->step == IDLE;
}

bool checkpoint_finish(struct run *run, struct loop_share share)
{
    struct checkpoint_writer *s = checkpoint_writer_of(run);
    if (!s)
        return true;
    s->failed &= s->finishing; /* an earlier failure does not prevent another try */
    s->finishing = true;
    for (;;) {
        if (!checkpoint_step(run, share)) {
            if (!loop_share_left(share))
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
