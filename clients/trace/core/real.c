/* The real calls: those that the entries stand before, looked up once. */
#define _GNU_SOURCE
#include "clients/trace/core/entry.h"
#include "clients/trace/core/libc.h"
#include "clients/trace/core/line.h"
#include "wire/event.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct real real;
_Atomic bool real_found;

#if defined(POET_STATIC)
#define R(result, member, symbol, parameters) result __real_##symbol parameters;
REAL_CALLS(R)
#undef R

void real_look_up(void)
{
#define R(result, member, symbol, parameters) real.member = __real_##symbol;
    REAL_CALLS(R)
#undef R
#define R(result, member, symbol, parameters) real.member = symbol;
    REAL_WORDS(R)
#undef R
    atomic_store_explicit(&real_found, true, memory_order_release);
}
#else
/* A plain look-up, so that others who stand before these calls (a sanitizer, say) are
 * found; but should it give the oldest condition variables, then the newer ones. */
static void *find(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
#if defined(__x86_64__)
    static const char *const renewed[] = {"pthread_cond_init",   "pthread_cond_destroy",
                                          "pthread_cond_wait",   "pthread_cond_timedwait",
                                          "pthread_cond_signal", "pthread_cond_broadcast"};
    for (size_t i = 0; i < sizeof renewed / sizeof *renewed; i++) {
        if (strcmp(name, renewed[i]) != 0 || p != dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5"))
            continue;
        void *fresh = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
        return fresh ? fresh : p;
    }
#endif
    return p;
}

/* An allocator that is not libc's may lock a mutex while a symbol is looked up for the first
 * time: mutexes come first, and who comes here meanwhile uses what there is. */
void real_look_up(void)
{
    static __thread bool looking __attribute__((tls_model("initial-exec")));
    if (looking)
        return;
    looking = true;
    libc_find();
#define R(result, member, symbol, parameters)                                                      \
    if (strncmp(#symbol, "pthread_mutex_", 14) == 0)                                               \
        *(void **)&real.member = find(#symbol);
    REAL_CALLS(R)
#undef R
#define R(result, member, symbol, parameters)                                                      \
    if (strncmp(#symbol, "pthread_mutex_", 14) != 0)                                               \
        *(void **)&real.member = find(#symbol);
    REAL_CALLS(R)
    REAL_WORDS(R)
    REAL_SHARED(R)
#undef R
    looking = false;
    atomic_store_explicit(&real_found, true, memory_order_release);
}
#endif
