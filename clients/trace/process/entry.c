/* Which calls are looked at, and what they are stood before. */
#define _GNU_SOURCE
#include "clients/trace/process/entry.h"

#include "clients/trace/next.h"
#include "clients/trace/poet.h"

#include <link.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

__thread bool inside __attribute__((tls_model("initial-exec")));
static uintptr_t ours_start, ours_end; /* libpoet's code: its calls are none of the program's */
static pid_t process;
static bool shut; /* nothing is looked at */

static int find_ours(struct dl_phdr_info *info, size_t size, void *context)
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

bool is_shut(void) { return LOAD(&shut); }

void *next(const char *name)
{
    bool was = inside;
    inside = true;
    void *call = next_call(name);
    inside = was;
    return call;
}

bool looks(const void *site)
{
    if (inside || LOAD(&shut))
        return false;
    if (!LOAD(&ours_end)) {
        int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
        inside = true;
        *(void **)&iterate = next("dl_iterate_phdr"); /* a runtime may define its own */
        iterate(find_ours, (void *)(uintptr_t)poet_record);
        inside = false;
    }
    return !((uintptr_t)site >= ours_start && (uintptr_t)site < ours_end);
}

bool is_own_process(void) { return !LOAD(&shut) && (!process || getpid() == process); }

void entry_begin(void) { process = getpid(); }

/* libpoet calls them before the thread, or the process, forbids itself system calls. */
API void poet_process_quiet(bool quiet);
API void poet_process_shut(bool all);
API void poet_process_quiet(bool quiet) { inside = quiet; }
void poet_process_shut(bool all) { STORE(&shut, all); }

#define SHUT_STEP_NS 1000000u

/* Where no clock may be read it goes on with each look, so that whoever waits gives up. */
uint64_t now_ns(void)
{
    static uint64_t looks_shut;
    struct timespec now;
    if (is_shut())
        return __atomic_add_fetch(&looks_shut, SHUT_STEP_NS, __ATOMIC_RELAXED);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC,
            &now); /* (the C library's may read a forbidden counter) */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
