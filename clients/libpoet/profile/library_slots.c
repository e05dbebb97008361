/* Slots belong to threads, eight at a time. The ones of calls that a jump or an exception has left
 * are found when a thread has no others: their place on the stack holds something else then. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/library_slots.h"

#if defined(LIBRARY_STUB_BYTES)

#include "clients/libpoet/core/seccomp_allowed.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK_SLOTS 8u
#define BLOCKS (LIBRARY_SLOTS / BLOCK_SLOTS)
#define THREAD_BLOCKS 8u

static _Atomic bool library_block_taken[BLOCKS];

/* The blocks of a thread. A signal handler may add one at any point: it is added by two stores that
 * do not depend on what they replace. */
static __thread struct library_blocks {
    uint32_t count, blocks[THREAD_BLOCKS];
} library_mine __attribute__((tls_model("initial-exec")));

/* Returns the return place of a slot. */
static inline uintptr_t library_slot_of(uint32_t block, uint32_t i)
{
    return library_return(library_mine.blocks[block] * BLOCK_SLOTS + i);
}

static inline uintptr_t library_slot_place(uintptr_t slot)
{
    return __atomic_load_n(&library_slot_at(slot)->place, __ATOMIC_RELAXED);
}

static inline uintptr_t library_slot_find(void)
{
    for (uint32_t block = 0; block < library_mine.count; block++)
        for (uint32_t i = 0; i < BLOCK_SLOTS; i++)
            if (LIKELY(!library_slot_place(library_slot_of(block, i))))
                return library_slot_of(block, i);
    return 0;
}

/* Returns false if there is no block. */
static bool library_block_add(void)
{
    uint32_t n = library_mine.count;
    for (uint32_t block = 0; block < BLOCKS && n < THREAD_BLOCKS; block++) {
        if (atomic_load_explicit(&library_block_taken[block], memory_order_relaxed) ||
            atomic_exchange(&library_block_taken[block], true))
            continue;
        library_mine.blocks[n] = block;
        atomic_signal_fence(memory_order_seq_cst);
        library_mine.count = n + 1;
        return true;
    }
    return false;
}

/* Returns whether a call has certainly been left: its return address is no more on the stack. (The
 * stack may not exist any more, either; then it is not known.) */
static bool library_slot_is_left(uintptr_t slot, uintptr_t back)
{
    uintptr_t place = library_slot_place(slot), word;
    if ((place & ~(uintptr_t)SLOT_BITS) == back)
        return true; /* another call is there */
    struct iovec to = {&word, sizeof word},
                 from = {(void *)(place & ~(uintptr_t)SLOT_BITS), sizeof word};
    return !(place & SLOT_BEING_TAKEN) && seccomp_allows(ALLOWED_PEEK) &&
           process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof word && word != slot;
}

static void library_slots_reclaim(uintptr_t back)
{
    for (uint32_t block = 0; block < library_mine.count; block++)
        for (uint32_t i = 0; i < BLOCK_SLOTS; i++) {
            uintptr_t slot = library_slot_of(block, i);
            if (library_slot_place(slot) && library_slot_is_left(slot, back))
                __atomic_store_n(&library_slot_at(slot)->place, 0, __ATOMIC_RELAXED);
        }
}

/* Returns a free slot; 0 if there is none. */
static __attribute__((noinline)) uintptr_t library_slot_make(uintptr_t back)
{
    int saved = errno;
    if (library_mine.count)
        library_slots_reclaim(back);
    uintptr_t slot = library_slot_find();
    if (!slot && library_block_add())
        slot = library_slot_find();
    errno = saved;
    return slot;
}

uintptr_t library_slot_take(uintptr_t back)
{
    uintptr_t slot = library_slot_find();
    return LIKELY(slot) ? slot : library_slot_make(back);
}

void library_slots_end_thread(void)
{
    if (!library_mine.count)
        return;
    int saved = errno;
    library_slots_reclaim(0);
    errno = saved;
    for (uint32_t block = 0; block < library_mine.count; block++)
        for (uint32_t i = 0; i < BLOCK_SLOTS; i++)
            if (library_slot_place(library_slot_of(block, i)))
                return;
    uint32_t count = library_mine.count;
    library_mine.count = 0;
    for (uint32_t block = 0; block < count; block++)
        atomic_store(&library_block_taken[library_mine.blocks[block]], false);
}
#else
uintptr_t library_slot_take(uintptr_t back) { return back & 0; }
void library_slots_end_thread(void) {}
#endif
