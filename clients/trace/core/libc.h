/* Included before every file of libpoet.  A program may define functions of the C library itself (a runtime
 * that has threads of its own defines pthread_*, poll, dl_iterate_phdr), which may not be called before it is
 * ready, or from outside of its threads: libpoet calls the C library's (bind.c).  The calls below go through
 * a table, since libpoet stands before some of them itself.
 * Memory comes from the system, never from the program's malloc: a signal handler may need it. */
#ifndef CLIENTS_TRACE_CORE_LIBC_H
#define CLIENTS_TRACE_CORE_LIBC_H

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
#define LIBC_CALLS(L)                                                                                       \
    L(dl_iterate_phdr) L(poll) L(open) L(read) L(write) L(close) L(fcntl) L(fstat) L(ftruncate) L(mmap)     \
    L(munmap) L(socket) L(send) L(sendmsg) L(recvmsg) L(getsockopt) L(nanosleep)                 \
    L(clock_gettime) L(getpid) L(signal) L(sigprocmask) L(pthread_sigmask) L(pthread_setcancelstate)        \
    L(pthread_testcancel) L(pthread_key_create) L(pthread_key_delete) L(pthread_setspecific)                \
    L(pthread_self)                                                                                         \
    L(pthread_attr_getdetachstate) L(pthread_barrierattr_getpshared)                                        \
    L(getrandom) L(getrusage) L(pread)
/* clang-format on */

#pragma GCC visibility push(hidden)
struct libc {
#define L(name) __typeof__(name) *name;
    LIBC_CALLS(L)
#undef L
};
extern struct libc libc;
void libc_find(void);
void *pages_resize(void *pages, size_t bytes);
void pages_free(void *pages);
#pragma GCC visibility pop

#define dl_iterate_phdr(...) libc.dl_iterate_phdr(__VA_ARGS__)
#define poll(...) libc.poll(__VA_ARGS__)
#define open(...) libc.open(__VA_ARGS__)
#define read(...) libc.read(__VA_ARGS__)
#define write(...) libc.write(__VA_ARGS__)
#define close(...) libc.close(__VA_ARGS__)
#define fcntl(...) libc.fcntl(__VA_ARGS__)
#define fstat(...) libc.fstat(__VA_ARGS__)
#define ftruncate(...) libc.ftruncate(__VA_ARGS__)
#define mmap(...) libc.mmap(__VA_ARGS__)
#define munmap(...) libc.munmap(__VA_ARGS__)
#define socket(...) libc.socket(__VA_ARGS__)
#define send(...) libc.send(__VA_ARGS__)
#define sendmsg(...) libc.sendmsg(__VA_ARGS__)
#define recvmsg(...) libc.recvmsg(__VA_ARGS__)
#define getsockopt(...) libc.getsockopt(__VA_ARGS__)
#define nanosleep(...) libc.nanosleep(__VA_ARGS__)
#define clock_gettime(...) libc.clock_gettime(__VA_ARGS__)
#define getpid() libc.getpid()
#define signal(...) libc.signal(__VA_ARGS__)
#define sigprocmask(...) libc.sigprocmask(__VA_ARGS__)
#define pthread_sigmask(...) libc.pthread_sigmask(__VA_ARGS__)
#define pthread_setcancelstate(...) libc.pthread_setcancelstate(__VA_ARGS__)
#define pthread_testcancel() libc.pthread_testcancel()
#define pthread_key_create(...) libc.pthread_key_create(__VA_ARGS__)
#define pthread_key_delete(...) libc.pthread_key_delete(__VA_ARGS__)
#define pthread_setspecific(...) libc.pthread_setspecific(__VA_ARGS__)
#define pthread_self() libc.pthread_self()
#define pthread_attr_getdetachstate(...) libc.pthread_attr_getdetachstate(__VA_ARGS__)
#define pthread_barrierattr_getpshared(...) libc.pthread_barrierattr_getpshared(__VA_ARGS__)
#define getrandom(...) libc.getrandom(__VA_ARGS__)
#define getrusage(...) libc.getrusage(__VA_ARGS__)
#define pread(...) libc.pread(__VA_ARGS__)
#define realloc(...) pages_resize(__VA_ARGS__)
#define free(...) pages_free(__VA_ARGS__)

#endif
