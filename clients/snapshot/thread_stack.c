#define _GNU_SOURCE
#include "clients/snapshot/thread_stack.h"

#include "base/alloc.h"

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct stack_unwinder {
    const struct snapshot *snapshot;
    Dwfl *dwfl; /* NULL: no file could be opened */
};

/* ---- what libdwfl asks for ---- */

static pid_t unwinder_next_thread(Dwfl *dwfl, void *user, void **thread)
{
    (void)dwfl;
    (void)user;
    (void)thread;
    return 0; /* each thread is named */
}

static bool unwinder_find_thread(Dwfl *dwfl, pid_t tid, void *user, void **thread)
{
    const struct stack_unwinder *u = user;
    (void)dwfl;
    for (size_t i = 0; i < u->snapshot->thread_count; i++)
        if (u->snapshot->threads[i].tid == (uint32_t)tid) {
            *thread = &u->snapshot->threads[i];
            return true;
        }
    return false;
}

static bool unwinder_read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *user)
{
    const struct stack_unwinder *u = user;
    uint64_t is;
    (void)dwfl;
    if (!snapshot_read_u64(u->snapshot, address, &is))
        return false;
    *value = is;
    return true;
}

static bool unwinder_set_registers(Dwfl_Thread *thread, void *user)
{
    const struct snapshot_thread *t = user;
    for (int i = 0; i < REGISTER_COUNT; i++) {
        Dwarf_Word value = t->registers.values[i];
        if (t->registers.known >> i & 1 && !dwfl_thread_state_registers(thread, i, 1, &value))
            return false;
    }
    dwfl_thread_state_register_pc(thread, t->registers.values[REGISTER_PROGRAM]);
    return t->registers.known != 0;
}

/* ---- frames ---- */

static int unwinder_add_frame(Dwfl_Frame *frame, void *user)
{
    struct thread_stack *stack = user;
    struct stack_frame f = {0};
    bool interrupted;
    if (stack->count == THREAD_STACK_FRAMES) {
        stack->incomplete = "only its innermost frames are listed";
        return DWARF_CB_ABORT;
    }
    if (!dwfl_frame_pc(frame, &f.address, &interrupted))
        return DWARF_CB_ABORT;
    f.address -= interrupted ? 0 : 1;
    if (dwfl_frame_reg(frame, REGISTER_STACK, &f.stack) != 0)
        f.stack = 0;
    for (unsigned i = 0; i < REGISTER_COUNT; i++) {
        Dwarf_Word value;
        if (!register_is_preserved(i) || dwfl_frame_reg(frame, i, &value) != 0)
            continue;
        f.registers[i] = value;
        f.known |= 1u << i;
    }
    ARRAY_PUSH(stack->frames, stack->count, f);
    return DWARF_CB_OK;
}

static const char *unwinder_reason(const struct snapshot *s, const struct snapshot_thread *t)
{
    static const char *const unstopped[UNSTOPPED_KINDS] = {
        [UNSTOPPED_NOT] = "a frame has no unwind information, or its memory was not copied",
        [UNSTOPPED_CALL] = "the thread was not stopped, as that would end its system call",
        [UNSTOPPED_TRACED] = "the thread was not stopped: another process traces it",
        [UNSTOPPED_LATE] = "there was no time to stop the thread"};
    if (!t->registers.known)
        return "its registers are unknown";
    if (t->stack_cut)
        return "only a part of it was copied";
    return s->cut ? "the core file is truncated" : unstopped[t->unstopped];
}

void stack_unwinder_read(struct stack_unwinder *u, const struct snapshot_thread *t,
                         struct thread_stack *stack)
{
    *stack = (struct thread_stack){0};
    if (u->dwfl && t->registers.known)
        stack->complete =
            dwfl_getthread_frames(u->dwfl, (pid_t)t->tid, unwinder_add_frame, stack) == 0;
    if (!stack->count && t->registers.known) {
        struct stack_frame f = {.address = t->registers.values[REGISTER_PROGRAM]};
        ARRAY_PUSH(stack->frames, stack->count, f);
    }
    if (!stack->complete && !stack->incomplete)
        stack->incomplete = unwinder_reason(u->snapshot, t);
}

struct stack_unwinder *stack_unwinder_new(const struct snapshot *s, struct symbolizer *sites)
{
    static const Dwfl_Thread_Callbacks callbacks = {.next_thread = unwinder_next_thread,
                                                    .get_thread = unwinder_find_thread,
                                                    .memory_read = unwinder_read_memory,
                                                    .set_initial_registers =
                                                        unwinder_set_registers};
    struct stack_unwinder *u = xcalloc(1, sizeof *u);
    u->snapshot = s;
    u->dwfl = symbolizer_modules(sites, 0);
    if (u->dwfl && !dwfl_attach_state(u->dwfl, NULL, (pid_t)s->pid, &callbacks, u))
        u->dwfl = NULL;
    return u;
}

void stack_unwinder_free(struct stack_unwinder *u) { free(u); }

void thread_stack_free(struct thread_stack *stack)
{
    free(stack->frames);
    *stack = (struct thread_stack){0};
}

/* ---- frames of the runtime libraries ---- */

bool runtime_frames_has_file(const char *path)
{
    static const char *const names[] = {
        "libc.so", "libc-",      "libpthread", "ld-",     "ld.so",   "ld64.so",  "libstdc++.",
        "libc++.", "libc++abi",  "libgcc_s",   "libgomp", "libomp",  "libiomp5", "librt.",
        "librt-",  "libglib-2.", "libpoet",    "libasan", "libtsan", "libubsan", "linux-vdso"};
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

/* Returns whether a function of a static program is not part of the application: it waits, or calls
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
