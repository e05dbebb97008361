/* Entry points of the interposed calls, and which calls are traced. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/ipc_entries.h"

#include "base/clock.h"
#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/poet.h"

#include <link.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

__thread bool ipc_inside_library __attribute__((tls_model("initial-exec")));
static uintptr_t ours_start, ours_end; /* libpoet's code: its calls do not count as the program's */
static pid_t ipc_process;
static bool ipc_is_shut; /* no call is traced */

static int ipc_entry_find_libpoet(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t wanted = (uintptr_t)context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_LOAD && wanted >= start && wanted < start + h->p_memsz) {
            ours_start = start;
            STORE(&ours_end, start + h->p_memsz);
            return 1;
        }
    }
    return 0;
}

bool ipc_entry_is_shut(void) { return LOAD(&ipc_is_shut); }

void *ipc_entry_next_call(const char *name)
{
    bool was = ipc_inside_library;
    ipc_inside_library = true;
    void *call = next_call(name);
    ipc_inside_library = was;
    return call;
}

bool ipc_entry_is_traced(const void *site)
{
    if (ipc_inside_library || LOAD(&ipc_is_shut))
        return false;
    if (!LOAD(&ours_end)) {
        int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
        ipc_inside_library = true;
        *(void **)&iterate =
            ipc_entry_next_call("dl_iterate_phdr"); /* a runtime may define its own */
        iterate(ipc_entry_find_libpoet, (void *)(uintptr_t)poet_record);
        ipc_inside_library = false;
    }
    return !((uintptr_t)site >= ours_start && (uintptr_t)site < ours_end);
}

bool ipc_entry_is_own_process(void)
{
    return !LOAD(&ipc_is_shut) && (!ipc_process || getpid() == ipc_process);
}

void ipc_entry_begin(void) { ipc_process = getpid(); }

/* Called by libpoet before the thread, or the process, denies itself system calls. */
API void poet_process_quiet(bool quiet);
API void poet_process_shut(bool all);
API void poet_process_quiet(bool quiet) { ipc_inside_library = quiet; }
void poet_process_shut(bool all) { STORE(&ipc_is_shut, all); }

#define SHUT_STEP_NS 1000000u

/* Where no clock may be read, the time advances with each call, so that waits end. */
uint64_t now_ns(void)
{
    static uint64_t looks_shut;
    struct timespec now;
    if (ipc_entry_is_shut())
        return __atomic_add_fetch(&looks_shut, SHUT_STEP_NS, __ATOMIC_RELAXED);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC,
            &now); /* (the C library's may read a forbidden counter) */
    return timespec_ns(now);
}
