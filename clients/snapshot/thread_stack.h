/* Stack of a thread of a snapshot, unwound by libdwfl with the unwind tables of the mapped files,
 * and which of its frames are the application's. */
#ifndef CLIENTS_SNAPSHOT_THREAD_STACK_H
#define CLIENTS_SNAPSHOT_THREAD_STACK_H

#include "clients/snapshot/snapshot.h"
#include "clients/symbols/symbolizer.h"

#define THREAD_STACK_FRAMES 256u

struct thread_stack {
    struct stack_frame {
        uint64_t address; /* of the call, or of the interrupted instruction */
        uint64_t registers[REGISTER_COUNT];
        uint32_t known; /* registers that keep their values across calls */
        uint64_t stack; /* the stack pointer; 0: unknown */
    } *frames; /* the innermost first */
    uint32_t count;
    bool complete; /* it ends where the thread began */
    const char *incomplete; /* why it does not */
};

struct stack_unwinder;

/* Unwinds the threads of a snapshot with the files of process 0 of a symbolizer. */
struct stack_unwinder *stack_unwinder_new(const struct snapshot *snapshot,
                                          struct symbolizer *sites);
void stack_unwinder_free(struct stack_unwinder *unwinder);
void stack_unwinder_read(struct stack_unwinder *unwinder, const struct snapshot_thread *thread,
                         struct thread_stack *stack);
void thread_stack_free(struct thread_stack *stack);

/* ---- frames of the C and C++ runtime libraries, which are not the application's ---- */

/* Returns whether a file is one of the runtime libraries. */
bool runtime_frames_has_file(const char *path);
/* Returns the number of innermost frames that are in runtime libraries: the index of the first
 * frame of the application, or the number of frames if there is none. In a static program these are
 * functions that wait, by their names. */
uint32_t runtime_frames_count(const struct thread_stack *stack, struct symbolizer *sites);
/* Returns the index of the outermost frame of the application: the function that a thread started
 * with; UINT32_MAX: there is none, or the stack is incomplete. */
uint32_t runtime_frames_start(const struct thread_stack *stack, struct symbolizer *sites);

#endif
