#define _GNU_SOURCE
#include "clients/snapshot/thread_stack.h"

#include "base/alloc.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>

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
