/* Processes of the run that wait for each other.
 *
 * What a process says to its next program and to its parent it puts beside its process id into the
 * numbers that all processes of the run share. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_CHILD_PROCESS_H
#define CLIENTS_LIBPOET_INTERPOSE_CHILD_PROCESS_H

#include "clients/libpoet/core/thread.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* What an event of another thread or process was, for the event that comes after it. */
struct event_origin {
    struct event_id at;  /* number 0: it is not known */
    /* 0: at is an event of this process; else its number is the second half of a key */
    uint64_t key;
    unsigned doubt; /* enum untraced_reason: more may be before it */
};

uint64_t child_serial(void); /* of a message between processes of the run; 0: there are none */
uint64_t child_key_high(void); /* first half of the keys of such messages */
void child_fork_begin(uint64_t serial); /* in a child after its fork, by the message `serial` */
struct event_origin child_program_begin(void); /* a program begins to record: after what */
void child_recording_begin(void); /* so does a child of a fork, which knows after what */
void child_record_exit(uintptr_t site); /* the process is about to end: its last event */
void child_record_exit_at_once(uintptr_t site); /* the same, or so is a child of vfork */
bool child_is_known(pid_t pid); /* it is of the run */
bool child_is_traced(pid_t pid); /* it is of the run, records, and its signals all come to us */
void child_set_foreign_threads(void); /* some of its own do not */
/* A message to another process; its number, 0 where it could not be told. */
uint64_t child_message(struct traced_thread *thread, uint16_t type, uintptr_t site);

void fork_call_prepare(
    void); /* the prepare handler that runs after those of the program: records the fork */
void fork_call_prepared(bool registered); /* it will be called */
void fork_call_release_signals(
    void); /* in the parent, and in a child that has begun: signals come again */

/* It becomes another program, unless that fails.  A child of vfork is still in its parent's
 * thread. */
struct exec_attempt {
    _Atomic uint64_t *slot;
    uint64_t before;
    bool paused; /* the sender has said that all is sent */
    struct thread_profile *vforked; /* of a child of vfork: what its parent measures; else NULL */
};
struct exec_attempt child_exec_begin(uintptr_t site);
int child_exec_failed(struct exec_attempt becoming, int result); /* it failed; returns result */

_Atomic uint64_t *child_spawning(pid_t parent); /* how many it is making now */
/* Says whose message is for the child, unless that has begun without it. */
void child_set_message(pid_t child, uint64_t serial);

/* The end of a child that its parent has seen; last: it will not be asked for again. */
struct event_origin child_get_end(pid_t pid, bool last);

#pragma GCC visibility pop
#endif
