#include "clients/snapshot/runtime_frames.h"

#include <stddef.h>
#include <string.h>

bool runtime_frames_has_file(const char *path)
{
    static const char *const names[] = {
        "libc.so", "libc-",     "libpthread", "ld-",     "ld.so",    "ld64.so",   "libstdc++.",
        "libc++.", "libc++abi", "libgcc_s",   "libgomp", "libomp",   "libiomp5",  "librt.",
        "librt-",  "libpoet",   "libasan",    "libtsan", "libubsan", "linux-vdso"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool runtime_frames_begins(const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Returns whether a function of the C++ library was compiled into the application. The name of an
 * instance of a template begins with the type of its result; that of the function with which
 * std::thread begins is a type, "void (*)()". */
static bool runtime_frames_is_template(const char *function)
{
    static const char *const names[] = {"std::", "__gnu_cxx::", "__gthread_", "(*)"};
    bool begins = true;
    unsigned depth = 0;
    for (const char *c = function; *c; c++) {
        if (begins && !depth && runtime_frames_begins(c, names, sizeof names / sizeof *names))
            return true;
        depth += *c == '<' ? 1u : *c == '>' && depth ? UINT32_MAX : 0u;
        begins = *c == ' ';
    }
    return false;
}

/* Returns whether a function of a static program is no part of the application: it waits, or calls
 * main() or the function of a thread. */
static bool runtime_frames_is_static(const char *function)
{
    static const char *const parts[] = {"futex_", "lll_",  "pthread_", "sem_",   "new_sem_", "mtx_",
                                        "cnd_",   "thrd_", "libc_",    "start_", "GI_"},
                             *const names[] = {"start",
                                               "start_thread",
                                               "clone",
                                               "clone3",
                                               "syscall",
                                               "execute_native_thread_routine",
                                               "cxa_guard_acquire"};
    function += strspn(function, "_");
    bool is = runtime_frames_begins(function, parts, sizeof parts / sizeof *parts);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is |= strcmp(function, names[i]) == 0;
    return is;
}

static bool runtime_frames_is_runtime(const struct thread_stack *stack, uint32_t frame,
                                      struct symbolizer *sites)
{
    uint64_t address = stack->frames[frame].address;
    bool is_static = true, found = false;
    uint32_t count;
    const struct module_info *m = symbolizer_module_list(sites, 0, &count);
    for (uint32_t i = 0; i < count; i++, m++) {
        bool runtime = runtime_frames_has_file(m->path);
        bool inside = address >= m->start && address < m->end;
        is_static &= !runtime;
        found |= inside;
        if (runtime && inside)
            return true;
    }
    const char *function = found ? symbolize_outer(sites, 0, address).function : "";
    return !found || runtime_frames_is_template(function) ||
           (is_static && runtime_frames_is_static(function)) || strcmp(function, "_start") == 0;
}

uint32_t runtime_frames_count(const struct thread_stack *stack, struct symbolizer *sites)
{
    uint32_t i = 0;
    while (i < stack->count && runtime_frames_is_runtime(stack, i, sites))
        i++;
    return i;
}

uint32_t runtime_frames_start(const struct thread_stack *stack, struct symbolizer *sites)
{
    uint32_t i = stack->complete ? stack->count : 0;
    while (i > 0 && runtime_frames_is_runtime(stack, i - 1, sites))
        i--;
    return i ? i - 1 : UINT32_MAX;
}
