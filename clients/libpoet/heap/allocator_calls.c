/* malloc and its family. */
#define _GNU_SOURCE

#include "base/likely.h"
#include "clients/libpoet/heap/alloc_hooks.h"
#include "clients/libpoet/unwind/unwind_rules.h"
#include "clients/libpoet/next_symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

API void *malloc(size_t bytes)
{
    if (!real_allocator_ready())
        return real_allocator_first_alloc(bytes);
    return alloc_hook_allocated(real_functions.malloc(bytes), bytes, HEAP_MALLOC, FRAME);
}

API void *calloc(size_t count, size_t bytes)
{
    if (!real_allocator_ready())
        return bytes && count > SIZE_MAX / bytes ? NULL : real_allocator_first_alloc(count * bytes);
    return alloc_hook_allocated(real_functions.calloc(count, bytes), count * bytes, HEAP_MALLOC,
                                FRAME);
}

/* Moves a block of libpoet-memory's to the program's allocator. */
static void *malloc_call_resize_first(void *block, size_t bytes)
{
    size_t had = real_allocator_first_bytes(block);
    void *larger =
        real_allocator_ready() ? real_functions.malloc(bytes) : real_allocator_first_alloc(bytes);
    if (larger)
        memcpy(larger, block, had < bytes ? had : bytes);
    return larger;
}

static void *malloc_call_resize(void *block, size_t bytes, const uintptr_t *frame)
{
    if (real_allocator_is_first(block))
        return alloc_hook_allocated(malloc_call_resize_first(block, bytes), bytes, HEAP_MALLOC,
                                    frame);
    /* of NULL: nothing else was allocated yet */
    if (!real_allocator_ready())
        return real_allocator_first_alloc(bytes);
    struct freed_block was = {.known = false};
    alloc_hook_moving();
    if (block)
        alloc_hook_freed(block, HEAP_MALLOC, frame, &was);
    void *after = real_functions.realloc(block, bytes);
    if (after)
        alloc_hook_allocated(after, bytes, HEAP_MALLOC, frame);
    else if (bytes)
        alloc_hook_restored(&was, frame);
    return after;
}

API void *realloc(void *block, size_t bytes) { return malloc_call_resize(block, bytes, FRAME); }

API void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return malloc_call_resize(block, all, FRAME);
}

API int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (!real_allocator_ready() || !real_functions.posix_memalign)
        return ENOMEM;
    int problem = real_functions.posix_memalign(block, alignment, bytes);
    if (!problem)
        alloc_hook_allocated(*block, bytes, HEAP_MALLOC, FRAME);
    return problem;
}

#define ALIGNED(name)                                                                              \
    API void *name(size_t alignment, size_t bytes)                                                 \
    {                                                                                              \
        void *block = real_allocator_ready() && real_functions.name                                \
                          ? real_functions.name(alignment, bytes)                                  \
                          : NULL;                                                                  \
        return alloc_hook_allocated(block, bytes, HEAP_MALLOC, FRAME);                             \
    }
ALIGNED(aligned_alloc)
ALIGNED(memalign)

#define OF_PAGES(name)                                                                             \
    API void *name(size_t bytes)                                                                   \
    {                                                                                              \
        void *block =                                                                              \
            real_allocator_ready() && real_functions.name ? real_functions.name(bytes) : NULL;     \
        return alloc_hook_allocated(block, bytes, HEAP_MALLOC, FRAME);                             \
    }
OF_PAGES(valloc)
OF_PAGES(pvalloc)

API void free(void *block)
{
    if (real_allocator_is_first(block) || !real_allocator_ready())
        return;
    alloc_hook_freed(block, HEAP_MALLOC, FRAME, NULL);
    real_functions.free(block);
}

/* Other code may be loaded at the same addresses afterwards. */
API int dlclose(void *handle)
{
    if (!real_allocator_ready() || !real_functions.dlclose)
        return -1;
    int result = real_functions.dlclose(handle);
    unwind_rules_forget();
    return result;
}

/* ---- operator new and delete ----
 *
 * All their forms. If the program defines its own, these do what the C++ library's do: the more
 * specific forms call the plain ones. Otherwise they are malloc and free with a kind, attributed to
 * the caller; if there is no memory, the C++ library's own is called, which calls the program's
 * handler and throws. */

#if __SIZEOF_SIZE_T__ == 8
#define S "m"
#else
#define S "j"
#endif

/* Which of them the program defines is not known before it is loaded. */
enum operator_owner { OWNER_UNKNOWN, OWNER_LIBPOET, OWNER_OF_PROGRAM };
static _Atomic int operator_new_owner;

/* ---- the C++ library's ---- */

enum operator_form {
    NEW,
    NEW_ARRAY,
    NEW_NOTHROW,
    NEW_ARRAY_NOTHROW,
    NEW_ALIGNED,
    NEW_ARRAY_ALIGNED,
    NEW_ALIGNED_NOTHROW,
    NEW_ARRAY_ALIGNED_NOTHROW,
    DELETE,
    DELETE_ARRAY,
    DELETE_SIZED,
    DELETE_ARRAY_SIZED,
    DELETE_NOTHROW,
    DELETE_ARRAY_NOTHROW,
    DELETE_ALIGNED,
    DELETE_ARRAY_ALIGNED,
    DELETE_SIZED_ALIGNED,
    DELETE_ARRAY_SIZED_ALIGNED,
    DELETE_ALIGNED_NOTHROW,
    DELETE_ARRAY_ALIGNED_NOTHROW,
    FORMS
};

#define ALIGN "St11align_val_t"
#define NOTHROW "RKSt9nothrow_t"
static const char *const names[FORMS] = {
    [NEW] = "_Znw" S,
    [NEW_ARRAY] = "_Zna" S,
    [NEW_NOTHROW] = "_Znw" S NOTHROW,
    [NEW_ARRAY_NOTHROW] = "_Zna" S NOTHROW,
    [NEW_ALIGNED] = "_Znw" S ALIGN,
    [NEW_ARRAY_ALIGNED] = "_Zna" S ALIGN,
    [NEW_ALIGNED_NOTHROW] = "_Znw" S ALIGN NOTHROW,
    [NEW_ARRAY_ALIGNED_NOTHROW] = "_Zna" S ALIGN NOTHROW,
    [DELETE] = "_ZdlPv",
    [DELETE_ARRAY] = "_ZdaPv",
    [DELETE_SIZED] = "_ZdlPv" S,
    [DELETE_ARRAY_SIZED] = "_ZdaPv" S,
    [DELETE_NOTHROW] = "_ZdlPv" NOTHROW,
    [DELETE_ARRAY_NOTHROW] = "_ZdaPv" NOTHROW,
    [DELETE_ALIGNED] = "_ZdlPv" ALIGN,
    [DELETE_ARRAY_ALIGNED] = "_ZdaPv" ALIGN,
    [DELETE_SIZED_ALIGNED] = "_ZdlPv" S ALIGN,
    [DELETE_ARRAY_SIZED_ALIGNED] = "_ZdaPv" S ALIGN,
    [DELETE_ALIGNED_NOTHROW] = "_ZdlPv" ALIGN NOTHROW,
    [DELETE_ARRAY_ALIGNED_NOTHROW] = "_ZdaPv" ALIGN NOTHROW,
};

typedef void *generic(size_t, ...);
static void *_Atomic library[FORMS];

/* One that was loaded later, for a part of the program, is not found by RTLD_NEXT. */
static void *operator_new_look_up(enum operator_form form)
{
    void *found = next_in(RTLD_NEXT, names[form]);
    void *handle = found ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        found = dlsym(handle, names[form]);
        real_functions.dlclose(handle); /* it stays: it is in use */
    }
    return found;
}

static void *operator_new_get_library(enum operator_form form)
{
    void *is = atomic_load_explicit(&library[form], memory_order_acquire);
    unsigned was = alloc_hook_thread.inside;
    if (is)
        return is;
    alloc_hook_thread.inside = ALLOC_HOOK_LIBPOET;
    is = operator_new_look_up(form);
    alloc_hook_thread.inside = was;
    atomic_store_explicit(&library[form], is, memory_order_release);
    return is;
}

/* ---- which definition of the plain ones is used ---- */

static bool operator_new_defined_by_libpoet(enum operator_form form)
{
    Dl_info theirs, ours;
    void *is = dlsym(RTLD_DEFAULT, names[form]);
    return is && dladdr(is, &theirs) && dladdr((void *)&names, &ours) &&
           theirs.dli_fbase == ours.dli_fbase;
}

static __attribute__((noinline)) int operator_new_find_owner(void)
{
    unsigned was = alloc_hook_thread.inside;
    alloc_hook_thread.inside = ALLOC_HOOK_LIBPOET;
    bool ours =
        operator_new_defined_by_libpoet(NEW) && operator_new_defined_by_libpoet(NEW_ARRAY) &&
        operator_new_defined_by_libpoet(DELETE) && operator_new_defined_by_libpoet(DELETE_ARRAY) &&
        operator_new_defined_by_libpoet(NEW_ALIGNED) &&
        operator_new_defined_by_libpoet(DELETE_ALIGNED);
    alloc_hook_thread.inside = was;
    int is = ours ? OWNER_LIBPOET : OWNER_OF_PROGRAM;
    atomic_store(&operator_new_owner, is);
    return is;
}

static inline bool operator_new_is_libpoet(void)
{
    int is = atomic_load_explicit(&operator_new_owner, memory_order_relaxed);
    return LIKELY((is ? is : operator_new_find_owner()) == OWNER_LIBPOET) && real_allocator_ready();
}

/* ---- allocating ---- */

static inline void *operator_new_plain(size_t bytes)
{
    return real_functions.malloc(bytes ? bytes : 1);
}

static void *operator_new_aligned(size_t bytes, size_t alignment)
{
    void *block = NULL;
    alignment = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    return real_functions.posix_memalign &&
                   !real_functions.posix_memalign(&block, alignment, bytes ? bytes : 1)
               ? block
               : NULL;
}

/* The library's own allocation was counted as malloc's. */
static void *operator_new_count_again(void *block, size_t bytes, enum heap_kind kind,
                                      const uintptr_t *frame)
{
    if (!block)
        return NULL;
    alloc_hook_moving();
    alloc_hook_freed(block, HEAP_MALLOC, frame, NULL);
    return alloc_hook_allocated(block, bytes, kind, frame);
}

#define PLAIN(form, name, rest, kind, arguments, ...)                                              \
    API void *name __asm__(rest);                                                                  \
    API void *name                                                                                 \
    {                                                                                              \
        void *(*next)__VA_ARGS__;                                                                  \
        bool mine = operator_new_is_libpoet();                                                     \
        void *block = mine ? operator_new_plain(bytes) : NULL;                                     \
        if (LIKELY(block))                                                                         \
            return alloc_hook_allocated(block, bytes, kind, FRAME);                                \
        *(void **)&next = operator_new_get_library(form);                                          \
        block = next                     ? next arguments                                          \
                : real_allocator_ready() ? real_functions.malloc(bytes)                            \
                                         : real_allocator_first_alloc(bytes);                      \
        return mine ? operator_new_count_again(block, bytes, kind, FRAME) : block;                 \
    }
#define WITH_ALIGNMENT(form, name, rest, kind, arguments, ...)                                     \
    API void *name __asm__(rest);                                                                  \
    API void *name                                                                                 \
    {                                                                                              \
        void *(*next)__VA_ARGS__;                                                                  \
        bool mine = operator_new_is_libpoet();                                                     \
        void *block = mine ? operator_new_aligned(bytes, alignment) : NULL;                        \
        if (LIKELY(block))                                                                         \
            return alloc_hook_allocated(block, bytes, kind, FRAME);                                \
        *(void **)&next = operator_new_get_library(form);                                          \
        block = next ? next arguments : NULL;                                                      \
        return mine ? operator_new_count_again(block, bytes, kind, FRAME) : block;                 \
    }

PLAIN(NEW, new_plain(size_t bytes), "_Znw" S, HEAP_NEW, (bytes), (size_t))
PLAIN(NEW_ARRAY, new_array(size_t bytes), "_Zna" S, HEAP_NEW_OF_ARRAY, (bytes), (size_t))
PLAIN(NEW_NOTHROW, new_nothrow(size_t bytes, const void *tag), "_Znw" S NOTHROW, HEAP_NEW,
      (bytes, tag), (size_t, const void *))
PLAIN(NEW_ARRAY_NOTHROW, new_array_nothrow(size_t bytes, const void *tag), "_Zna" S NOTHROW,
      HEAP_NEW_OF_ARRAY, (bytes, tag), (size_t, const void *))
WITH_ALIGNMENT(NEW_ALIGNED, new_aligned(size_t bytes, size_t alignment), "_Znw" S ALIGN, HEAP_NEW,
               (bytes, alignment), (size_t, size_t))
WITH_ALIGNMENT(NEW_ARRAY_ALIGNED, new_array_aligned(size_t bytes, size_t alignment), "_Zna" S ALIGN,
               HEAP_NEW_OF_ARRAY, (bytes, alignment), (size_t, size_t))
WITH_ALIGNMENT(NEW_ALIGNED_NOTHROW,
               new_aligned_nothrow(size_t bytes, size_t alignment, const void *tag),
               "_Znw" S ALIGN NOTHROW, HEAP_NEW, (bytes, alignment, tag),
               (size_t, size_t, const void *))
WITH_ALIGNMENT(NEW_ARRAY_ALIGNED_NOTHROW,
               new_array_aligned_nothrow(size_t bytes, size_t alignment, const void *tag),
               "_Zna" S ALIGN NOTHROW, HEAP_NEW_OF_ARRAY, (bytes, alignment, tag),
               (size_t, size_t, const void *))

/* ---- freeing ---- */

/* delete of NULL does nothing. */
static inline void release(void *block, enum heap_kind kind, const uintptr_t *frame)
{
    if (!block || real_allocator_is_first(block))
        return;
    alloc_hook_freed(block, kind, frame, NULL);
    real_functions.free(block);
}

#define DELETING(form, name, rest, kind, arguments, ...)                                           \
    API void name __asm__(rest);                                                                   \
    API void name                                                                                  \
    {                                                                                              \
        void(*next) __VA_ARGS__;                                                                   \
        if (operator_new_is_libpoet()) {                                                           \
            release(block, kind, FRAME);                                                           \
            return;                                                                                \
        }                                                                                          \
        *(void **)&next = operator_new_get_library(form);                                          \
        if (next)                                                                                  \
            next arguments;                                                                        \
        else                                                                                       \
            release(block, HEAP_MALLOC, FRAME);                                                    \
    }

#define ONE HEAP_NEW
#define MANY HEAP_NEW_OF_ARRAY
#define NO __attribute__((unused))
DELETING(DELETE, delete_plain(void *block), "_ZdlPv", ONE, (block), (void *))
DELETING(DELETE_ARRAY, delete_array(void *block), "_ZdaPv", MANY, (block), (void *))
DELETING(DELETE_SIZED, delete_sized(void *block, size_t n), "_ZdlPv" S, ONE, (block, n),
         (void *, size_t))
DELETING(DELETE_ARRAY_SIZED, delete_array_sized(void *block, size_t n), "_ZdaPv" S, MANY,
         (block, n), (void *, size_t))
DELETING(DELETE_NOTHROW, delete_nothrow(void *block, const void *tag), "_ZdlPv" NOTHROW, ONE,
         (block, tag), (void *, const void *))
DELETING(DELETE_ARRAY_NOTHROW, delete_array_nothrow(void *block, const void *tag), "_ZdaPv" NOTHROW,
         MANY, (block, tag), (void *, const void *))
DELETING(DELETE_ALIGNED, delete_aligned(void *block, size_t a), "_ZdlPv" ALIGN, ONE, (block, a),
         (void *, size_t))
DELETING(DELETE_ARRAY_ALIGNED, delete_array_aligned(void *block, size_t a), "_ZdaPv" ALIGN, MANY,
         (block, a), (void *, size_t))
DELETING(DELETE_SIZED_ALIGNED, delete_sized_aligned(void *block, size_t n, size_t a),
         "_ZdlPv" S ALIGN, ONE, (block, n, a), (void *, size_t, size_t))
DELETING(DELETE_ARRAY_SIZED_ALIGNED, delete_array_sized_aligned(void *block, size_t n, size_t a),
         "_ZdaPv" S ALIGN, MANY, (block, n, a), (void *, size_t, size_t))
DELETING(DELETE_ALIGNED_NOTHROW, delete_aligned_nothrow(void *block, size_t a, const void *tag),
         "_ZdlPv" ALIGN NOTHROW, ONE, (block, a, tag), (void *, size_t, const void *))
DELETING(DELETE_ARRAY_ALIGNED_NOTHROW,
         delete_array_aligned_nothrow(void *block, size_t a, const void *tag),
         "_ZdaPv" ALIGN NOTHROW, MANY, (block, a, tag), (void *, size_t, const void *))
