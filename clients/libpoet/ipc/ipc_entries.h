/* Entry points of the interposed calls, and which calls are traced. */
#ifndef CLIENTS_LIBPOET_IPC_IPC_ENTRIES_H
#define CLIENTS_LIBPOET_IPC_IPC_ENTRIES_H

#include "clients/libpoet/return_address.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define API __attribute__((visibility("default")))
#define SITE ((const char *)poet_return_address(__builtin_return_address(0)) - 1)
#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)

/* the library itself is making a call */
extern __thread bool ipc_inside_library __attribute__((tls_model("initial-exec")));
/* Returns whether a call from there is traced; the library's own are not. */
bool ipc_entry_is_traced(const void *site);
bool ipc_entry_is_shut(void); /* Returns whether no call is traced, without a system call. */
/* Returns false in a child that shares its memory with its parent (vfork). */
bool ipc_entry_is_own_process(void);
/* Returns the next definition of an interposed call. */
void *ipc_entry_next_call(const char *name);
uint64_t now_ns(void); /* Returns the time of the monotonic clock in ns. */
void ipc_entry_begin(void);       /* Called in this process, which may be a fork. */

/* Runs a call without an effect that the program could notice; `saved` is its errno. */
#define QUIETLY(what)                                                                              \
    do {                                                                                           \
        int saved = errno;                                                                         \
        ipc_inside_library = true;                                                                 \
        what;                                                                                      \
        ipc_inside_library = false;                                                                \
        errno = saved;                                                                             \
    } while (0)

/* The real function of an interposed call: looked up at the start, or when it is called before
 * that. */
#define REAL(result, name, parameters)                                                             \
    static result(*real_##name) parameters;                                                        \
    __attribute__((constructor)) static void find_##name(void)                                     \
    {                                                                                              \
        if (!LOAD(&real_##name))                                                                   \
            STORE(&real_##name, (result(*) parameters)(uintptr_t)ipc_entry_next_call(#name));      \
    }

#pragma GCC visibility pop
#endif
