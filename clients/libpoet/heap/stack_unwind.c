#define _GNU_SOURCE
#include "base/likely.h"
#include "clients/libpoet/heap/stack_unwind.h"

#include "clients/libpoet/heap/heap_blocks.h"
#include "clients/libpoet/return_address.h"
#include "clients/libpoet/unwind/stack_walk.h"

#include <dlfcn.h>
#include <link.h>

static struct first_stack stack_unwind_first;

/* ---- allocations of the C library and the loader themselves ---- */

static struct {
    uintptr_t from, bytes;
} loader, buffers; /* and how many bytes; buffers: of streams, until they are closed */

static inline bool stack_unwind_is_own(uintptr_t site)
{
    return site - loader.from < loader.bytes || site - buffers.from < buffers.bytes;
}

static void stack_unwind_find_own(void)
{
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    void *allocate = dlsym(RTLD_DEFAULT, "_IO_file_doallocate");
    if (allocate && dladdr1(allocate, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol) {
        buffers.from = (uintptr_t)info.dli_saddr;
        buffers.bytes = symbol->st_size;
    }
    loader.from =
        unwind_rule_module((uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr"), &loader.bytes);
}

void stack_unwind_begin(void)
{
    stack_unwind_find_own();
    unwind_return_places.from = (uintptr_t)poet_return_places(&unwind_return_places.bytes);
    stack_unwind_first = stack_walk_first();
}

/* ---- up the stack ---- */

/* Call sites of a walk, innermost first: those that differ from the last walk. */
struct stack_walk {
    struct unwind_position at[HEAP_DEPTH];
    const uintptr_t *saved[HEAP_DEPTH];
    uint32_t count;
    uint32_t same; /* number of unchanged call sites above them, from the outermost one on */
    enum heap_node_kind end;
};

static inline bool stack_unwind_is_same(const struct unwind_position *a,
                                        const struct unwind_position *b)
{
    return a->site == b->site && a->stack == b->stack && a->frame == b->frame;
}

static inline void stack_unwind_walk(struct stack_walk *w, const struct stack_unwind_cache *mine,
                                     struct poet_heap_where where, const uintptr_t *frame)
{
    struct unwind_position at = {frame[1] - 1, (uintptr_t)(frame + 2), frame[0]};
    uintptr_t known_end = LIKELY(!where.stacks) ? 0 : poet_heap_stack_end(at.stack);
    uintptr_t end = known_end ? known_end : stack_walk_end(&stack_unwind_first, at.stack);
    uint32_t before = end && mine->end == HEAP_NODE_WHOLE ? mine->count : 0;
    bool whole = false;
    w->count = w->same = 0;
    do {
        while (before && mine->at[before - 1].stack < at.stack)
            before--;
        if (before && stack_unwind_is_same(&mine->at[before - 1], &at) &&
            before + w->count <= HEAP_DEPTH) {
            if (LIKELY(stack_unwind_is_above(mine, before - 1))) {
                w->same = before;
                w->end = HEAP_NODE_WHOLE;
                return;
            }
            before = 0;
        }
        if (w->count == HEAP_DEPTH) {
            w->end = HEAP_NODE_CUT;
            return;
        }
        w->at[w->count] = at;
    } while (end ? stack_walk_step(&at, &w->saved[w->count++], end, known_end, &whole)
                 : (w->count++, false));
    w->end = whole ? HEAP_NODE_WHOLE : HEAP_NODE_UNKNOWN;
}

/* Walks down again from where the stack is unchanged. */
static inline uint32_t stack_unwind_node(void *heap, struct stack_unwind_cache *mine,
                                         const struct stack_walk *w)
{
    uint32_t n = w->same + w->count, node = w->same ? mine->node[w->same - 1] : (uint32_t)w->end;
    for (uint32_t i = w->same, k = w->count; i < n; i++) {
        k--;
        node = heap_counter_find_node(heap, node, w->at[k].site);
        mine->at[i] = w->at[k];
        mine->saved[i] = i && !w->saved[k] ? &mine->at[i - 1].frame : w->saved[k];
        mine->node[i] = node;
    }
    mine->count = n;
    mine->end = w->end;
    return node;
}

/* ---- from the calls that the thread measures ---- */

static __attribute__((noinline)) uint32_t stack_unwind_node_of_calls(void *heap, uint64_t context,
                                                                     uint64_t site)
{
    uint64_t calls[HEAP_DEPTH - 1];
    uint32_t n = poet_heap_calls(context, calls, HEAP_DEPTH - 1);
    uint32_t node = HEAP_NODE_CALLS;
    while (n > 0)
        node = heap_counter_find_node(heap, node, calls[--n]);
    return heap_counter_find_node(heap, node, site);
}

/* Called if the stack cannot be unwound; returns 0 if nothing is known of its calls either. */
static __attribute__((noinline)) uint32_t
stack_unwind_profile_node(void *heap, struct stack_unwind_cache *mine, uint64_t site)
{
    uint64_t context = poet_heap_context();
    uint32_t k = (uint32_t)(site ^ site >> 8 ^ context * 7) % STACK_UNWIND_CACHED;
    if (!context)
        return 0;
    if (mine->known[k].site == site && mine->known[k].context == context)
        return mine->known[k].node;
    mine->known[k].site = site;
    mine->known[k].context = context;
    return mine->known[k].node = stack_unwind_node_of_calls(heap, context, site);
}

uint32_t stack_unwind_new_node(void *heap, struct stack_unwind_cache *mine,
                               struct poet_heap_where where, const uintptr_t *frame)
{
    if (UNLIKELY(stack_unwind_is_own(frame[1] - 1)))
        return heap_counter_find_node(heap, HEAP_NODE_OWN, frame[1] - 1);
    struct stack_walk w;
    stack_unwind_walk(&w, mine, where, frame);
    bool whole = w.end != HEAP_NODE_UNKNOWN || w.count > 1;
    uint32_t node =
        LIKELY(whole || !where.measures) ? 0 : stack_unwind_profile_node(heap, mine, frame[1] - 1);
    return node ? node : stack_unwind_node(heap, mine, &w);
}
