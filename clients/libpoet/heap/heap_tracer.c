/* libpoet-memory: allocations and frees of the program, counted by thread and stack
 * (wire/heap_region.h). `poet record -m memory` loads it; without it these calls are not
 * interposed. It interposes the functions of the C library, or of whichever allocator the program
 * has, and adds nothing to the blocks. Nothing here allocates, makes system calls (except to
 * begin), or waits, and errno is preserved. A child of fork records nothing until it is recorded
 * itself: its parent's page with the state is wiped by the kernel (MADV_WIPEONFORK). Then it begins
 * with a table of its own, without its parent's blocks. */
#define _GNU_SOURCE
#include "base/likely.h"
#include "clients/libpoet/heap/alloc_hooks.h"
#include "clients/libpoet/heap/real_allocator.h"
#include "clients/libpoet/next_symbol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Page with the heap's memory, and whether that was tried: both NULL in children, where the page is
 * wiped. */
static void **heap_tracer_page;
static bool heap_tracer_begun; /* it is known whether anything is counted */

/* Returns the approximate time, without reading a counter: that of the system's clock ticks. */
static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns NULL if nothing must be counted; otherwise the calling thread is inside. */
static inline void *heap_tracer_enter(struct alloc_hook_state *mine)
{
    void **p = __atomic_load_n(&heap_tracer_page, __ATOMIC_RELAXED);
    void *h = p ? *p : NULL;
    if (UNLIKELY(!h))
        return NULL;
    if (UNLIKELY(mine->inside)) {
        if (mine->inside == ALLOC_HOOK_COUNTING)
            heap_block_count_unseen(h);
        return NULL;
    }
    mine->inside = ALLOC_HOOK_COUNTING;
    atomic_signal_fence(memory_order_seq_cst);
    return h;
}

static inline void heap_tracer_leave(struct alloc_hook_state *mine)
{
    atomic_signal_fence(memory_order_seq_cst);
    mine->inside = ALLOC_HOOK_OUTSIDE;
}

static void *heap_tracer_begin_again(struct alloc_hook_state *mine);

void *alloc_hook_allocated(void *block, size_t bytes, enum heap_kind kind, const uintptr_t *frame)
{
    struct alloc_hook_state *mine = &alloc_hook_thread;
    void *h = block ? heap_tracer_enter(mine) : NULL;
    if (UNLIKELY(!h)) {
        if (UNLIKELY(!heap_tracer_begun) && !mine->inside)
            early_alloc_add(block, bytes, kind);
        h = block && heap_tracer_page && !*heap_tracer_page && !heap_tracer_page[1] && !mine->inside
                ? heap_tracer_begin_again(mine)
                : NULL;
        if (!h)
            return block;
    }
    struct poet_heap_where where = poet_heap_where();
    struct heap_caller by = {.event = where.event, .thread = where.thread, .now_ns = now_ns()};
    by.node = stack_unwind_find_node(h, &mine->walk, where, frame);
    size_t usable =
        real_functions.malloc_usable_size ? real_functions.malloc_usable_size(block) : bytes;
    heap_block_add(h, &mine->blocks, &by, block, bytes, usable, kind);
    heap_tracer_leave(mine);
    return block;
}

static enum heap_fault heap_tracer_mismatch_fault(enum heap_kind taken, enum heap_kind given)
{
    return taken == HEAP_MALLOC   ? HEAP_MALLOC_DELETE
           : given == HEAP_MALLOC ? HEAP_NEW_FREE
                                  : HEAP_NEW_ARRAY;
}

/* Preserves errno, with signals blocked: what is recorded here is rare. */
static __attribute__((noinline, cold)) void
heap_tracer_report_bad_free(void *heap, const void *block, enum heap_kind kind,
                            const struct freed_block *was, const uintptr_t *frame)
{
    int saved = errno;
    enum heap_fault fault = was->known ? heap_tracer_mismatch_fault(was->kind, kind)
                                       : invalid_free_classify(heap, block, was, frame);
    alloc_hook_thread.inside = ALLOC_HOOK_LIBPOET;
    if (fault != HEAP_FAULTS)
        invalid_free_report(heap, poet_heap_where(), fault, block, was, frame);
    else
        heap_block_count_unknown(heap);
    errno = saved;
}

static __attribute__((noinline)) void
heap_tracer_free_null(void *heap, struct alloc_hook_state *mine, const uintptr_t *frame)
{
    if (invalid_free_is_library_call(frame))
        return;
    struct poet_heap_where where = poet_heap_where();
    struct heap_caller by = {.thread = where.thread};
    by.node = stack_unwind_find_node(heap, &mine->walk, where, frame);
    if (!heap_block_free_null(heap, &mine->blocks, &by))
        return;
    int saved = errno;
    mine->inside = ALLOC_HOOK_LIBPOET;
    invalid_free_report(heap, where, HEAP_NULL, NULL, &(struct freed_block){.known = false}, frame);
    errno = saved;
}

static inline void heap_tracer_free_block(void *heap, struct alloc_hook_state *mine,
                                          const void *block, enum heap_kind kind,
                                          const uintptr_t *frame, struct freed_block *wanted)
{
    struct freed_block was, *into = wanted ? wanted : &was;
    if (UNLIKELY(!heap_block_remove(heap, &mine->blocks, poet_heap_thread(), frame[1] - 1, block,
                                    kind, wanted != NULL, into)))
        heap_tracer_report_bad_free(heap, block, kind, into, frame);
}

void alloc_hook_freed(const void *block, enum heap_kind kind, const uintptr_t *frame,
                      struct freed_block *was)
{
    struct alloc_hook_state *mine = &alloc_hook_thread;
    void *h = heap_tracer_enter(mine);
    if (UNLIKELY(!h)) {
        if (UNLIKELY(!heap_tracer_begun))
            early_alloc_remove(block);
        return;
    }
    if (LIKELY(block))
        heap_tracer_free_block(h, mine, block, kind, frame, was);
    else
        heap_tracer_free_null(h, mine, frame);
    heap_tracer_leave(mine);
}

void alloc_hook_restored(const struct freed_block *was, const uintptr_t *frame)
{
    struct alloc_hook_state *mine = &alloc_hook_thread;
    void *h = heap_tracer_enter(mine);
    if (!h)
        return;
    struct poet_heap_where where = poet_heap_where();
    struct heap_caller by = {.thread = where.thread, .now_ns = now_ns()};
    heap_block_restore(h, &mine->blocks, &by, was);
    heap_tracer_leave(mine);
}

void alloc_hook_moving(void) { alloc_hook_thread.blocks.last = 0; }

/* ---- the beginning ---- */

static void heap_tracer_add_early(void *heap)
{
    struct heap_caller by = {.node = HEAP_NODE_EARLY, .now_ns = now_ns()};
    for (uint32_t i = 0; i < early_alloc_count(); i++) {
        size_t bytes;
        enum heap_kind kind;
        const void *block = early_alloc_get(i, &bytes, &kind);
        heap_block_add(heap, &alloc_hook_thread.blocks, &by, block, bytes, bytes, kind);
    }
}

#define SPACE_SHARE 8u /* share of the address space limit that blocks may use */

/* The program's threads need address space, too. */
static uint32_t heap_tracer_group_count(void)
{
    uint32_t groups = HEAP_GROUPS;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        while (groups > HEAP_GROUPS_LEAST &&
               HEAP_BYTES_OF(groups) - HEAP_BLOCKS_AT > space.rlim_cur / SPACE_SHARE)
            groups /= 2;
    return groups;
}

static void *heap_tracer_create(int fd, bool again)
{
    void *h = MAP_FAILED;
    uint32_t groups = heap_tracer_group_count();
    size_t bytes = HEAP_BYTES_OF(groups);
    if (ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        h = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (h == MAP_FAILED)
        return NULL;
    heap_block_begin(h, groups, now_ns());
    ((struct heap_head *)h)->own_malloc = !next_is_ours(next_in(RTLD_DEFAULT, "malloc"));
    if (!again)
        heap_tracer_add_early(h);
    if (madvise(h, bytes, MADV_DONTFORK) == 0 && poet_heap_begin(fd))
        return h;
    munmap(h, bytes);
    return NULL;
}

/* Returns NULL if no server could read it. */
static void *heap_tracer_create_shared(bool again)
{
    int low = memfd_create("poet-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int fd = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, 3) : -1; /* 0 to 2 belong to the program */
    if (low >= 0)
        close(low);
    void *h = fd >= 0 ? heap_tracer_create(fd, again) : NULL;
    if (fd >= 0)
        close(fd);
    return h;
}

/* Called in a child, once it is recorded: not by its first calls after a fork, which may be all
 * before exec. */
static __attribute__((noinline, cold)) void *heap_tracer_begin_again(struct alloc_hook_state *mine)
{
    struct poet_heap_where where = poet_heap_where();
    if (!where.thread || !where.records ||
        __atomic_exchange_n(&heap_tracer_page[1], heap_tracer_page, __ATOMIC_ACQ_REL))
        return NULL;
    int saved = errno;
    *mine = (struct alloc_hook_state){.inside = ALLOC_HOOK_LIBPOET};
    invalid_free_forked();
    void *h = heap_tracer_create_shared(true);
    __atomic_store_n(heap_tracer_page, h, __ATOMIC_RELEASE);
    mine->inside = h ? ALLOC_HOOK_COUNTING : ALLOC_HOOK_OUTSIDE;
    errno = saved;
    return h;
}

/* Returns whether the list contains MEMORY's name. */
static bool heap_tracer_is_wanted(const char *list)
{
    for (; list && *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == 6 && strncmp(list, "memory", 6) == 0)
            return true;
    return false;
}

static void heap_tracer_begin(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void **p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return;
    stack_unwind_begin();
    *p = madvise(p, bytes, MADV_WIPEONFORK) == 0 ? heap_tracer_create_shared(false) : NULL;
    p[1] = p;
    if (*p)
        invalid_free_begin();
    if (*p)
        __atomic_store_n(&heap_tracer_page, p, __ATOMIC_RELEASE);
    else
        munmap(p, bytes);
}

__attribute__((constructor)) static void heap_tracer_start(void)
{
    int saved = errno;
    real_allocator_ready();
    alloc_hook_thread.inside = ALLOC_HOOK_LIBPOET;
    if (heap_tracer_is_wanted(getenv("POET_MEASURE")))
        heap_tracer_begin();
    heap_tracer_begun = true;
    alloc_hook_thread.inside = ALLOC_HOOK_OUTSIDE;
    errno = saved;
}
