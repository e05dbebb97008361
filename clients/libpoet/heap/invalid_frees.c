/* Invalid frees, recorded as events. */
#define _GNU_SOURCE
#include "clients/libpoet/heap/alloc_hooks.h"
#include "clients/libpoet/heap/unwind_rules.h"
#include "clients/libpoet/poet.h"

#include <dlfcn.h>
#include <stdlib.h>

static poet_type_t types[HEAP_FAULTS];
static uintptr_t library, library_bytes, loader, loader_bytes;

void invalid_free_begin(void)
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
        types[i] = poet_type(names[i], NULL);
    library = unwind_rule_module((uintptr_t)dlsym(RTLD_DEFAULT, "abort"), &library_bytes);
    loader = unwind_rule_module((uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr"), &loader_bytes);
}

/* The C library and the loader free memory in ways that are not interposed. */
static bool forked;
void invalid_free_forked(void) { forked = true; }

bool invalid_free_is_library_call(const uintptr_t *frame)
{
    uintptr_t site = frame[1] - 1;
    return site - library < library_bytes || site - loader < loader_bytes;
}

/* A block whose allocation was missed, or made by a parent before a fork, cannot be distinguished
 * from an invalid address. */
enum heap_fault invalid_free_classify(void *heap, const void *block, const struct freed_block *was,
                                      const uintptr_t *frame)
{
    const struct heap_head *head = heap;
    if (was->before)
        return HEAP_TWICE;
    if ((uintptr_t)block % sizeof(void *) != 0)
        return HEAP_NO_BLOCK;
    if (!library || forked || !early_alloc_is_complete() || atomic_load(&head->unseen) ||
        invalid_free_is_library_call(frame))
        return HEAP_FAULTS;
    return HEAP_NEVER;
}

void invalid_free_report(void *heap, struct poet_heap_where where, enum heap_fault fault,
                         const void *block, const struct freed_block *was, const uintptr_t *frame)
{
    struct heap_bad bad = {.address = (uintptr_t)block,
                           .site = frame[1] - 1,
                           .before = was->before,
                           .thread = where.thread,
                           .fault = fault};
    bad.node = stack_unwind_find_node(heap, &alloc_hook_thread.walk, where, frame);
    if (where.records && types[fault]) {
        poet_event_t event =
            poet_record(&(poet_record_t){.type = types[fault], .site = (const char *)0 + bad.site});
        bad.event = event.line == where.thread ? event.number : 0;
    }
    heap_block_add_bad(heap, &bad);
}
