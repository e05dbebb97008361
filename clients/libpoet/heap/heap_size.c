/* Current and maximum size of the heap. */
#include "clients/libpoet/heap/heap_counters.h"

struct heap_thread *heap_size_new_record(void *heap)
{
    struct heap_head *head = heap;
    uint32_t is = stack_table_new_number(&head->threads, HEAP_THREADS);
    return (struct heap_thread *)heap_counter_part(heap, HEAP_THREADS_AT) + is;
}

/* The size is `now` more than was reported, and was `most` more at `most_ns`. */
__attribute__((noinline)) void heap_size_report(struct heap_head *head, int64_t now, int64_t most,
                                                uint64_t most_ns)
{
    most += atomic_fetch_add_explicit(&head->live, now, memory_order_relaxed);
    int64_t is = atomic_load_explicit(&head->most, memory_order_relaxed);
    while (most > is && !atomic_compare_exchange_weak(&head->most, &is, most))
        ;
    if (most > is)
        atomic_store_explicit(&head->most_ns, most_ns, memory_order_relaxed);
}

__attribute__((noinline)) void heap_size_report_all(struct heap_head *head, struct heap_thread *t)
{
    int64_t now = atomic_load_explicit(&t->live, memory_order_relaxed);
    atomic_store_explicit(&t->live, 0, memory_order_relaxed);
    heap_size_report(head, now, atomic_exchange_explicit(&t->most, 0, memory_order_relaxed),
                     atomic_load_explicit(&t->most_ns, memory_order_relaxed));
}
