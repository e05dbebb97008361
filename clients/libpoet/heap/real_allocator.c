#define _GNU_SOURCE
#include "clients/libpoet/heap/real_allocator.h"

#include "clients/libpoet/heap/alloc_hooks.h"
#include "clients/libpoet/next_symbol.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* Here, since looking up the allocator comes before all that its calls do. */
__thread struct alloc_hook_state alloc_hook_thread;

struct allocator_functions real_functions;
bool real_found;

bool real_allocator_find(void)
{
    if (alloc_hook_thread.inside)
        return false;
    alloc_hook_thread.inside = ALLOC_HOOK_LIBPOET;
#define C(result, name, parameters) *(void **)&real_functions.name = next_call(#name);
    REAL_CALLS(C)
#undef C
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
