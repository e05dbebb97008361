/* Untraced synchronization that the program's files import: reported at the start, as a reason for
 * uncertain answers. Checked are the program and those of its libraries that were compiled with
 * -trace. */
#define _GNU_SOURCE
#include "clients/libpoet/core/untraced_imports.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/poet.h"

#include <elf.h>
#include <link.h>
#include <mqueue.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

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
    {false, "System V semaphores and messages", {"semop", "semtimedop", "msgsnd", "msgrcv"}},
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
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

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
#include <elf.h>
#include <link.h>

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
