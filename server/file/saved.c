#include "server/file/saved.h"

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

bool saved_state(struct run *run, struct chunk state, void (*restored)(void *context),
                 void (*hangup)(void *context, uint32_t session), void *context)
{
    struct in in = in_from(state.data, state.size);
    run->last_ns = (int64_t)get_u64(&in);
    uint32_t processes = get_u32(&in);
    bool all = processes & STATE_UNFOLLOWED;
    processes &= ~STATE_UNFOLLOWED;
    for (uint32_t i = 0; i < processes && !in.error; i++) {
        uint64_t waited = get_u64(&in), dropped = get_u64(&in), unfollowed = all ? get_u64(&in) : 0;
        if (i < run->process_count) {
            run->processes[i].waited_ns = waited;
            run->processes[i].dropped = dropped;
            run->processes[i].unfollowed = unfollowed;
        }
    }
    uint32_t hangups = get_u32(&in);
    if (in.error || hangups > in_left(&in) / 8)
        return false;
    const uint8_t *list = get_bytes(&in, 8 * (size_t)hangups);
    size_t left = in_left(&in);
    if (!order_restore(run->order, get_bytes(&in, left), left))
        return false;
    restored(context);
    for (uint32_t i = 0; i < hangups; i++)
        if (at_u32(list + 8 * i + 4) < state.thread)
            hangup(context, at_u32(list + 8 * i));
    return true;
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
