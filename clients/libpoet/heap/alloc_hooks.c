/* libpoet-memory: allocations and frees of the program, counted by thread and stack
 * (wire/heap_region.h). `poet record -m memory` loads it; without it these calls are not
 * interposed. It interposes the functions of the C library, or of whichever allocator the program
 * has, and adds nothing to the blocks. Nothing here allocates, makes system calls (except to
 * begin), or waits, and errno is preserved. A child of fork records nothing until it is recorded
 * itself: its parent's page with the state is wiped by the kernel (MADV_WIPEONFORK). Then it begins
 * with a table of its own, without its parent's blocks. */
#define _GNU_SOURCE
#include "clients/libpoet/heap/alloc_hooks.h"

#include "base/clock.h"
#include "base/likely.h"
#include "clients/libpoet/unwind/unwind_rules.h"
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/poet.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Here, since looking up the allocator comes before all that its calls do. */
__thread struct alloc_hook_state alloc_hook_thread;

struct allocator_functions real_functions;
bool real_found;

/* Returns the function that the program finds by that name, and sets *base to where its module is;
 * NULL: none. In a program that is not position-independent that name may be the program's way to
 * the function (a PLT entry), which leads here: it defines none. */
static void *real_allocator_find_defined(const char *name, void **base)
{
    Dl_info in;
    void *found = next_in(RTLD_DEFAULT, name), *entry = NULL;
    if (!found || !dladdr1(found, &in, &entry, RTLD_DL_SYMENT) || !entry)
        return NULL;
    const ElfW(Sym) *symbol = entry;
    if (symbol->st_shndx == SHN_UNDEF)
        return NULL;
    *base = in.dli_fbase;
    return found;
}

/* If the program defines malloc itself, the operators new and delete of the C++ library use that:
 * those of this library must, too, as free does not know the blocks of another heap. Functions that
 * the program's allocator lacks are not used. */
static void real_allocator_find_own(void)
{
    void *base, *other, *own = real_allocator_find_defined("malloc", &base);
    if (!own || next_is_ours(own) || own == (void *)real_functions.malloc)
        return;
#define OWN(name)                                                                                  \
    own = real_allocator_find_defined(#name, &other);                                              \
    *(void **)&real_functions.name = own && other == base ? own : NULL;
    OWN(malloc)
    OWN(posix_memalign)
    OWN(malloc_usable_size)
#undef OWN
    own = real_allocator_find_defined("free", &other);
    *(void **)&real_functions.free = own ? own : (void *)real_functions.free;
}

/* Returns whether the program has a malloc of its own, which is found before this library's. */
static bool real_allocator_is_own(void)
{
    void *base, *own = real_allocator_find_defined("malloc", &base);
    return own && !next_is_ours(own);
}

bool real_allocator_find(void)
{
    if (alloc_hook_thread.inside)
        return false;
    alloc_hook_thread.inside = ALLOC_HOOK_LIBPOET;
#define C(result, name, parameters) *(void **)&real_functions.name = next_call(#name);
    REAL_CALLS(C)
#undef C
    real_allocator_find_own();
    alloc_hook_thread.inside = ALLOC_HOOK_OUTSIDE;
    __atomic_store_n(&real_found, true, __ATOMIC_RELEASE);
    return true;
}

#define FIRST_BYTES 16384u
static _Alignas(16) char first[FIRST_BYTES];
static size_t first_used;

void *real_allocator_first_alloc(size_t bytes)
{
    size_t at = __atomic_fetch_add(&first_used, (bytes + 31) / 16 * 16, __ATOMIC_SEQ_CST);
    if (bytes > FIRST_BYTES || at + bytes + 16 > FIRST_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(first + at, &bytes, sizeof bytes);
    return first + at + 16;
}

bool real_allocator_is_first(const void *block)
{
    return (uintptr_t)block - (uintptr_t)first < FIRST_BYTES;
}

size_t real_allocator_first_bytes(const void *block)
{
    size_t bytes;
    memcpy(&bytes, (const char *)block - 16, sizeof bytes);
    return bytes;
}

/* ---- blocks that are allocated and freed before counting begins, known up to a number ---- */

#define EARLY_MOST 4096u

static struct {
    const void *block;
    size_t bytes;
    enum heap_kind kind;
} early[EARLY_MOST];
static uint32_t early_count, early_alloc_missed;
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

static void early_alloc_add(const void *block, size_t bytes, enum heap_kind kind)
{
    if (!block || !early_alloc_try_lock())
        return;
    if (early_count < EARLY_MOST) {
        early[early_count].block = block;
        early[early_count].kind = kind;
        early[early_count++].bytes = bytes;
    } else {
        early_alloc_missed++;
    }
    early_alloc_unlock();
}

static bool early_alloc_remove(const void *block)
{
    bool found = false;
    if (!block || !early_alloc_try_lock())
        return false;
    for (uint32_t i = early_count; i-- > 0 && !found;)
        if (early[i].block == block) {
            early[i] = early[--early_count];
            found = true;
        }
    early_alloc_unlock();
    return found;
}

static uint32_t early_alloc_count(void) { return early_count; }

static const void *early_alloc_get(uint32_t i, size_t *bytes, enum heap_kind *kind)
{
    *bytes = early[i].bytes;
    *kind = early[i].kind;
    return early[i].block;
}

/* Returns whether none was missed. */
static bool early_alloc_is_complete(void)
{
    return !__atomic_load_n(&early_alloc_missed, __ATOMIC_RELAXED);
}

/* ---- invalid frees, recorded as events ---- */

static poet_type_t invalid_free_types[HEAP_FAULTS];
static uintptr_t invalid_free_library, invalid_free_library_bytes;
static uintptr_t invalid_free_loader, invalid_free_loader_bytes;

/* Must be called before any other. */
static void invalid_free_begin(void)
{
    static const char *const names[HEAP_FAULTS] = {[HEAP_TWICE] = "double_free",
                                                   [HEAP_NO_BLOCK] = "invalid_free",
                                                   [HEAP_NEVER] = "invalid_free",
                                                   [HEAP_MALLOC_DELETE] = "mismatched_free",
                                                   [HEAP_NEW_FREE] = "mismatched_free",
                                                   [HEAP_NEW_ARRAY] = "mismatched_free",
                                                   [HEAP_NULL] = "free_null"};
    poet_environment("memory");
    for (unsigned i = 0; i < HEAP_FAULTS; i++)
        invalid_free_types[i] = poet_type(names[i], NULL);
    invalid_free_library =
        unwind_rule_module((uintptr_t)dlsym(RTLD_DEFAULT, "abort"), &invalid_free_library_bytes);
    invalid_free_loader = unwind_rule_module((uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr"),
                                             &invalid_free_loader_bytes);
}

static bool invalid_free_is_child;

/* Called in a child: the parent's blocks are not known. */
static void invalid_free_forked(void) { invalid_free_is_child = true; }

/* Returns whether the call was made by the C library or the loader, which free memory in ways that
 * are not interposed. */
static bool invalid_free_is_library_call(const uintptr_t *frame)
{
    uintptr_t site = frame[1] - 1;
    return site - invalid_free_library < invalid_free_library_bytes ||
           site - invalid_free_loader < invalid_free_loader_bytes;
}

/* Returns the enum heap_fault of an address that is not a block, or HEAP_FAULTS: it may have been
 * one. A block that was allocated unnoticed, or by a parent before a fork, cannot be
 * distinguished from an invalid address. */
static enum heap_fault invalid_free_classify(void *heap, const void *block,
                                             const struct freed_block *was, const uintptr_t *frame)
{
    const struct heap_head *head = heap;
    if (was->before)
        return HEAP_TWICE;
    if ((uintptr_t)block % sizeof(void *) != 0)
        return HEAP_NO_BLOCK;
    if (!invalid_free_library || invalid_free_is_child || !early_alloc_is_complete() ||
        atomic_load(&head->unseen) || invalid_free_is_library_call(frame))
        return HEAP_FAULTS;
    return HEAP_NEVER;
}

/* Records an invalid free, with its stack; `was` as found by heap_block_remove(). */
static void invalid_free_report(void *heap, struct poet_heap_where where, enum heap_fault fault,
                                const void *block, const struct freed_block *was,
                                const uintptr_t *frame)
{
    struct heap_bad bad = {.address = (uintptr_t)block,
                           .site = frame[1] - 1,
                           .before = was->before,
                           .thread = where.thread,
                           .fault = fault};
    bad.node = stack_unwind_find_node(heap, &alloc_hook_thread.walk, where, frame);
    if (where.records && invalid_free_types[fault]) {
        poet_event_t event = poet_record(&(poet_record_t){.type = invalid_free_types[fault],
                                                          .site = (const char *)0 + bad.site});
        bad.event = event.line == where.thread ? event.number : 0;
    }
    heap_block_add_bad(heap, &bad);
}

/* ---- counting ---- */

/* Page with the heap's memory, and whether that was tried: both NULL in children, where the page is
 * wiped. */
static void **alloc_hook_page;
static bool alloc_hook_begun; /* it is known whether anything is counted */

/* Returns the approximate time, without reading a counter: that of the system's clock ticks. */
static uint64_t now_ns(void) { return clock_read_ns(CLOCK_MONOTONIC_COARSE); }

/* Returns NULL if nothing must be counted; otherwise the calling thread is inside. */
static inline void *alloc_hook_enter(struct alloc_hook_state *mine)
{
    void **p = __atomic_load_n(&alloc_hook_page, __ATOMIC_RELAXED);
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

static inline void alloc_hook_leave(struct alloc_hook_state *mine)
{
    atomic_signal_fence(memory_order_seq_cst);
    mine->inside = ALLOC_HOOK_OUTSIDE;
}

static void *alloc_hook_begin_again(struct alloc_hook_state *mine);

void *alloc_hook_allocated(void *block, size_t bytes, enum heap_kind kind, const uintptr_t *frame)
{
    struct alloc_hook_state *mine = &alloc_hook_thread;
    void *h = block ? alloc_hook_enter(mine) : NULL;
    if (UNLIKELY(!h)) {
        if (UNLIKELY(!alloc_hook_begun) && !mine->inside)
            early_alloc_add(block, bytes, kind);
        h = block && alloc_hook_page && !*alloc_hook_page && !alloc_hook_page[1] && !mine->inside
                ? alloc_hook_begin_again(mine)
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
    alloc_hook_leave(mine);
    return block;
}

static enum heap_fault alloc_hook_mismatch_fault(enum heap_kind taken, enum heap_kind given)
{
    return taken == HEAP_MALLOC   ? HEAP_MALLOC_DELETE
           : given == HEAP_MALLOC ? HEAP_NEW_FREE
                                  : HEAP_NEW_ARRAY;
}

/* Preserves errno, with signals blocked: what is recorded here is rare. */
static __attribute__((noinline, cold)) void
alloc_hook_report_bad_free(void *heap, const void *block, enum heap_kind kind,
                           const struct freed_block *was, const uintptr_t *frame)
{
    int saved = errno;
    enum heap_fault fault = was->known ? alloc_hook_mismatch_fault(was->kind, kind)
                                       : invalid_free_classify(heap, block, was, frame);
    alloc_hook_thread.inside = ALLOC_HOOK_LIBPOET;
    if (fault != HEAP_FAULTS)
        invalid_free_report(heap, poet_heap_where(), fault, block, was, frame);
    else
        heap_block_count_unknown(heap);
    errno = saved;
}

static __attribute__((noinline)) void
alloc_hook_free_null(void *heap, struct alloc_hook_state *mine, const uintptr_t *frame)
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

static inline void alloc_hook_free_block(void *heap, struct alloc_hook_state *mine,
                                         const void *block, enum heap_kind kind,
                                         const uintptr_t *frame, struct freed_block *wanted)
{
    struct freed_block was, *into = wanted ? wanted : &was;
    if (UNLIKELY(!heap_block_remove(heap, &mine->blocks, poet_heap_thread(), frame[1] - 1, block,
                                    kind, wanted != NULL, into)))
        alloc_hook_report_bad_free(heap, block, kind, into, frame);
}

void alloc_hook_freed(const void *block, enum heap_kind kind, const uintptr_t *frame,
                      struct freed_block *was)
{
    struct alloc_hook_state *mine = &alloc_hook_thread;
    void *h = alloc_hook_enter(mine);
    if (UNLIKELY(!h)) {
        if (UNLIKELY(!alloc_hook_begun))
            early_alloc_remove(block);
        return;
    }
    if (LIKELY(block))
        alloc_hook_free_block(h, mine, block, kind, frame, was);
    else
        alloc_hook_free_null(h, mine, frame);
    alloc_hook_leave(mine);
}

void alloc_hook_restored(const struct freed_block *was, const uintptr_t *frame)
{
    struct alloc_hook_state *mine = &alloc_hook_thread;
    void *h = alloc_hook_enter(mine);
    if (!h)
        return;
    struct poet_heap_where where = poet_heap_where();
    struct heap_caller by = {.thread = where.thread, .now_ns = now_ns()};
    heap_block_restore(h, &mine->blocks, &by, was);
    alloc_hook_leave(mine);
}

void alloc_hook_moving(void) { alloc_hook_thread.blocks.last = 0; }

/* ---- the beginning ---- */

static void alloc_hook_add_early(void *heap)
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
static uint32_t alloc_hook_group_count(void)
{
    uint32_t groups = HEAP_GROUPS;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        while (groups > HEAP_GROUPS_LEAST &&
               HEAP_BYTES_OF(groups) - HEAP_BLOCKS_AT > space.rlim_cur / SPACE_SHARE)
            groups /= 2;
    return groups;
}

static void *alloc_hook_create(int fd, bool again)
{
    void *h = MAP_FAILED;
    uint32_t groups = alloc_hook_group_count();
    size_t bytes = HEAP_BYTES_OF(groups);
    if (ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        h = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (h == MAP_FAILED)
        return NULL;
    heap_block_begin(h, groups, now_ns());
    ((struct heap_head *)h)->own_malloc = real_allocator_is_own();
    if (!again)
        alloc_hook_add_early(h);
    if (madvise(h, bytes, MADV_DONTFORK) == 0 && poet_heap_begin(fd))
        return h;
    munmap(h, bytes);
    return NULL;
}

/* Returns NULL if no server could read it. */
static void *alloc_hook_create_shared(bool again)
{
    int low = memfd_create("poet-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int fd = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, 3) : -1; /* 0 to 2 belong to the program */
    if (low >= 0)
        close(low);
    void *h = fd >= 0 ? alloc_hook_create(fd, again) : NULL;
    if (fd >= 0)
        close(fd);
    return h;
}

/* Called in a child, once it is recorded: not by its first calls after a fork, which may be all
 * before exec. */
static __attribute__((noinline, cold)) void *alloc_hook_begin_again(struct alloc_hook_state *mine)
{
    struct poet_heap_where where = poet_heap_where();
    if (!where.thread || !where.records ||
        __atomic_exchange_n(&alloc_hook_page[1], alloc_hook_page, __ATOMIC_ACQ_REL))
        return NULL;
    int saved = errno;
    *mine = (struct alloc_hook_state){.inside = ALLOC_HOOK_LIBPOET};
    invalid_free_forked();
    void *h = alloc_hook_create_shared(true);
    __atomic_store_n(alloc_hook_page, h, __ATOMIC_RELEASE);
    mine->inside = h ? ALLOC_HOOK_COUNTING : ALLOC_HOOK_OUTSIDE;
    errno = saved;
    return h;
}

/* Returns whether the list contains MEMORY's name. */
static bool alloc_hook_is_wanted(const char *list)
{
    for (; list && *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == 6 && strncmp(list, "memory", 6) == 0)
            return true;
    return false;
}

static void alloc_hook_begin(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void **p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return;
    stack_unwind_begin();
    *p = madvise(p, bytes, MADV_WIPEONFORK) == 0 ? alloc_hook_create_shared(false) : NULL;
    p[1] = p;
    if (*p)
        invalid_free_begin();
    if (*p)
        __atomic_store_n(&alloc_hook_page, p, __ATOMIC_RELEASE);
    else
        munmap(p, bytes);
}

__attribute__((constructor)) static void alloc_hook_start(void)
{
    int saved = errno;
    real_allocator_ready();
    alloc_hook_thread.inside = ALLOC_HOOK_LIBPOET;
    if (alloc_hook_is_wanted(getenv("POET_MEASURE")))
        alloc_hook_begin();
    alloc_hook_begun = true;
    alloc_hook_thread.inside = ALLOC_HOOK_OUTSIDE;
    errno = saved;
}
