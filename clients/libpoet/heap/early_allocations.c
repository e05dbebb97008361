/* Blocks that are allocated before counting begins. */
#include "clients/libpoet/heap/alloc_hooks.h"

static struct {
    const void *block;
    size_t bytes;
    enum heap_kind kind;
} early[EARLY_MOST];
static uint32_t count, early_alloc_missed;
/* there is hardly more than one thread by then: one that finds it locked does without */
static char early_alloc_busy;

static bool early_alloc_try_lock(void)
{
    bool free = !__atomic_test_and_set(&early_alloc_busy, __ATOMIC_ACQUIRE);
    if (!free)
        __atomic_fetch_add(&early_alloc_missed, 1, __ATOMIC_RELAXED);
    return free;
}

static void early_alloc_unlock(void) { __atomic_clear(&early_alloc_busy, __ATOMIC_RELEASE); }

void early_alloc_add(const void *block, size_t bytes, enum heap_kind kind)
{
    if (!block || !early_alloc_try_lock())
        return;
    if (count < EARLY_MOST) {
        early[count].block = block;
        early[count].kind = kind;
        early[count++].bytes = bytes;
    } else {
        early_alloc_missed++;
    }
    early_alloc_unlock();
}

bool early_alloc_remove(const void *block)
{
    bool found = false;
    if (!block || !early_alloc_try_lock())
        return false;
    for (uint32_t i = count; i-- > 0 && !found;)
        if (early[i].block == block) {
            early[i] = early[--count];
            found = true;
        }
    early_alloc_unlock();
    return found;
}

uint32_t early_alloc_count(void) { return count; }

const void *early_alloc_get(uint32_t i, size_t *bytes, enum heap_kind *kind)
{
    *bytes = early[i].bytes;
    *kind = early[i].kind;
    return early[i].block;
}

bool early_alloc_is_complete(void)
{
    return !__atomic_load_n(&early_alloc_missed, __ATOMIC_RELAXED);
}
