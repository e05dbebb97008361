/* libpoet-memory: what the program takes from its heap and gives back, counted by thread and stack (wire/heap.h).
 *
 * `poet record -m memory` loads it; without it nothing stands before these calls.  It stands before those of the C
 * library, or of whatever allocator the program has, and adds nothing to the blocks.  What is here allocates nothing,
 * calls no system but to begin, waits for nobody, and keeps errno.  A child of fork has none of it until it is recorded
 * itself: the page that says so is wiped by the kernel.  Then it begins with a table of its own, which knows nothing of
 * its parent's blocks. */
#define _GNU_SOURCE
#include "clients/trace/heap/counting.h"
#include "clients/trace/heap/real.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LIKELY(is) __builtin_expect(!!(is), 1)

/* On it the heap's memory, and whether that was tried: both NULL in children, where the page is wiped. */
static void **page;
static bool begun; /* it is known whether anything is counted */

/* About, and without a look at a counter: those of the system's clock ticks. */
static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* NULL: it is not to be counted; else the calling thread is inside. */
static inline void *enter(struct counting *mine)
{
    void **p = __atomic_load_n(&page, __ATOMIC_RELAXED);
    void *h = p ? *p : NULL;
    if (!LIKELY(h != NULL))
        return NULL;
    if (!LIKELY(!mine->inside)) {
        if (mine->inside == COUNTING_NOW)
            blocks_unseen(h);
        return NULL;
    }
    mine->inside = COUNTING_NOW;
    atomic_signal_fence(memory_order_seq_cst);
    return h;
}

static inline void leave(struct counting *mine)
{
    atomic_signal_fence(memory_order_seq_cst);
    mine->inside = COUNTING_NOT;
}

static void *begin_again(struct counting *mine);

void *counting_taken(void *block, size_t bytes, enum heap_kind kind, const uintptr_t *frame)
{
    struct counting *mine = &counting_mine;
    void *h = block ? enter(mine) : NULL;
    if (!LIKELY(h != NULL)) {
        if (!LIKELY(begun) && !mine->inside)
            early_taken(block, bytes, kind);
        h = block && page && !*page && !page[1] && !mine->inside ? begin_again(mine) : NULL;
        if (!h)
            return block;
    }
    struct poet_heap_where where = poet_heap_where();
    struct heap_caller by = {.event = where.event, .thread = where.thread, .now_ns = now_ns()};
    by.node = walk_node(h, &mine->walk, where, frame);
    size_t usable = real.malloc_usable_size ? real.malloc_usable_size(block) : bytes;
    blocks_taken(h, &mine->blocks, &by, block, bytes, usable, kind);
    leave(mine);
    return block;
}

static enum heap_fault mismatch(enum heap_kind taken, enum heap_kind given)
{
    return taken == HEAP_MALLOC   ? HEAP_MALLOC_DELETE
           : given == HEAP_MALLOC ? HEAP_NEW_FREE
                                  : HEAP_NEW_ARRAY;
}

/* No signal's errno, no handler: what is written down here is rare. */
static __attribute__((noinline, cold)) void judge(void *heap, const void *block,
                                                  enum heap_kind kind, const struct heap_was *was,
                                                  const uintptr_t *frame)
{
    int saved = errno;
    enum heap_fault fault =
        was->known ? mismatch(was->kind, kind) : faults_of_stranger(heap, block, was, frame);
    counting_mine.inside = COUNTING_OURS;
    if (fault != HEAP_FAULTS)
        faults_tell(heap, poet_heap_where(), fault, block, was, frame);
    else
        blocks_unknown(heap);
    errno = saved;
}

static __attribute__((noinline)) void given_nothing(void *heap, struct counting *mine,
                                                    const uintptr_t *frame)
{
    if (faults_theirs(frame))
        return;
    struct poet_heap_where where = poet_heap_where();
    struct heap_caller by = {.thread = where.thread};
    by.node = walk_node(heap, &mine->walk, where, frame);
    if (!blocks_null(heap, &mine->blocks, &by))
        return;
    int saved = errno;
    mine->inside = COUNTING_OURS;
    faults_tell(heap, where, HEAP_NULL, NULL, &(struct heap_was){.known = false}, frame);
    errno = saved;
}

static inline void given_block(void *heap, struct counting *mine, const void *block,
                               enum heap_kind kind, const uintptr_t *frame, struct heap_was *wanted)
{
    struct heap_was was, *into = wanted ? wanted : &was;
    if (!LIKELY(blocks_given(heap, &mine->blocks, poet_heap_thread(), frame[1] - 1, block, kind,
                             wanted != NULL, into)))
        judge(heap, block, kind, into, frame);
}

void counting_given(const void *block, enum heap_kind kind, const uintptr_t *frame,
                    struct heap_was *was)
{
    struct counting *mine = &counting_mine;
    void *h = enter(mine);
    if (!LIKELY(h != NULL)) {
        if (!LIKELY(begun))
            early_given(block);
        return;
    }
    if (LIKELY(block != NULL))
        given_block(h, mine, block, kind, frame, was);
    else
        given_nothing(h, mine, frame);
    leave(mine);
}

void counting_put_back(const struct heap_was *was, const uintptr_t *frame)
{
    struct counting *mine = &counting_mine;
    void *h = enter(mine);
    if (!h)
        return;
    struct poet_heap_where where = poet_heap_where();
    struct heap_caller by = {.thread = where.thread, .now_ns = now_ns()};
    blocks_put_back(h, &mine->blocks, &by, was);
    leave(mine);
}

void counting_moves(void) { counting_mine.blocks.last = 0; }

/* ---- the beginning ---- */

static void put_early(void *heap)
{
    struct heap_caller by = {.node = HEAP_NODE_EARLY, .now_ns = now_ns()};
    for (uint32_t i = 0; i < early_count(); i++) {
        size_t bytes;
        enum heap_kind kind;
        const void *block = early_at(i, &bytes, &kind);
        blocks_taken(heap, &counting_mine.blocks, &by, block, bytes, bytes, kind);
    }
}

#define SPACE_SHARE 8u /* of the address space that a limit allows, what blocks may take */

/* The program's threads need address space, too. */
static uint32_t groups_wanted(void)
{
    uint32_t groups = HEAP_GROUPS;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        while (groups > HEAP_GROUPS_LEAST &&
               HEAP_BYTES_OF(groups) - HEAP_BLOCKS_AT > space.rlim_cur / SPACE_SHARE)
            groups /= 2;
    return groups;
}

static void *make(int fd, bool again)
{
    void *h = MAP_FAILED;
    uint32_t groups = groups_wanted();
    size_t bytes = HEAP_BYTES_OF(groups);
    if (ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        h = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (h == MAP_FAILED)
        return NULL;
    blocks_begin(h, groups, now_ns());
    if (!again)
        put_early(h);
    if (madvise(h, bytes, MADV_DONTFORK) == 0 && poet_heap_begin(fd))
        return h;
    munmap(h, bytes);
    return NULL;
}

/* NULL: nobody is there to read it. */
static void *make_shared(bool again)
{
    int low = memfd_create("poet-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int fd = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, 3) : -1; /* 0 to 2 are the program's */
    if (low >= 0)
        close(low);
    void *h = fd >= 0 ? make(fd, again) : NULL;
    if (fd >= 0)
        close(fd);
    return h;
}

/* In a child, once it is recorded: not by its first calls after a fork, which may be all before it executes a program. */
static __attribute__((noinline, cold)) void *begin_again(struct counting *mine)
{
    struct poet_heap_where where = poet_heap_where();
    if (!where.thread || !where.records || __atomic_exchange_n(&page[1], page, __ATOMIC_ACQ_REL))
        return NULL;
    int saved = errno;
    *mine = (struct counting){.inside = COUNTING_OURS};
    faults_forked();
    void *h = make_shared(true);
    __atomic_store_n(page, h, __ATOMIC_RELEASE);
    mine->inside = h ? COUNTING_NOW : COUNTING_NOT;
    errno = saved;
    return h;
}

/* One word of MEMORY's name in the list. */
static bool is_wanted(const char *list)
{
    for (; list && *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == 6 && strncmp(list, "memory", 6) == 0)
            return true;
    return false;
}

static void begin(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void **p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return;
    walk_begin();
    *p = madvise(p, bytes, MADV_WIPEONFORK) == 0 ? make_shared(false) : NULL;
    p[1] = p;
    if (*p)
        faults_begin();
    if (*p)
        __atomic_store_n(&page, p, __ATOMIC_RELEASE);
    else
        munmap(p, bytes);
}

__attribute__((constructor)) static void start(void)
{
    int saved = errno;
    real_ready();
    counting_mine.inside = COUNTING_OURS;
    if (is_wanted(getenv("POET_METERS")))
        begin();
    begun = true;
    counting_mine.inside = COUNTING_NOT;
    errno = saved;
}
