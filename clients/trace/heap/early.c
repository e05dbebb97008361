#include "clients/trace/heap/counting.h"

static struct {
    const void *block;
    size_t bytes;
    enum heap_kind kind;
} early[EARLY_MOST];
static uint32_t count, missed;
static char
    busy; /* there is hardly more than one thread by then: who finds it taken does without */

static bool take(void)
{
    bool free = !__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE);
    if (!free)
        __atomic_fetch_add(&missed, 1, __ATOMIC_RELAXED);
    return free;
}

static void leave(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

void early_taken(const void *block, size_t bytes, enum heap_kind kind)
{
    if (!block || !take())
        return;
    if (count < EARLY_MOST) {
        early[count].block = block;
        early[count].kind = kind;
        early[count++].bytes = bytes;
    } else {
        missed++;
    }
    leave();
}

bool early_given(const void *block)
{
    bool found = false;
    if (!block || !take())
        return false;
    for (uint32_t i = count; i-- > 0 && !found;)
        if (early[i].block == block) {
            early[i] = early[--count];
            found = true;
        }
    leave();
    return found;
}

uint32_t early_count(void) { return count; }

const void *early_at(uint32_t i, size_t *bytes, enum heap_kind *kind)
{
    *bytes = early[i].bytes;
    *kind = early[i].kind;
    return early[i].block;
}

bool early_all(void) { return !__atomic_load_n(&missed, __ATOMIC_RELAXED); }
