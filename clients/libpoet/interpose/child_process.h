/* Order between processes of the run: fork, exec, exit and wait. The report of a process to its
 * next program and to its parent is stored beside its process id in the counters that all
 * processes of the run share. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_CHILD_PROCESS_H
#define CLIENTS_LIBPOET_INTERPOSE_CHILD_PROCESS_H

#include "clients/libpoet/core/thread.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* An event of another thread or process, as the predecessor of a later event. */
struct event_origin {
    struct event_id at; /* number 0: it is not known */
    /* 0: at is an event of this process; else its number is the second half of a key */
    uint64_t key;
    unsigned doubt; /* enum untraced_reason: it may have more predecessors */
};

/* Returns a number for a message between processes of the run; 0: there are no shared counters. */
uint64_t child_serial(void);
uint64_t child_key_high(void); /* Returns the first half of the keys of such messages. */
/* Called in a child after its fork, by the message `serial`. */
void child_fork_begin(uint64_t serial);
/* Called when a program begins to record; returns the event after which it does. */
struct event_origin child_program_begin(void);
/* Called when a child of a fork begins to record, which knows its predecessor. */
void child_recording_begin(void);
/* Records the last event of a process that is about to end. */
void child_record_exit(uintptr_t site);
/* Does the same for _exit, also by a child of vfork. */
void child_record_exit_at_once(uintptr_t site);
bool child_is_known(pid_t pid); /* Returns whether the process belongs to the run. */
/* Returns whether it belongs to the run, records, and libpoet receives all its signals. */
bool child_is_traced(pid_t pid);
/* Notes that some signals of this process do not reach libpoet. */
void child_set_foreign_threads(void);
/* Records a message to another process. Returns its number, 0 if it could not be recorded. */
uint64_t child_message(struct traced_thread *thread, uint16_t type, uintptr_t site);

/* State of an exec, needed if that fails. A child of vfork is still in its parent's thread. */
struct exec_attempt {
    _Atomic uint64_t *slot;
    uint64_t before;
    bool paused; /* the sender has reported that everything is sent */
    struct thread_profile *vforked; /* child of vfork: its parent's measurements; else NULL */
};
struct exec_attempt child_exec_begin(uintptr_t site);
/* Undoes the preparations when the exec failed; returns result. */
int child_exec_failed(struct exec_attempt becoming, int result);

/* Returns the number of children that it is creating now. */
_Atomic uint64_t *child_spawning(pid_t parent);
/* Sets the message that is meant for the child, unless the child has begun without it. */
void child_set_message(pid_t child, uint64_t serial);

/* Returns the end of a child that its parent has observed; last: it will not be queried again. */
struct event_origin child_get_end(pid_t pid, bool last);

/* ---- forks, by the C library and by direct system calls ---- */

/* Prepare handler that runs after those of the program: records the fork. */
void fork_call_prepare(void);
void fork_call_prepared(bool registered); /* Sets whether it will be called. */
/* Called in the parent, and in a child that has begun: unblocks signals. */
void fork_call_release_signals(void);

/* Returns whether the system call creates a process with its own memory. */
bool fork_call_is_fork(long number, long a, long b);
void fork_call_begin(uintptr_t site);
/* Called in both processes, and when the call failed. */
void fork_call_end(long number, long a, long b, long child);

#pragma GCC visibility pop

#endif
