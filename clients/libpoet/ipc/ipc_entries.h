/* Which calls are looked at, and how they are stood before. */
#ifndef CLIENTS_LIBPOET_IPC_IPC_ENTRIES_H
#define CLIENTS_LIBPOET_IPC_IPC_ENTRIES_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define API __attribute__((visibility("default")))
#define SITE __builtin_extract_return_addr(__builtin_return_address(0))
#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)

extern __thread bool ipc_inside_library
    __attribute__((tls_model("initial-exec"))); /* the library itself is calling */
bool ipc_entry_is_traced(
    const void *site); /* whether a call from there is to be looked at; our own are not */
bool ipc_entry_is_shut(void); /* none is, and no system call is made for looking */
bool ipc_entry_is_own_process(
    void);    /* not a child that shares its memory with its parent (vfork) */
void *ipc_entry_next_call(const char *name); /* the call that we stand before */
uint64_t now_ns(void); /* of the monotonic clock */
void ipc_entry_begin(void);       /* in this process, which may be a fork */

/* Done without the program noticing; `saved` is its errno. */
#define QUIETLY(what)                                                                              \
    do {                                                                                           \
        int saved = errno;                                                                         \
        ipc_inside_library = true;                                                                 \
        what;                                                                                      \
        ipc_inside_library = false;                                                                \
        errno = saved;                                                                             \
    } while (0)

/* A call that is stood before: looked up at the start, or when it is made before that. */
#define REAL(result, name, parameters)                                                             \
    static result(*real_##name) parameters;                                                        \
    __attribute__((constructor)) static void find_##name(void)                                     \
    {                                                                                              \
        if (!LOAD(&real_##name))                                                                   \
            STORE(&real_##name, (result(*) parameters)(uintptr_t)ipc_entry_next_call(#name));      \
    }

#pragma GCC visibility pop
#endif
