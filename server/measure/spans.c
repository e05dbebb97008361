#include "memory/memory.h"
#include "server/measure/spanned.h"

#define SWITCHES_MOST ((size_t)8 << 20) /* of all threads, 16 bytes each */
#define SAMPLES_MOST ((size_t)1 << 14)  /* of a thread; then every other one goes */
#define CLOCKS_MOST ((size_t)1 << 18)   /* likewise */

struct spans *spans_new(void) { return memory_zeroed(1, sizeof(struct spans)); }

static void free_thread(void *value)
{
    struct thread *t = value;
    turns_free(&t->turns);
    free(t->samples.items);
    free(t->clocks.items);
    free(t);
}

void spans_free(struct spans *spans)
{
    if (!spans)
        return;
    for (struct map_walk walk = {.map = &spans->threads}; map_next(&walk);)
        free_thread(walk.value);
    map_free(&spans->threads);
    stays_free(spans->stays);
    free(spans->why);
    free(spans);
}

static struct thread *made_thread(struct spans *spans, uint32_t line)
{
    struct thread *t = spanned_thread(spans, line);
    if (!t)
        map_put(&spans->threads, line, 0, t = memory_zeroed(1, sizeof *t));
    return t;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- filling ---- */

void spans_refused(struct spans *spans, const char *why)
{
    free(spans->why);
    spans->why = memory_copied(why);
}

void spans_lost(struct spans *spans, uint64_t switches) { spans->lost += switches; }

struct stays *spans_stays(struct spans *spans)
{
    return spans->stays = spans->stays ? spans->stays : stays_new();
}

void spans_switched(struct spans *spans, uint32_t line, enum switched what, unsigned cpu,
                    int64_t at_ns)
{
    struct turns *t = &made_thread(spans, line)->turns;
    const struct turn *last = t->count ? &t->items[t->count - 1] : NULL;
    bool full = spans->turns >= SWITCHES_MOST;
    if (full)
        spans->lost++, spans->most = SWITCHES_MOST;
    if ((full && last && last->what == SWITCHED_LOST) || (last && at_ns < last->at_ns))
        return; /* (of each thread one more, so that it is seen where its switches end) */
    turns_add(t, (struct turn){.at_ns = at_ns,
                               .cpu = cpu < TURN_NO_CPU ? (uint16_t)cpu : TURN_NO_CPU,
                               .what = (uint8_t)(full ? SWITCHED_LOST : what)});
    spans->turns++;
    spans->cpus |= cpu < TURN_NO_CPU;
}

static void thin(struct samples *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (i % 2 == 0 || i + 1 == s->count || s->items[i].anew)
            s->items[kept++] = s->items[i];
    s->count = kept;
}

/* NULL: it is too early. */
static struct sample *sample_of(struct samples *s, int64_t at_ns, size_t most_items)
{
    if (s->count >= most_items)
        thin(s);
    struct sample *last = s->count ? &s->items[s->count - 1] : NULL;
    if (last && at_ns <= last->at_ns)
        return at_ns < last->at_ns ? NULL : last;
    struct sample next = {at_ns, last ? last->ran_ns : 0, last ? last->ready_ns : 0, false};
    s->items = grow(s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count] = next;
    return &s->items[s->count++];
}

void spans_told_asleep(struct spans *spans, uint32_t line, uint64_t call, int64_t at_ns)
{
    struct thread *t = made_thread(spans, line);
    t->awake = call == ASLEEP_NOT;
    if (t->awake)
        return; /* (a thread that is killed as it sleeps runs once more, for its end) */
    t->asleep = call < ASLEEP_CALLS ? (unsigned)call : ASLEEP_OTHER;
    t->asleep_ns = at_ns;
}

void spans_stood(struct spans *spans, uint32_t line, bool delay, int64_t at_ns, uint64_t ns,
                 bool last)
{
    struct thread *t = made_thread(spans, line);
    struct samples *all = &t->samples;
    if (ns > INT64_MAX || (t->ended && !last))
        return; /* it is there until somebody has waited for it */
    while (last && all->count && all->items[all->count - 1].at_ns > at_ns)
        all->count--; /* one that was taken meanwhile was told first */
    t->ended |= last;
    struct sample *s = sample_of(all, at_ns, SAMPLES_MOST);
    if (!s)
        return;
    int64_t *stood = delay ? &s->ready_ns : &s->ran_ns;
    *stood = most(*stood, (int64_t)ns);
}

void spans_clocked(struct spans *spans, uint32_t line, int64_t at_ns, uint64_t ran_ns, bool anew)
{
    struct sample *s = ran_ns <= INT64_MAX
                           ? sample_of(&made_thread(spans, line)->clocks, at_ns, CLOCKS_MOST)
                           : NULL;
    if (!s)
        return;
    s->ran_ns = anew ? (int64_t)ran_ns : most(s->ran_ns, (int64_t)ran_ns);
    s->anew = anew;
}
