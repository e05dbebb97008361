/* Lookup of the function that a call would reach if the including library were not loaded. Shared
 * by the interposing libraries; it depends on none of them. */
#ifndef CLIENTS_LIBPOET_NEXT_SYMBOL_H
#define CLIENTS_LIBPOET_NEXT_SYMBOL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <gnu/lib-names.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the C library, as dlsym() takes it. */
static inline void *next_libc(void)
{
    static void *handle;
    void *known = __atomic_load_n(&handle, __ATOMIC_ACQUIRE);
    if (!known)
        __atomic_store_n(&handle, known = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD),
                         __ATOMIC_RELEASE);
    return known;
}

/* (the linker's: where this library begins and ends) */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
static inline bool next_is_ours(const void *symbol)
{
    return (uintptr_t)symbol - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/* Returns the newer versions of condition variable functions where a lookup by name alone finds the
 * oldest. A failed lookup leaves no error for the program's next dlerror(). */
static inline void *next_in(void *handle, const char *name)
{
    void *p = dlsym(handle, name);
    if (!p)
        dlerror();
#if defined(__x86_64__)
    static const char *const renewed[] = {"pthread_cond_init",   "pthread_cond_destroy",
                                          "pthread_cond_wait",   "pthread_cond_timedwait",
                                          "pthread_cond_signal", "pthread_cond_broadcast"};
    for (size_t i = 0; i < sizeof renewed / sizeof *renewed; i++) {
        if (strcmp(name, renewed[i]) != 0 || p != dlvsym(handle, name, "GLIBC_2.2.5"))
            continue;
        void *fresh = dlvsym(handle, name, "GLIBC_2.3.2");
        return fresh ? fresh : p;
    }
#endif
    return p;
}

/* Returns the C library's function, whatever the program or an earlier library defines. */
static inline void *next_libc_call(const char *name)
{
    void *p = next_in(RTLD_NEXT, name), *handle;
    return p || !(handle = next_libc()) ? p : next_in(handle, name);
}

/* Returns the next definition behind this library (a sanitizer's, say, or the C library's). If the
 * C library comes before it, as in a program that was not linked with it but uses a library that
 * was, returns what the program itself would call. Returns NULL if there is none. */
static inline void *next_call(const char *name)
{
    void *p = next_in(RTLD_NEXT, name);
    if (!p && (p = next_in(RTLD_DEFAULT, name)) != NULL && next_is_ours(p))
        p = NULL;
    return p ? p : next_libc_call(name);
}

/* Replaces a function that this C library does not have. */
static inline long next_none(void)
{
    errno = ENOSYS;
    return -1;
}

#endif
