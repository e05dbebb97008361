/* The allocator, as far as accesses are concerned: memory that is allocated has no accesses yet,
 * and to free it is an access. All calls are passed on. */
#define _GNU_SOURCE
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/races/race_blocks.h"
#include "clients/libpoet/races/race_conflicts.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define HOOK __attribute__((visibility("default")))
#define SITE ((const char *)__builtin_return_address(0) - 1)

/* ---- the real functions ---- */

#define REAL_CALLS(R)                                                                              \
    R(void *, malloc, (size_t))                                                                    \
    R(void *, calloc, (size_t, size_t))                                                            \
    R(void *, realloc, (void *, size_t))                                                           \
    R(void, free, (void *))                                                                        \
    R(int, posix_memalign, (void **, size_t, size_t))                                              \
    R(void *, aligned_alloc, (size_t, size_t))                                                     \
    R(void *, memalign, (size_t, size_t))                                                          \
    R(size_t, malloc_usable_size, (void *))                                                        \
    R(void *, _Znwm, (size_t))                                                                     \
    R(void *, _Znam, (size_t))                                                                     \
    R(void, _ZdlPv, (void *))                                                                      \
    R(void, _ZdaPv, (void *))                                                                      \
    R(void, _ZdlPvm, (void *, size_t))                                                             \
    R(void, _ZdaPvm, (void *, size_t))

static struct {
#define R(type, name, parameters) type(*name) parameters;
    REAL_CALLS(R)
#undef R
} race_heap_real;
static _Atomic int race_heap_state; /* 0: not looked up; 1: a thread does that; 2: done */

/* What is allocated meanwhile, and never freed. */
static _Alignas(16) char race_heap_first[1u << 16];
static _Atomic size_t race_heap_first_used;

static void *race_heap_first_alloc(size_t bytes)
{
    size_t all = (bytes + 31) & ~(size_t)15, /* with its size before it */
        at = atomic_fetch_add(&race_heap_first_used, all);
    if (bytes > sizeof race_heap_first || at + all > sizeof race_heap_first) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(race_heap_first + at, &bytes, sizeof bytes);
    return race_heap_first + at + 16;
}

static bool race_heap_is_first(const void *block)
{
    return (uintptr_t)block - (uintptr_t)race_heap_first < sizeof race_heap_first;
}

static bool race_heap_is_ready(void)
{
    int state = atomic_load_explicit(&race_heap_state, memory_order_acquire), before = 0;
    if (__builtin_expect(state == 2, 1))
        return true;
    if (!atomic_compare_exchange_strong(&race_heap_state, &before, 1))
        return before == 2;
    int saved = errno;
#define R(type, name, parameters) race_heap_real.name = (type(*) parameters)next_call(#name);
    REAL_CALLS(R)
#undef R
    errno = saved;
    atomic_store_explicit(&race_heap_state, 2, memory_order_release);
    return true;
}

/* ---- what it means for accesses ---- */

static void *race_heap_allocated(void *block, const void *site)
{
    struct race_thread *t = race_thread_get();
    if (!block || t->inside || !race_heap_real.malloc_usable_size)
        return block;
    int saved = errno;
    struct race_block b = {.address = (uintptr_t)block,
                           .bytes = race_heap_real.malloc_usable_size(block),
                           .site = site};
    race_thread_interval(t);
    b.thread = t->position.thread;
    b.lifetime = t->position.lifetime;
    if (b.lifetime) {
        access_shadow_clear(b.address, b.bytes);
        race_blocks_add(&b);
    }
    errno = saved;
    return block;
}

static void race_heap_freeing(void *block, const void *site)
{
    struct race_thread *t = race_thread_get();
    if (!block || t->inside || !race_heap_real.malloc_usable_size)
        return;
    int saved = errno;
    race_conflicts_note_free(t, (uintptr_t)block, race_heap_real.malloc_usable_size(block), site);
    race_blocks_free((uintptr_t)block);
    errno = saved;
}

/* ---- whether the program calls these functions ---- */

static _Atomic unsigned race_heap_calls; /* of malloc, while it is tried */
static _Atomic bool race_heap_tries;

__attribute__((constructor)) static void race_heap_try(void)
{
    int saved = errno;
    void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
    void (*release)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
    if (allocate && release) {
        atomic_store(&race_heap_tries, true);
        release(allocate(1));
        atomic_store(&race_heap_tries, false);
        race_blocks_set_unseen(atomic_load(&race_heap_calls) == 0);
    }
    errno = saved;
}

/* ---- C ---- */

HOOK void *malloc(size_t bytes)
{
    if (__builtin_expect(atomic_load_explicit(&race_heap_tries, memory_order_relaxed), 0))
        atomic_fetch_add(&race_heap_calls, 1);
    if (!race_heap_is_ready())
        return race_heap_first_alloc(bytes);
    return race_heap_allocated(race_heap_real.malloc(bytes), SITE);
}

HOOK void *calloc(size_t count, size_t bytes)
{
    if (!race_heap_is_ready())
        return bytes && count > SIZE_MAX / bytes ? NULL : race_heap_first_alloc(count * bytes);
    return race_heap_allocated(race_heap_real.calloc(count, bytes), SITE);
}

HOOK void free(void *block)
{
    if (race_heap_is_first(block) || !race_heap_is_ready())
        return;
    race_heap_freeing(block, SITE);
    race_heap_real.free(block);
}

static void *race_heap_resize(void *block, size_t bytes, const void *site)
{
    if (race_heap_is_first(block) || !race_heap_is_ready()) {
        size_t had = 0;
        if (block)
            memcpy(&had, (char *)block - 16, sizeof had);
        void *larger =
            race_heap_is_ready() ? race_heap_real.malloc(bytes) : race_heap_first_alloc(bytes);
        if (larger && block)
            memcpy(larger, block, had < bytes ? had : bytes);
        return larger;
    }
    if (block)
        race_heap_freeing(block, site);
    void *after = race_heap_real.realloc(block, bytes);
    return race_heap_allocated(after, site);
}

HOOK void *realloc(void *block, size_t bytes) { return race_heap_resize(block, bytes, SITE); }

HOOK void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return race_heap_resize(block, all, SITE);
}

HOOK int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (!race_heap_is_ready())
        return ENOMEM;
    int problem = race_heap_real.posix_memalign(block, alignment, bytes);
    if (!problem)
        race_heap_allocated(*block, SITE);
    return problem;
}

HOOK void *aligned_alloc(size_t alignment, size_t bytes)
{
    return race_heap_is_ready()
               ? race_heap_allocated(race_heap_real.aligned_alloc(alignment, bytes), SITE)
               : NULL;
}

HOOK void *memalign(size_t alignment, size_t bytes)
{
    return race_heap_is_ready()
               ? race_heap_allocated(race_heap_real.memalign(alignment, bytes), SITE)
               : NULL;
}

/* ---- C++: the allocator is called by the library, and the place is that of the program ---- */

#define NEW(name)                                                                                  \
    HOOK void *name(size_t bytes);                                                                 \
    HOOK void *name(size_t bytes)                                                                  \
    {                                                                                              \
        return race_heap_is_ready() && race_heap_real.name                                         \
                   ? race_heap_allocated(race_heap_real.name(bytes), SITE)                         \
                   : malloc(bytes);                                                                \
    }
NEW(_Znwm)
NEW(_Znam)

#define DELETE(name, parameters, arguments)                                                        \
    HOOK void name parameters;                                                                     \
    HOOK void name parameters                                                                      \
    {                                                                                              \
        if (race_heap_is_first(block) || !race_heap_is_ready() || !race_heap_real.name)            \
            return;                                                                                \
        race_heap_freeing(block, SITE);                                                            \
        race_heap_real.name arguments;                                                             \
    }
DELETE(_ZdlPv, (void *block), (block))
DELETE(_ZdaPv, (void *block), (block))
DELETE(_ZdlPvm, (void *block, size_t bytes), (block, bytes))
DELETE(_ZdaPvm, (void *block, size_t bytes), (block, bytes))
