/* Streams: how far their bytes are written and read, in numbers that all processes of the run share. */
#include "clients/process/inside.h"

#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)

uint64_t mix(uint64_t a, uint64_t b) /* splitmix64 (Steele, Lea and Flood, 2014) over both */
{
    uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static struct stream numbers(uint64_t key, bool make)
{
    struct stream s = {.flags = key ? poet_counter(mix(key, 1), make) : NULL};
    if (!s.flags)
        return s;
    s.written = poet_counter(mix(key, 2), true);
    s.claimed = poet_counter(mix(key, 3), true);
    s.read = poet_counter(mix(key, 4), true);
    if (s.written && s.claimed && s.read) /* another one may have had the same name */
        s.key = mix(key, LOAD(s.flags) / STREAM_GENERATION);
    return s;
}

struct stream stream_find(uint64_t key)
{
    struct stream s = numbers(key, false);
    if (s.key && (LOAD(s.flags) & (STREAM_BORN | STREAM_BROKEN)) != STREAM_BORN)
        s.key = 0;
    return s;
}

void stream_make(uint64_t key)
{
    struct stream s = numbers(key, true);
    if (!s.key)
        return;
    STORE(s.written, 0);
    STORE(s.claimed, 0);
    STORE(s.read, 0);
    STORE(s.flags, (LOAD(s.flags) / STREAM_GENERATION + 1) * STREAM_GENERATION | STREAM_BORN);
}

void stream_break(struct stream *s, const char *why)
{
    uint64_t before = __atomic_fetch_or(s->flags, STREAM_BROKEN, __ATOMIC_SEQ_CST);
    if (!(before & STREAM_BROKEN))
        poet_text("a stream is not followed any more: %s", why);
    s->key = 0;
}

bool stream_enter(struct stream *s, uint64_t side)
{
    uint64_t before = __atomic_fetch_add(s->flags, side, __ATOMIC_SEQ_CST);
    if (before / side & 0xff) {
        __atomic_fetch_sub(s->flags, side, __ATOMIC_SEQ_CST);
        stream_break(s, side == STREAM_WRITER ? "two write to it at once" : "two read from it at once");
        return false;
    }
    return true;
}

void stream_leave(struct stream *s, uint64_t side) { __atomic_fetch_sub(s->flags, side, __ATOMIC_SEQ_CST); }
