#define _GNU_SOURCE
#include "clients/libpoet/core/untraced_uses.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/poet.h"
#include "wire/event_types.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <mqueue.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

/* ---- reports, one for each reason and detail ---- */

#define UNSEEN_MOST 32u

static struct {
    uint8_t reason;
    char about[120];
} unseen[UNSEEN_MOST];
static _Atomic unsigned unseen_count;
static latch untraced_use_add_latch;
static _Atomic bool untraced_use_pending; /* one of them could not be sent */

static void untraced_use_encode(struct encoder *out, unsigned i)
{
    encoder_begin_message(out, MESSAGE_UNTRACED);
    encode_untraced(out,
                    &(struct untraced_message){unseen[i].reason, text_view_of(unseen[i].about)});
    encoder_end_message(out);
}

void untraced_use_announce(struct encoder *out)
{
    for (unsigned i = 0; i < atomic_load(&unseen_count); i++)
        untraced_use_encode(out, i);
}

static bool untraced_use_is_known(enum untraced_reason reason, const char *about)
{
    for (unsigned i = 0; i < atomic_load_explicit(&unseen_count, memory_order_acquire); i++)
        if (unseen[i].reason == reason && strcmp(unseen[i].about, about) == 0)
            return true;
    return false;
}

/* Returns its index, or UNSEEN_MOST if it was known or there are too many. */
static unsigned untraced_use_add(enum untraced_reason reason, const char *what)
{
    char about[sizeof unseen[0].about];
    size_t size = message_text_size(what, sizeof about - 1);
    memcpy(about, what, size);
    about[size] = 0;
    if (untraced_use_is_known(reason, about))
        return UNSEEN_MOST;
    latch_lock(&untraced_use_add_latch);
    unsigned at = untraced_use_is_known(reason, about) ? UNSEEN_MOST : atomic_load(&unseen_count);
    if (at < UNSEEN_MOST) {
        unseen[at].reason = (uint8_t)reason;
        memcpy(unseen[at].about, about, sizeof about);
        atomic_store_explicit(&unseen_count, at + 1, memory_order_release);
    }
    latch_unlock(&untraced_use_add_latch);
    return at;
}

/* The thread that was adding does not exist in the child. */
void untraced_use_forked(void) { latch_reset(&untraced_use_add_latch); }

/* Sent through the thread's queue, in the order of its events: this takes no lock. */
static void untraced_use_send(enum untraced_reason reason, const char *what)
{
    struct traced_thread *t = what ? thread_recording() : NULL;
    if (!t)
        return;
    uint8_t bytes[160];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    int saved = errno;
    busy_begin(t);
    unsigned at = untraced_use_add(reason, what);
    if (at < UNSEEN_MOST) {
        encode_untraced(
            &body, &(struct untraced_message){unseen[at].reason, text_view_of(unseen[at].about)});
        message_queue_send(t, MESSAGE_UNTRACED, &body);
    }
    busy_end(t);
    errno = saved;
}

void poet_untraced(const char *what) { untraced_use_send(UNTRACED_RUNTIME, what); }

void poet_untraced_atomics(const char *what) { untraced_use_send(UNTRACED_ATOMIC, what); }

void untraced_use_report(enum untraced_reason reason, const char *what)
{
    unsigned at = untraced_use_add(reason, what);
    uint32_t life = atomic_load(&tracer.lifetime.number);
    /* reported in the next lifetime */
    if (at >= UNSEEN_MOST || !life)
        return;
    uint8_t bytes[sizeof unseen[0].about + 32];
    struct encoder out = {.data = bytes, .room = sizeof bytes};
    untraced_use_encode(&out, at);
    if (!server_send(&out, life))
        atomic_store(&untraced_use_pending, true);
}

void untraced_use_forward(void)
{
    uint32_t life = atomic_load(&tracer.lifetime.number);
    if (!life || !atomic_load_explicit(&untraced_use_pending, memory_order_relaxed) ||
        !atomic_exchange(&untraced_use_pending, false))
        return;
    for (unsigned i = 0; i < atomic_load(&unseen_count); i++) {
        uint8_t bytes[sizeof unseen[0].about + 32];
        struct encoder out = {.data = bytes, .room = sizeof bytes};
        untraced_use_encode(&out, i);
        if (!server_send(&out, life)) {
            atomic_store(&untraced_use_pending, true);
            return;
        }
    }
}

/* ---- imports, reported at the start ---- */

extern const char poet_process_follows[] __attribute__((weak)); /* libpoet-process is there */

#define MOST_NAMES 8
static const char MAPPED[] = "memory mapped from files";
static const struct import_kind {
    bool followed; /* by libpoet-process */
    const char *what, *names[MOST_NAMES];
} untraced_import_kinds[] = {
    {true,
     "pipes and FIFOs (traced with poetcc -trace -processes)",
     {"pipe", "pipe2", "mkfifo", "mkfifoat"}},
    {true,
     "sockets (poetcc -trace -processes traces byte streams between programs of one host, "
     "but no datagrams)",
     {"socketpair", "socket"}},
    {true, "eventfds (traced with poetcc -trace -processes)", {"eventfd"}},
    {true, "POSIX message queues (traced with poetcc -trace -processes)", {"mq_open"}},
    {true,
     "file locks (traced with poetcc -trace -processes)",
     {"flock", "lockf", "lockf64", "fcntl", "fcntl64"}},
    {false, "stdio reads from pipes (popen, fdopen)", {"popen", "fdopen"}},
    {false, "epoll", {"epoll_wait", "epoll_pwait", "epoll_pwait2"}},
    {false, "splice, sendfile", {"splice", "vmsplice", "tee", "sendfile", "sendfile64"}},
    {false,
     "recvmmsg, sendmmsg, preadv2, pwritev2",
     {"recvmmsg", "sendmmsg", "preadv2", "pwritev2"}},
    {true,
     "System V semaphores and messages (traced with poetcc -trace -processes)",
     {"semop", "semtimedop", "msgsnd", "msgrcv"}},
    {false, "memory shared with other processes", {"shm_open", "shmget"}},
    {false,
     "asynchronous I/O (aio)",
     {"aio_read", "aio_write", "aio_read64", "aio_write64", "lio_listio"}},
    {false,
     "inotify, fanotify, timerfd",
     {"inotify_init", "inotify_init1", "fanotify_init", "timerfd_create"}},
    {false, "reads from a signalfd", {"signalfd"}},
    {false,
     "io_uring",
     {"io_uring_setup", "io_uring_queue_init", "io_uring_queue_init_params",
      "io_uring_queue_init_mem"}},
    {false,
     "work passed to an event loop (event_active and similar)",
     {"event_active", "event_base_once", "evuser_trigger", "ev_async_send", "uv_async_send"}},
    {false, MAPPED, {"mmap", "mmap64"}},
    {false,
     "file data written and read at offsets (pread, pwrite)",
     {"pwrite", "pwrite64", "pwritev", "pwritev64"}},
};
#define WAYS (sizeof untraced_import_kinds / sizeof *untraced_import_kinds)

/* Defined in units that include the headers of atomics: clients/libpoet/atomics. */
#pragma weak poet_unit_has_stdatomic
#pragma weak poet_unit_has_atomic
extern const char poet_unit_has_stdatomic[], poet_unit_has_atomic[];

static void untraced_import_report_atomics(void)
{
    if (poet_unit_has_stdatomic)
        untraced_use_report(UNTRACED_ATOMIC, "<stdatomic.h>");
    if (poet_unit_has_atomic)
        untraced_use_report(UNTRACED_ATOMIC, "<atomic>");
}

#if defined(POET_STATIC)
/* A static program contains what it calls, and nothing else; calls of libpoet itself are
 * excluded. */
#pragma weak pipe
#pragma weak pipe2
#pragma weak eventfd
#pragma weak mq_open
#pragma weak epoll_wait
#pragma weak semop
#pragma weak shmget

void untraced_imports_report(void)
{
    const bool there[WAYS] = {[0] = pipe || pipe2, [2] = eventfd, [3] = mq_open,
                              [6] = epoll_wait,    [9] = semop,   [10] = shmget};
    for (size_t i = 0; i < WAYS; i++)
        if (there[i])
            untraced_use_report(UNTRACED_RUNTIME, untraced_import_kinds[i].what);
    untraced_import_report_atomics();
}

int poet_imports(const char *const *names) { return names && 0; }
#else
/* The names that a module has looked up by the loader: those that it calls. */
struct import_names {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations[2];
    size_t counts[2];
};

static const void *untraced_import_address(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return (const void *)(address < info->dlpi_addr ? address + info->dlpi_addr : address);
}

static struct import_names untraced_import_names(const struct dl_phdr_info *info)
{
    struct import_names n = {0};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; d->d_tag != DT_NULL; d++)
            switch (d->d_tag) {
            case DT_SYMTAB:
                n.symbols = untraced_import_address(info, d->d_un.d_ptr);
                break;
            case DT_STRTAB:
                n.strings = untraced_import_address(info, d->d_un.d_ptr);
                break;
            case DT_RELA:
                n.relocations[0] = untraced_import_address(info, d->d_un.d_ptr);
                break;
            case DT_RELASZ:
                n.counts[0] = d->d_un.d_val / sizeof(ElfW(Rela));
                break;
            case DT_JMPREL:
                n.relocations[1] = untraced_import_address(info, d->d_un.d_ptr);
                break;
            case DT_PLTRELSZ:
                n.counts[1] = d->d_un.d_val / sizeof(ElfW(Rela));
                break;
            default:
                break;
            }
    }
    return n;
}

#if __WORDSIZE == 64
#define SYMBOL(r) ELF64_R_SYM((r)->r_info)
#else
#define SYMBOL(r) ELF32_R_SYM((r)->r_info)
#endif

typedef bool each(const char *name, void *context); /* true: enough */

static bool untraced_import_each_name(const struct import_names *n, each *call, void *context)
{
    for (int i = 0; i < 2 && n->symbols && n->strings; i++)
        for (size_t k = 0; n->relocations[i] && k < n->counts[i]; k++) {
            const ElfW(Sym) *s = &n->symbols[SYMBOL(&n->relocations[i][k])];
            if (SYMBOL(&n->relocations[i][k]) && s->st_shndx == SHN_UNDEF &&
                call(n->strings + s->st_name, context))
                return true;
        }
    return false;
}

static const char REDIRECTED[] = "poet_link_with_poetcc_trace__";

static bool untraced_import_is_redirected(const char *name, void *context)
{
    (void)context;
    return strncmp(name, REDIRECTED, sizeof REDIRECTED - 1) == 0;
}

/* Without these calls a program maps no file. */
static const char *const untraced_import_opening[MOST_NAMES] = {
    "open", "open64", "openat", "openat64", "mkstemp", "mkstemp64", "memfd_create", "fileno"};

struct imports_found {
    bool ways[WAYS], opening;
};

static bool untraced_import_is_among(const char *name, const char *const names[MOST_NAMES])
{
    for (size_t k = 0; k < MOST_NAMES && names[k]; k++)
        if (strcmp(names[k], name) == 0)
            return true;
    return false;
}

static bool untraced_import_note(const char *name, void *context)
{
    struct imports_found *found = context;
    if (untraced_import_is_redirected(name, NULL))
        name += sizeof REDIRECTED - 1;
    for (size_t i = 0; i < WAYS; i++)
        found->ways[i] |= untraced_import_is_among(name, untraced_import_kinds[i].names);
    found->opening |= untraced_import_is_among(name, untraced_import_opening);
    return false;
}

static int untraced_import_scan(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    struct import_names n = untraced_import_names(info);
    if (!info->dlpi_name || !*info->dlpi_name ||
        untraced_import_each_name(&n, untraced_import_is_redirected, NULL))
        untraced_import_each_name(&n, untraced_import_note, found);
    return 0;
}

void untraced_imports_report(void)
{
    struct imports_found found = {0};
    dl_iterate_phdr(untraced_import_scan, &found);
    for (size_t i = 0; i < WAYS; i++)
        if (found.ways[i] && (found.opening || untraced_import_kinds[i].what != MAPPED) &&
            !(untraced_import_kinds[i].followed && poet_process_follows))
            untraced_use_report(UNTRACED_RUNTIME, untraced_import_kinds[i].what);
    untraced_import_report_atomics();
}

static bool untraced_import_is_named(const char *name, void *context)
{
    for (const char *const *names = context; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static int untraced_import_search(struct dl_phdr_info *info, size_t size, void *names)
{
    (void)size;
    struct import_names n = untraced_import_names(info);
    return untraced_import_each_name(&n, untraced_import_is_named, names)
               ? 2
               : 1; /* the program comes first */
}

int poet_imports(const char *const *names)
{
    return dl_iterate_phdr(untraced_import_search, (void *)(uintptr_t)names) == 2;
}
#endif

/* ---- languages and libraries, detected when they are loaded, not only when a thread happens to
 * wait ---- */

#define UNTRACED_RUNTIMES_MOST 16
#define PYTHON "Python locks, unless the program imports poet"
#define SCAN_BYTES ((size_t)64 << 20) /* of one module, at most */

/* Their locks and queues are built on futexes and atomics of their own. */
static const struct {
    const char *file, *name;
} runtime_libraries[] = {
    {"libgomp.so", "OpenMP"},  {"libomp.so", "OpenMP"}, {"libomp-", "OpenMP"},
    {"libiomp5.so", "OpenMP"}, {"libtbb.so", "TBB"},    {"libglib-2.0.so", "GLib"},
    {"libQt5Core.so", "Qt"},   {"libQt6Core.so", "Qt"}, {"libabsl_synchronization.so", "Abseil"}};

extern const char poet_omp_follows[] __attribute__((weak)); /* libpoet-omp is there */

static char untraced_runtime_found[UNTRACED_RUNTIMES_MOST]
                                  [112]; /* appended to under the lock of the modules */
static _Atomic unsigned untraced_runtime_count, untraced_runtimes_reported;
static struct dl_phdr_info runtime_program;

static void untraced_runtime_add(const char *name, const char *file)
{
    unsigned count = atomic_load(&untraced_runtime_count);
    if (count == UNTRACED_RUNTIMES_MOST)
        return;
    snprintf(untraced_runtime_found[count], sizeof *untraced_runtime_found, "%s (%.60s)", name,
             file);
    atomic_store(&untraced_runtime_count, count + 1);
}

bool untraced_runtime_is_traced(const char *file)
{
    for (size_t i = 0; poet_omp_follows && i < sizeof runtime_libraries / sizeof *runtime_libraries;
         i++)
        if (strcmp(runtime_libraries[i].name, "OpenMP") == 0 &&
            strncmp(file, runtime_libraries[i].file, strlen(runtime_libraries[i].file)) == 0)
            return true;
    return false;
}

/* Rust: its standard library leaves the names of its source files in every program. */

static const ElfW(Phdr) * untraced_runtime_header(const struct dl_phdr_info *info, unsigned type)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == type)
            return &info->dlpi_phdr[i];
    return NULL;
}

/* Programs in Rust unwind by libgcc_s, those in C rarely need it: so most need not be scanned. */
static bool untraced_runtime_needs_unwinder(const struct dl_phdr_info *info)
{
    const ElfW(Phdr) *h = untraced_runtime_header(info, PT_DYNAMIC);
    const ElfW(Dyn) *first = h ? (const void *)(info->dlpi_addr + h->p_vaddr) : NULL;
    uintptr_t strings = 0;
    for (const ElfW(Dyn) *d = first; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            strings =
                d->d_un.d_ptr < info->dlpi_addr ? d->d_un.d_ptr + info->dlpi_addr : d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = first; strings && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED &&
            strncmp((const char *)strings + d->d_un.d_val, "libgcc_s.so", 11) == 0)
            return true;
    return false;
}

/* Searches by Horspool's algorithm (1980), not by memmem: sanitizers interpose that, and would
 * report reads between the program's variables.  The name is written backwards, since a program
 * that is linked with libpoet statically holds what stands here. */
__attribute__((no_sanitize("address"))) static bool untraced_runtime_holds_name(const uint8_t *data,
                                                                                size_t size)
{
    static const uint8_t backwards[] = "/crs/dts/yrarbil";
    enum { LAST = sizeof backwards - 2 };
    uint8_t step[256];
    for (size_t i = 0; i < sizeof step; i++)
        step[i] = LAST + 1;
    for (size_t i = LAST; i > 0; i--)
        step[backwards[i]] = (uint8_t)i;
    for (size_t at = LAST; at < size; at += step[data[at]]) {
        size_t same = 0;
        while (same <= LAST && data[at - same] == backwards[same])
            same++;
        if (same > LAST)
            return true;
    }
    return false;
}

static bool untraced_runtime_is_rust(const struct dl_phdr_info *info)
{
    if (!untraced_runtime_needs_unwinder(info))
        return false;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        size_t size = h->p_filesz < SCAN_BYTES ? h->p_filesz : SCAN_BYTES;
        if (h->p_type == PT_LOAD && (h->p_flags & (PF_R | PF_W)) == PF_R &&
            untraced_runtime_holds_name((const uint8_t *)(info->dlpi_addr + h->p_vaddr), size))
            return true;
    }
    return false;
}

/* Go leaves a note. */

static bool untraced_runtime_is_go(const struct dl_phdr_info *info)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        const ElfW(Nhdr) *note = (const void *)(info->dlpi_addr + h->p_vaddr);
        if (h->p_type == PT_NOTE && h->p_memsz >= sizeof *note + 4 && note->n_namesz == 4 &&
            memcmp(note + 1, "Go\0", 4) == 0)
            return true;
    }
    return false;
}

void untraced_runtime_check(const struct dl_phdr_info *info, const char *path, bool is_program,
                            bool records)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof runtime_libraries / sizeof *runtime_libraries; i++)
        if (strncmp(file, runtime_libraries[i].file, strlen(runtime_libraries[i].file)) == 0 &&
            !untraced_runtime_is_traced(file))
            untraced_runtime_add(runtime_libraries[i].name, file);
    if (!records && strncmp(file, "libpython", 9) == 0)
        untraced_runtime_add(PYTHON, file);
    if (untraced_runtime_is_go(info))
        untraced_runtime_add("Go", file);
    /* scanned once it is known whether the program is traced at all */
    if (is_program)
        runtime_program = *info;
    else if (records && untraced_runtime_is_rust(info))
        untraced_runtime_add("Rust", file);
}

static void untraced_runtime_interpreter(bool warn)
{
    untraced_runtime_add(PYTHON, program_invocation_short_name);
    untraced_runtimes_report();
    if (warn)
        stderr_log_print(
            "Python interpreter: its internal locks are not traced; see docs/python.md to trace "
            "the threads, locks, queues and tasks of the program");
}

void untraced_runtime_check_program(bool warn)
{
    if (tracer.modules.has_interpreter)
        untraced_runtime_interpreter(warn);
    if (!runtime_program.dlpi_phdr || !untraced_runtime_is_rust(&runtime_program))
        return;
    untraced_runtime_add("Rust", program_invocation_short_name);
    untraced_runtimes_report();
    if (warn)
        stderr_log_print(
            "Rust program: std::sync primitives (Mutex, Condvar, mpsc, ...) are not traced; "
            "events ordered by them appear concurrent");
}

void untraced_runtimes_report(void)
{
    unsigned count = atomic_load(&untraced_runtime_count);
    if (count == atomic_load_explicit(&untraced_runtimes_reported, memory_order_relaxed))
        return;
    for (unsigned i = 0; i < count; i++)
        untraced_use_report(UNTRACED_RUNTIME, untraced_runtime_found[i]);
    atomic_store(&untraced_runtimes_reported, count);
}
