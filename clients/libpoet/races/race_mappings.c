/* Mappings of memory: a new one has no accesses yet, whatever was at its addresses. All calls are
 * passed on. */
#define _GNU_SOURCE
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/races/race_thread.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

typedef void *mmap_call(void *, size_t, int, int, int, off_t);
typedef void *mremap_call(void *, size_t, size_t, int, ...);

/* Returns the next definition; NULL while the thread is looking for one: an allocator may map
 * memory for that. */
static void *race_mapping_real(void *_Atomic *known, const char *name)
{
    static __thread bool looking __attribute__((tls_model("initial-exec")));
    void *real = atomic_load_explicit(known, memory_order_relaxed);
    if (real || looking)
        return real;
    int saved = errno;
    looking = true;
    real = next_call(name);
    looking = false;
    errno = saved;
    atomic_store_explicit(known, real, memory_order_relaxed);
    return real;
}

static void *race_mapping_made(void *memory, size_t bytes)
{
    int saved = errno;
    if (memory != MAP_FAILED)
        access_shadow_clear((uintptr_t)memory, bytes);
    errno = saved;
    return memory;
}

HOOK void *mmap(void *at, size_t bytes, int access, int flags, int fd, off_t offset)
{
    static void *_Atomic known;
    mmap_call *real = (mmap_call *)race_mapping_real(&known, "mmap");
    void *memory = real ? real(at, bytes, access, flags, fd, offset)
                        : (void *)syscall(SYS_mmap, at, bytes, access, flags, fd, offset);
    return race_mapping_made(memory, bytes);
}

#if __WORDSIZE == 64
HOOK void *mmap64(void *at, size_t bytes, int access, int flags, int fd, off64_t offset)
{
    return mmap(at, bytes, access, flags, fd, offset);
}
#endif

HOOK void *mremap(void *at, size_t bytes, size_t new_bytes, int flags, ...)
{
    static void *_Atomic known;
    va_list more;
    va_start(more, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    mremap_call *real = (mremap_call *)race_mapping_real(&known, "mremap");
    void *memory = real ? real(at, bytes, new_bytes, flags, wanted)
                        : (void *)syscall(SYS_mremap, at, bytes, new_bytes, flags, wanted);
    return race_mapping_made(memory, new_bytes);
}
