/* Included before every file of libpoet. A program may define functions of the C library itself (a
 * runtime with its own threads defines pthread_*, poll, dl_iterate_phdr), which must not be called
 * before it is ready, or from outside of its threads: libpoet and its companion libraries call the
 * C library's. The calls below go through a table, since libpoet interposes some of them itself.
 *
 * Memory comes from the system, never from the program's malloc: a signal handler may need it. */
#ifndef CLIENTS_LIBPOET_CORE_LIBC_CALLS_H
#define CLIENTS_LIBPOET_CORE_LIBC_CALLS_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
#define LIBC_CALLS(L)                                                                           \
    L(dl_iterate_phdr) L(poll) L(open) L(read) L(write) L(close) L(fcntl) L(fstat) L(ftruncate) \
    L(mmap) L(munmap) L(socket) L(send) L(sendmsg) L(recvmsg) L(getsockopt) L(nanosleep)        \
    L(clock_gettime) L(getpid) L(signal) L(sigprocmask) L(pthread_sigmask)                      \
    L(pthread_setcancelstate) L(pthread_testcancel) L(pthread_key_create) L(pthread_key_delete) \
    L(pthread_setspecific) L(pthread_self) L(pthread_attr_getdetachstate)                       \
    L(pthread_barrierattr_getpshared) L(getrandom) L(getrusage) L(pread)
/* clang-format on */

#pragma GCC visibility push(hidden)
struct libc_calls {
#define L(name) __typeof__(name) *name;
    LIBC_CALLS(L)
#undef L
};
extern struct libc_calls libc_calls;
/* Binds all calls to the C library to the C library itself. */
void libc_calls_find(void);
/* Returns the C library's function, of the newest version, or NULL if it is not found. */
void *libc_bind_found(const char *name);
/* Serve as realloc() and free(), of pages of the system. */
void *pages_resize(void *pages, size_t bytes);
void pages_free(void *pages);
#pragma GCC visibility pop

#define dl_iterate_phdr(...) libc_calls.dl_iterate_phdr(__VA_ARGS__)
#define poll(...) libc_calls.poll(__VA_ARGS__)
#define open(...) libc_calls.open(__VA_ARGS__)
#define read(...) libc_calls.read(__VA_ARGS__)
#define write(...) libc_calls.write(__VA_ARGS__)
#define close(...) libc_calls.close(__VA_ARGS__)
#define fcntl(...) libc_calls.fcntl(__VA_ARGS__)
#define fstat(...) libc_calls.fstat(__VA_ARGS__)
#define ftruncate(...) libc_calls.ftruncate(__VA_ARGS__)
#define mmap(...) libc_calls.mmap(__VA_ARGS__)
#define munmap(...) libc_calls.munmap(__VA_ARGS__)
#define socket(...) libc_calls.socket(__VA_ARGS__)
#define send(...) libc_calls.send(__VA_ARGS__)
#define sendmsg(...) libc_calls.sendmsg(__VA_ARGS__)
#define recvmsg(...) libc_calls.recvmsg(__VA_ARGS__)
#define getsockopt(...) libc_calls.getsockopt(__VA_ARGS__)
#define nanosleep(...) libc_calls.nanosleep(__VA_ARGS__)
#define clock_gettime(...) libc_calls.clock_gettime(__VA_ARGS__)
#define getpid() libc_calls.getpid()
#define signal(...) libc_calls.signal(__VA_ARGS__)
#define sigprocmask(...) libc_calls.sigprocmask(__VA_ARGS__)
#define pthread_sigmask(...) libc_calls.pthread_sigmask(__VA_ARGS__)
#define pthread_setcancelstate(...) libc_calls.pthread_setcancelstate(__VA_ARGS__)
#define pthread_testcancel() libc_calls.pthread_testcancel()
#define pthread_key_create(...) libc_calls.pthread_key_create(__VA_ARGS__)
#define pthread_key_delete(...) libc_calls.pthread_key_delete(__VA_ARGS__)
#define pthread_setspecific(...) libc_calls.pthread_setspecific(__VA_ARGS__)
#define pthread_self() libc_calls.pthread_self()
#define pthread_attr_getdetachstate(...) libc_calls.pthread_attr_getdetachstate(__VA_ARGS__)
#define pthread_barrierattr_getpshared(...) libc_calls.pthread_barrierattr_getpshared(__VA_ARGS__)
#define getrandom(...) libc_calls.getrandom(__VA_ARGS__)
#define getrusage(...) libc_calls.getrusage(__VA_ARGS__)
#define pread(...) libc_calls.pread(__VA_ARGS__)
#define realloc(...) pages_resize(__VA_ARGS__)
#define free(...) pages_free(__VA_ARGS__)

#endif
