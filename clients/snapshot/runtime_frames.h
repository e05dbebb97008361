/* Frames of a stack that belong to the C and C++ runtime libraries, not to the application. */
#ifndef CLIENTS_SNAPSHOT_RUNTIME_FRAMES_H
#define CLIENTS_SNAPSHOT_RUNTIME_FRAMES_H

#include "clients/snapshot/thread_stack.h"

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
