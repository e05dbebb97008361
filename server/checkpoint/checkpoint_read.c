#include "server/checkpoint/checkpoint_read.h"

#include "base/alloc.h"
#include "server/checkpoint/checkpoint_write.h"
#include "server/decode/declarations.h"
#include "server/run/delta_codec.h"
#include "server/run/run.h"
#include "wire/limits.h"
#include "wire/event_id.h"
#include "wire/text.h"

#include <stdlib.h>

static bool read_facts(struct decoder *facts, void (*play)(void *, struct chunk), void *context)
{
    struct delta_codec *brief = delta_codec_new();
    struct chunk chunk;
    bool good = true;
    while (good && decoder_remaining(facts)) {
        delta_codec_decode(brief, facts, &chunk);
        good = !facts->error && chunk.kind != CHUNK_NEWS && chunk.kind != CHUNK_STATE;
        if (good)
            play(context, chunk);
    }
    delta_codec_free(brief);
    return good;
}

bool checkpoint_read_news(struct run *run, struct chunk news, void (*play)(void *, struct chunk),
                          void *context)
{
    struct decoder in = decoder_init(news.data, news.size);
    uint32_t size = decode_u32(&in);
    const uint8_t *bytes = decode_bytes(&in, size);
    struct decoder facts = decoder_init(bytes, bytes ? size : 0);
    if (!read_facts(&facts, play, context))
        return false;
    for (uint32_t n = decode_u32(&in); n && !in.error; n--) {
        uint32_t process = decode_u32(&in);
        struct site site = {.process = process & ~SITE_IN_FUNCTION, .address = decode_u64(&in)};
        if (process & SITE_IN_FUNCTION) {
            site.thread = decode_u32(&in);
            site.context = decode_u32(&in);
        }
        if (!in.error)
            site_table_add(&run->sites, site);
    }
    while (decoder_remaining(&in)) {
        struct event_id at = decode_event_id(&in);
        char *text = decode_note(&in, LIMIT_TEXT_BYTES * 3);
        if (!in.error && at.line && at.line <= order_line_count(run->order))
            run_add_text(run, at, text);
        free(text);
        if (in.error)
            return false;
    }
    return decoder_finish(&in);
}

/* Reads each process's reported losses, and then the sessions that had hung up.  Skips the losses
 * if run is NULL. */
static const uint8_t *read_begin(struct decoder *in, struct run *run, uint32_t *hangups)
{
    int64_t last_ns = (int64_t)decode_u64(in);
    uint32_t processes = decode_u32(in);
    if (run)
        run->clock.last_ns = last_ns;
    for (uint32_t i = 0; i < processes && !in->error; i++) {
        uint64_t waited = decode_u64(in), dropped = decode_u64(in), unfollowed = decode_u64(in);
        if (run && i < run->processes.count) {
            run->processes.items[i].waited_ns = waited;
            run->processes.items[i].dropped = dropped;
            run->processes.items[i].unfollowed = unfollowed;
        }
    }
    *hangups = decode_u32(in);
    if (in->error || *hangups > decoder_remaining(in) / 8)
        return NULL;
    return decode_bytes(in, 8 * (size_t)*hangups);
}

bool checkpoint_read_state(struct run *run, struct chunk state, void (*restored)(void *context),
                           void (*hangup)(void *context, uint32_t session), void *context)
{
    struct decoder in = decoder_init(state.data, state.size);
    uint32_t hangups;
    const uint8_t *list = read_begin(&in, run, &hangups);
    size_t left = decoder_remaining(&in);
    if (!list || !order_restore(run->order, decode_bytes(&in, left), left))
        return false;
    restored(context);
    for (uint32_t i = 0; i < hangups; i++)
        if (chunk_get_u32(list + 8 * i + 4) < state.thread)
            hangup(context, chunk_get_u32(list + 8 * i));
    return true;
}

struct checkpoint_hangup *checkpoint_read_hangups(struct chunk state, size_t *count)
{
    struct decoder in = decoder_init(state.data, state.size);
    uint32_t hangups;
    const uint8_t *list = read_begin(&in, NULL, &hangups);
    *count = list ? hangups : 0;
    struct checkpoint_hangup *found = xmalloc((*count + 1) * sizeof *found);
    for (size_t i = 0; i < *count; i++)
        found[i] = (struct checkpoint_hangup){chunk_get_u32(list + 8 * i),
                                              chunk_get_u32(list + 8 * i + 4)};
    return found;
}

void checkpoint_read_threads(struct run *run, struct chunk threads)
{
    struct decoder in = decoder_init(threads.data, threads.size);
    while (decoder_remaining(&in)) {
        uint32_t session = decode_u32(&in), code = decode_u32(&in);
        struct event_id last = decode_event_id(&in), other = decode_event_id(&in);
        if (in.error)
            return;
        uint8_t doubt = (uint8_t)(session >> THREAD_UNCERTAINTY_SHIFT);
        session &= (1u << THREAD_UNCERTAINTY_SHIFT) - 1;
        if (session >= run->sessions.count || !run->sessions.items[session])
            continue;
        struct thread_state *state = thread_state_for(run->sessions.items[session], code);
        state->last[0] = last;
        state->last[1] = other;
        state->doubt = doubt < UNTRACED_COUNT ? doubt : UNTRACED_NONE;
    }
}
