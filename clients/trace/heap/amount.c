/* How much there is at once. */
#include "clients/trace/heap/figures.h"

static struct heap_thread *thread_new(void *heap)
{
    struct heap_head *head = heap;
    uint32_t is = number_new(&head->threads, HEAP_THREADS);
    return (struct heap_thread *)part(heap, HEAP_THREADS_AT) + is;
}

/* It is `now` more than was told, and was `most` more at `most_ns`. */
static __attribute__((noinline)) void tell(struct heap_head *head, int64_t now, int64_t most,
                                           uint64_t most_ns)
{
    most += atomic_fetch_add_explicit(&head->live, now, memory_order_relaxed);
    int64_t is = atomic_load_explicit(&head->most, memory_order_relaxed);
    while (most > is && !atomic_compare_exchange_weak(&head->most, &is, most))
        ;
    if (most > is)
        atomic_store_explicit(&head->most_ns, most_ns, memory_order_relaxed);
}

static __attribute__((noinline)) void tell_all(struct heap_head *head, struct heap_thread *t)
{
    int64_t now = atomic_load_explicit(&t->live, memory_order_relaxed);
    atomic_store_explicit(&t->live, 0, memory_order_relaxed);
    tell(head, now, atomic_exchange_explicit(&t->most, 0, memory_order_relaxed),
         atomic_load_explicit(&t->most_ns, memory_order_relaxed));
}

/* The first record is of all who got none of their own: each of theirs is told at once. */
void amount_changed(void *heap, struct heap_mine *mine, int64_t blocks, int64_t bytes,
                    uint64_t now_ns)
{
    struct heap_head *head = heap;
    if (!LIKELY(mine->told != NULL))
        mine->told = thread_new(heap);
    struct heap_thread *t = mine->told;
    if (!LIKELY(t != part(heap, HEAP_THREADS_AT))) {
        atomic_fetch_add_explicit(&t->blocks, blocks, memory_order_relaxed);
        tell(head, bytes, bytes > 0 ? bytes : 0, now_ns);
        return;
    }
    atomic_store_explicit(&t->blocks,
                          atomic_load_explicit(&t->blocks, memory_order_relaxed) + blocks,
                          memory_order_relaxed);
    int64_t now = atomic_load_explicit(&t->live, memory_order_relaxed) + bytes;
    atomic_store_explicit(&t->live, now, memory_order_relaxed);
    if (now > atomic_load_explicit(&t->most, memory_order_relaxed)) {
        atomic_store_explicit(&t->most, now, memory_order_relaxed);
        atomic_store_explicit(&t->most_ns, now_ns, memory_order_relaxed);
    }
    int64_t limit = HEAP_TELL(atomic_load_explicit(&head->live, memory_order_relaxed));
    if (!LIKELY(now < limit && now > -limit))
        tell_all(head, t);
}
