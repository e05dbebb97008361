/* Languages and libraries that synchronize in ways that cannot be traced from outside. They are
 * detected when they are loaded, not only when a thread happens to wait. */
#define _GNU_SOURCE
#include "clients/libpoet/core/untraced_runtimes.h"

#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/untraced_uses.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define FOUND 16
#define PYTHON "Python locks, unless the program imports poet"
#define SCAN_BYTES ((size_t)64 << 20) /* of one module, at most */

/* Their locks and queues are built on futexes and atomics of their own. */
static const struct {
    const char *file, *name;
} libraries[] = {
    {"libgomp.so", "OpenMP"},  {"libomp.so", "OpenMP"}, {"libomp-", "OpenMP"},
    {"libiomp5.so", "OpenMP"}, {"libtbb.so", "TBB"},    {"libglib-2.0.so", "GLib"},
    {"libQt5Core.so", "Qt"},   {"libQt6Core.so", "Qt"}, {"libabsl_synchronization.so", "Abseil"}};

extern const char poet_omp_follows[] __attribute__((weak)); /* libpoet-omp is there */

static char untraced_runtime_found[FOUND][112]; /* appended to under the lock of the modules */
static _Atomic unsigned found_count, told_count;
static struct dl_phdr_info program;

static void untraced_runtime_add(const char *name, const char *file)
{
    unsigned count = atomic_load(&found_count);
    if (count == FOUND)
        return;
    snprintf(untraced_runtime_found[count], sizeof *untraced_runtime_found, "%s (%.60s)", name,
             file);
    atomic_store(&found_count, count + 1);
}

bool untraced_runtime_is_traced(const char *file)
{
    for (size_t i = 0; poet_omp_follows && i < sizeof libraries / sizeof *libraries; i++)
        if (strcmp(libraries[i].name, "OpenMP") == 0 &&
            strncmp(file, libraries[i].file, strlen(libraries[i].file)) == 0)
            return true;
    return false;
}

/* ---- Rust: its standard library leaves the names of its source files in every program ---- */

static const ElfW(Phdr) * untraced_runtime_header(const struct dl_phdr_info *info, unsigned type)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == type)
            return &info->dlpi_phdr[i];
    return NULL;
}

/* Programs in Rust unwind by libgcc_s, those in C rarely need it: so most need not be scanned. */
static bool needs_unwinder(const struct dl_phdr_info *info)
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
__attribute__((no_sanitize("address"))) static bool holds_its_name(const uint8_t *data, size_t size)
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

static bool is_rust(const struct dl_phdr_info *info)
{
    if (!needs_unwinder(info))
        return false;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        size_t size = h->p_filesz < SCAN_BYTES ? h->p_filesz : SCAN_BYTES;
        if (h->p_type == PT_LOAD && (h->p_flags & (PF_R | PF_W)) == PF_R &&
            holds_its_name((const uint8_t *)(info->dlpi_addr + h->p_vaddr), size))
            return true;
    }
    return false;
}

/* ---- Go: a note ---- */

static bool is_go(const struct dl_phdr_info *info)
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
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(file, libraries[i].file, strlen(libraries[i].file)) == 0 &&
            !untraced_runtime_is_traced(file))
            untraced_runtime_add(libraries[i].name, file);
    if (!records && strncmp(file, "libpython", 9) == 0)
        untraced_runtime_add(PYTHON, file);
    if (is_go(info))
        untraced_runtime_add("Go", file);
    /* scanned once it is known whether the program is traced at all */
    if (is_program)
        program = *info;
    else if (records && is_rust(info))
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
    if (modules_interpreter)
        untraced_runtime_interpreter(warn);
    if (!program.dlpi_phdr || !is_rust(&program))
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
    unsigned count = atomic_load(&found_count);
    if (count == atomic_load_explicit(&told_count, memory_order_relaxed))
        return;
    for (unsigned i = 0; i < count; i++)
        untraced_use_report(UNTRACED_RUNTIME, untraced_runtime_found[i]);
    atomic_store(&told_count, count);
}
