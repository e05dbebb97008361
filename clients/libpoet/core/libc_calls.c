#include "clients/libpoet/core/libc_calls.h"

#include "clients/libpoet/core/libc_binding.h"
#include "clients/libpoet/next_symbol.h"

#include <stdint.h>

struct libc_calls libc_calls = {
#define L(name) name,
    LIBC_CALLS(L)
#undef L
};

#if defined(POET_STATIC)
void libc_calls_find(void) {}
#else
void libc_calls_find(void)
{
    void *p;
    if (libc_bind_to_libc())
        return;
#define L(name)                                                                                    \
    if ((p = next_libc_call(#name)) != NULL)                                                       \
        *(void **)&libc_calls.name = p;
    LIBC_CALLS(L)
#undef L
}
#endif

/* Size of the header in front of each allocation. */
#define HEAD 64u

void *pages_resize(void *pages, size_t bytes)
{
    char *old = pages ? (char *)pages - HEAD : NULL, *new;
    size_t size = bytes + HEAD;
    if (old)
        new = mremap(old, *(size_t *)(void *)old, size, MREMAP_MAYMOVE);
    else
        new = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (new == MAP_FAILED)
        return NULL;
    *(size_t *)(void *)new = size;
    return new + HEAD;
}

void pages_free(void *pages)
{
    if (pages)
        munmap((char *)pages - HEAD, *(size_t *)(void *)((char *)pages - HEAD));
}
