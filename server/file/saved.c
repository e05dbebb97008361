#include "server/file/saved.h"

#include "memory/memory.h"
#include "server/file/saving.h"
#include "server/intake/announce.h"
#include "server/run/brief.h"
#include "server/run/run.h"
#include "wire/limits.h"
#include "wire/ref.h"
#include "wire/text.h"

#include <stdlib.h>

/* As it was written before there was brief.h. */
static void get_fact(struct in *in, struct chunk *fact)
{
    *fact = (struct chunk){.kind = (uint16_t)get_u32(in)};
    fact->session = get_u32(in);
    fact->thread = get_u32(in);
    fact->size = get_u32(in);
    fact->data = get_bytes(in, fact->size);
}

static bool read_facts(struct in *facts, bool is_brief, void (*play)(void *, struct chunk),
                       void *context)
{
    struct brief *brief = is_brief ? brief_new() : NULL;
    struct chunk chunk;
    bool good = true;
    while (good && in_left(facts)) {
        if (is_brief)
            brief_get(brief, facts, &chunk);
        else
            get_fact(facts, &chunk);
        good = !facts->error && chunk.kind != CHUNK_NEWS && chunk.kind != CHUNK_STATE;
        if (good)
            play(context, chunk);
    }
    brief_free(brief);
    return good;
}

bool saved_news(struct run *run, struct chunk news, void (*play)(void *, struct chunk),
                void *context)
{
    struct in in = in_from(news.data, news.size);
    uint32_t size = get_u32(&in);
    bool is_brief = size & NEWS_BRIEF;
    size &= ~NEWS_BRIEF;
    const uint8_t *bytes = get_bytes(&in, size);
    struct in facts = in_from(bytes, bytes ? size : 0);
    if (!read_facts(&facts, is_brief, play, context))
        return false;
    for (uint32_t n = get_u32(&in); n && !in.error; n--) {
        uint32_t process = get_u32(&in);
        struct site site = {.process = process & ~SITE_WITHIN, .address = get_u64(&in)};
        if (process & SITE_WITHIN) {
            site.thread = get_u32(&in);
            site.context = get_u32(&in);
        }
        if (!in.error)
            run_site(run, site);
    }
    while (in_left(&in)) {
        struct ref at = get_ref(&in);
        char *text = get_note(&in, LIMIT_TEXT_BYTES * 3);
        if (!in.error && at.line && at.line <= order_lines(run->order))
            run_add_text(run, at, text);
        free(text);
        if (in.error)
            return false;
    }
    return in_done(&in);
}

/* What each process told of its losses, and after that who had hung up; run NULL: only that is wanted. */
static const uint8_t *read_begin(struct in *in, struct run *run, uint32_t *hangups)
{
    int64_t last_ns = (int64_t)get_u64(in);
    uint32_t processes = get_u32(in);
    bool all = processes & STATE_UNFOLLOWED;
    processes &= ~STATE_UNFOLLOWED;
    if (run)
        run->last_ns = last_ns;
    for (uint32_t i = 0; i < processes && !in->error; i++) {
        uint64_t waited = get_u64(in), dropped = get_u64(in), unfollowed = all ? get_u64(in) : 0;
        if (run && i < run->process_count) {
            run->processes[i].waited_ns = waited;
            run->processes[i].dropped = dropped;
            run->processes[i].unfollowed = unfollowed;
        }
    }
    *hangups = get_u32(in);
    if (in->error || *hangups > in_left(in) / 8)
        return NULL;
    return get_bytes(in, 8 * (size_t)*hangups);
}

bool saved_state(struct run *run, struct chunk state, void (*restored)(void *context),
                 void (*hangup)(void *context, uint32_t session), void *context)
{
    struct in in = in_from(state.data, state.size);
    uint32_t hangups;
    const uint8_t *list = read_begin(&in, run, &hangups);
    size_t left = in_left(&in);
    if (!list || !order_restore(run->order, get_bytes(&in, left), left))
        return false;
    restored(context);
    for (uint32_t i = 0; i < hangups; i++)
        if (at_u32(list + 8 * i + 4) < state.thread)
            hangup(context, at_u32(list + 8 * i));
    return true;
}

struct saved_hangup *saved_hangups(struct chunk state, size_t *count)
{
    struct in in = in_from(state.data, state.size);
    uint32_t hangups;
    const uint8_t *list = read_begin(&in, NULL, &hangups);
    *count = list ? hangups : 0;
    struct saved_hangup *told = memory_bytes((*count + 1) * sizeof *told);
    for (size_t i = 0; i < *count; i++)
        told[i] = (struct saved_hangup){at_u32(list + 8 * i), at_u32(list + 8 * i + 4)};
    return told;
}

void saved_threads(struct run *run, struct chunk threads)
{
    struct in in = in_from(threads.data, threads.size);
    while (in_left(&in)) {
        uint32_t session = get_u32(&in), code = get_u32(&in);
        struct ref last = get_ref(&in), other = get_ref(&in);
        if (in.error)
            return;
        uint8_t doubt = (uint8_t)(session >> THREAD_DOUBT_SHIFT);
        session &= (1u << THREAD_DOUBT_SHIFT) - 1;
        if (session >= run->session_count || !run->sessions[session])
            continue;
        struct thread_state *state = thread_state_of(run->sessions[session], code);
        state->last[0] = last;
        state->last[1] = other;
        state->doubt = doubt < UNSEEN_COUNT ? doubt : UNSEEN_NONE;
    }
}
