/* Synchronization objects of glibc (2.25 and later, x86-64), read from memory: what the futex at
 * which a thread sleeps belongs to, and the owner that glibc stores in it. The layouts are those of
 * bits/pthreadtypes-arch.h and bits/struct_mutex.h, struct_rwlock.h. */
#ifndef CLIENTS_SNAPSHOT_GLIBC_OBJECT_H
#define CLIENTS_SNAPSHOT_GLIBC_OBJECT_H

#include "clients/snapshot/thread_stack.h"

/* NAME, letter and word of its label; type and verb of a wait for it, as in config/pthread.conf */
#define WAIT_KINDS(A)                                                                              \
    A(NONE, "", "", "", "")                                                                        \
    A(MUTEX, "M", "mutex", "acquire", "requests")                                                  \
    A(STREAM_LOCK, "M", "stream lock", "acquire", "requests")                                      \
    A(RWLOCK_READ, "RW", "read-write lock", "acquire", "requests")                                 \
    A(RWLOCK_WRITE, "RW", "read-write lock", "acquire", "requests")                                \
    A(CONDITION, "CV", "condition variable", "wait", "waits on")                                   \
    A(SEMAPHORE, "Sem", "semaphore", "acquire", "requests")                                        \
    A(BARRIER, "B", "barrier", "arrive", "arrives at")                                             \
    A(ONCE, "O", "once", "wait", "waits on")                                                       \
    A(JOIN, "T", "thread", "join", "waits to join")                                                \
    A(FUTURE, "", "future", "wait", "waits for the result of")                                     \
    A(FUTEX, "", "futex", "wait", "waits on")                                                      \
    A(PIPE_READ, "S", "pipe", "empty", "waits for bytes from")                                     \
    A(PIPE_WRITE, "S", "pipe", "full", "waits for buffer space in")                                \
    A(CHILD, "", "process", "waitpid", "waits for the end of")

enum wait_kind {
#define A(NAME, letter, word, type, verb) WAIT_##NAME,
    WAIT_KINDS(A)
#undef A
        WAIT_KIND_COUNT
};

struct glibc_object {
    enum wait_kind kind; /* WAIT_NONE: the thread does not sleep at a futex */
    uint64_t address; /* of the object; of a joined thread: its number */
    uint32_t owner; /* inner thread number; 0: none, or unknown */
    bool shared; /* between processes */
    bool robust; /* its waiters resume when the owner exits */
    bool timed;
    bool awake; /* the futex has changed: the wait is about to end */
    bool by_content; /* no function name confirms what it is */
    bool of_loader; /* it is in the memory of the dynamic loader */
    uint32_t count, total; /* rwlock: readers; barrier: arrived, of all; semaphore: value */
};

/* Returns the object at whose futex a thread sleeps. */
struct glibc_object glibc_object_of(const struct snapshot *snapshot,
                                    const struct snapshot_thread *thread,
                                    const struct thread_stack *stack, struct symbolizer *sites);
/* Returns what a function of the C or C++ library waits for, by its name without leading
 * underscores; WAIT_NONE: it is no such function. */
enum wait_kind glibc_object_kind(const char *function);
/* Returns the number of the call in which a thread is: of one that the kernel restarts after a
 * stop, under another number, by the functions of the stack. */
int64_t glibc_object_call(const struct snapshot_thread *thread, const struct thread_stack *stack,
                          struct symbolizer *sites);
/* Returns whether glibc's number of a thread, in the memory at its thread pointer, is the kernel's:
 * else its owners mean nothing. If the
 * pointer is unknown, returns whether glibc is mapped. */
bool glibc_object_is_known(const struct snapshot *snapshot, const struct snapshot_thread *thread);

const char *wait_kind_letter(enum wait_kind kind);
const char *wait_kind_word(enum wait_kind kind);
const char *wait_kind_type(enum wait_kind kind);
const char *wait_kind_verb(enum wait_kind kind);
/* Returns " for reading", " for writing", or "". */
const char *wait_kind_mode(enum wait_kind kind);

#endif
