/* libpoet-memory: what the program takes from its heap and gives back, counted by thread and place (wire/heap.h).
 *
 * `poet record -m memory` loads it; without it nothing stands before these calls.  It stands before those of the C
 * library, or of whatever allocator the program has, and adds nothing to the blocks.  What is here allocates nothing,
 * and keeps errno.  A child of fork has none of it: the page that says so is wiped by the kernel. */
#define _GNU_SOURCE
#include "clients/trace/core/heap.h"
#include "clients/trace/heap/blocks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define SITE ((uintptr_t)__builtin_return_address(0) - 1) /* within the call */
#define LIKELY(is) __builtin_expect(!!(is), 1)

/* ---- the calls that we stand before ---- */

#define CALLS(C)                                                                                   \
    C(void *, malloc, (size_t))                                                                    \
    C(void *, calloc, (size_t, size_t))                                                            \
    C(void *, realloc, (void *, size_t))                                                           \
    C(void *, reallocarray, (void *, size_t, size_t))                                              \
    C(int, posix_memalign, (void **, size_t, size_t))                                              \
    C(void *, aligned_alloc, (size_t, size_t))                                                     \
    C(void *, memalign, (size_t, size_t))                                                          \
    C(void *, valloc, (size_t))                                                                    \
    C(char *, strdup, (const char *))                                                              \
    C(char *, strndup, (const char *, size_t))                                                     \
    C(size_t, malloc_usable_size, (void *))                                                        \
    C(void, free, (void *))

static struct {
#define C(result, name, parameters) result(*name) parameters;
    CALLS(C)
#undef C
} real;
static bool found;
static __thread bool inside __attribute__((tls_model("initial-exec"))); /* we call, or look */
static __thread uintptr_t asked __attribute__((tls_model("initial-exec"))); /* see on_behalf */

static void find(void)
{
    bool was = inside;
    inside = true;
#define C(result, name, parameters) *(void **)&real.name = dlsym(RTLD_NEXT, #name);
    CALLS(C)
#undef C
    inside = was;
    __atomic_store_n(&found, true, __ATOMIC_RELEASE);
}

/* What is allocated while they are looked for is never given back. */
#define FIRST_BYTES 16384u
static _Alignas(16) char first[FIRST_BYTES];
static size_t first_used;

static void *first_take(size_t bytes)
{
    size_t at = __atomic_fetch_add(&first_used, (bytes + 31) / 16 * 16, __ATOMIC_SEQ_CST);
    if (bytes > FIRST_BYTES || at + bytes + 16 > FIRST_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(first + at, &bytes, sizeof bytes);
    return first + at + 16;
}

static bool is_first(const void *block)
{
    return (uintptr_t)block - (uintptr_t)first < FIRST_BYTES;
}

/* False: they are being looked for by this very thread. */
static bool ready(void)
{
    if (LIKELY(__atomic_load_n(&found, __ATOMIC_ACQUIRE)))
        return true;
    if (inside)
        return false;
    find();
    return true;
}

/* ---- counting ---- */

static void **page; /* on it the heap's memory: NULL in children, where the page is wiped */

static void *heap(void)
{
    void **p = __atomic_load_n(&page, __ATOMIC_RELAXED);
    return p && !inside ? *p : NULL;
}

static struct heap_caller caller(uintptr_t site)
{
    struct heap_caller by = {.site = asked ? asked : site};
    by.thread = poet_heap_thread(&by.event);
    return by;
}

static void taken(void *block, size_t bytes, uintptr_t site)
{
    void *h = heap();
    if (!h || !block)
        return;
    int saved = errno;
    inside = true;
    struct heap_caller by = caller(site);
    size_t usable = real.malloc_usable_size ? real.malloc_usable_size(block) : bytes;
    blocks_taken(h, block, bytes, usable, &by);
    inside = false;
    errno = saved;
}

static struct heap_was given(const void *block, uintptr_t site)
{
    struct heap_was was = {.known = false};
    void *h = heap();
    if (!h)
        return was;
    int saved = errno;
    inside = true;
    struct heap_caller by = caller(site);
    was = blocks_given(h, block, &by);
    inside = false;
    errno = saved;
    return was;
}

static void put_back(const struct heap_was *was, uintptr_t site)
{
    void *h = heap();
    if (!h)
        return;
    int saved = errno;
    inside = true;
    struct heap_caller by = caller(site);
    blocks_put_back(h, was, &by);
    inside = false;
    errno = saved;
}

/* ---- the calls ---- */

API void *malloc(size_t bytes)
{
    if (!ready())
        return first_take(bytes);
    void *block = real.malloc(bytes);
    taken(block, bytes, SITE);
    return block;
}

API void *calloc(size_t count, size_t bytes)
{
    if (!ready())
        return bytes && count > FIRST_BYTES / bytes ? NULL : first_take(count * bytes);
    void *block = real.calloc(count, bytes);
    taken(block, count * bytes, SITE);
    return block;
}

/* A block of ours goes over to the program's allocator. */
static void *resize_first(void *block, size_t bytes)
{
    size_t had;
    memcpy(&had, (char *)block - 16, sizeof had);
    void *larger = ready() ? real.malloc(bytes) : first_take(bytes);
    if (larger)
        memcpy(larger, block, had < bytes ? had : bytes);
    return larger;
}

static void *resized(void *block, size_t bytes, uintptr_t site)
{
    if (is_first(block))
        return resize_first(block, bytes);
    if (!ready())
        return first_take(bytes); /* of NULL: nothing else was given out yet */
    struct heap_was was = {.known = false};
    if (block)
        was = given(block, site);
    void *after = real.realloc(block, bytes);
    if (after)
        taken(after, bytes, site);
    else if (bytes)
        put_back(&was, site);
    return after;
}

API void *realloc(void *block, size_t bytes) { return resized(block, bytes, SITE); }

API void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return resized(block, all, SITE);
}

API int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (!ready() || !real.posix_memalign)
        return ENOMEM;
    int problem = real.posix_memalign(block, alignment, bytes);
    if (!problem)
        taken(*block, bytes, SITE);
    return problem;
}

#define ALIGNED(name)                                                                              \
    API void *name(size_t alignment, size_t bytes)                                                 \
    {                                                                                              \
        void *block = ready() && real.name ? real.name(alignment, bytes) : NULL;                   \
        taken(block, bytes, SITE);                                                                 \
        return block;                                                                              \
    }
ALIGNED(aligned_alloc)
ALIGNED(memalign)

API void *valloc(size_t bytes)
{
    void *block = ready() && real.valloc ? real.valloc(bytes) : NULL;
    taken(block, bytes, SITE);
    return block;
}

API void free(void *block)
{
    if (is_first(block) || !ready())
        return;
    given(block, SITE);
    real.free(block);
}

/* The C library allocates in these what is the caller's then: it is taken at the call of them. */
API char *strdup(const char *text)
{
    if (!ready())
        return NULL;
    asked = SITE;
    char *copy = real.strdup(text);
    asked = 0;
    return copy;
}

API char *strndup(const char *text, size_t most)
{
    if (!ready())
        return NULL;
    asked = SITE;
    char *copy = real.strndup(text, most);
    asked = 0;
    return copy;
}

/* ---- the beginning ---- */

static void *make(int fd)
{
    void *h = MAP_FAILED;
    if (ftruncate(fd, (off_t)HEAP_MAP_BYTES) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        h = mmap(NULL, HEAP_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (h == MAP_FAILED)
        return NULL;
    blocks_begin(h);
    if (madvise(h, HEAP_MAP_BYTES, MADV_DONTFORK) == 0 && poet_heap_begin(fd))
        return h;
    munmap(h, HEAP_MAP_BYTES);
    return NULL;
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
    int low = madvise(p, bytes, MADV_WIPEONFORK) == 0
                  ? memfd_create("poet-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING)
                  : -1;
    int fd = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, 3) : -1; /* 0 to 2 are the program's */
    if (low >= 0)
        close(low);
    *p = fd >= 0 ? make(fd) : NULL;
    if (fd >= 0)
        close(fd);
    if (*p)
        __atomic_store_n(&page, p, __ATOMIC_RELEASE);
    else
        munmap(p, bytes);
}

__attribute__((constructor)) static void start(void)
{
    int saved = errno;
    ready();
    bool was = inside;
    inside = true;
    if (is_wanted(getenv("POET_METERS")))
        begin();
    inside = was;
    errno = saved;
}
