/* Samples of call stacks, by CPU time: for functions that were not compiled to be measured. Each
 * thread has a timer on its own CPU clock; its signal handler adds the stack that it interrupts to
 * the thread's region (wire/profile_region.h), and waits are added there with their stacks, so that
 * the region has both what the thread did on a CPU and why it was off.
 *
 * The program does not see the signal: masks and actions that it sets, and reads, are its own
 * (signal_masks.c, signal_calls.c); if it wants that number for itself, sampling ends. No call
 * returns EINTR: since Linux 5.10 a CPU timer sends its signal where the thread returns to user
 * mode, never within a system call; with an older kernel nothing is sampled. */
#ifndef CLIENTS_LIBPOET_PROFILE_SAMPLING_H
#define CLIENTS_LIBPOET_PROFILE_SAMPLING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* Begins to sample the calling thread, if that is wanted; called when its start is recorded. */
void sampling_begin(struct traced_thread *thread);
/* Ends it, before the thread ends or gives up its region. Other threads: only while none runs. */
void sampling_end(struct traced_thread *thread);
void sampling_forked(void); /* Called in a child, which has no timers. */
/* Ends it for good in all threads: the program uses the signal itself, or must not be interrupted
 * any more. Async-signal-safe. */
void sampling_stop(void);

/* Returns whether that is the signal of samples. */
bool sampling_owns(int signal);
/* Returns the bit of that signal in a mask, if the program must not block it; else 0. */
uint64_t sampling_mask_bit(void);
/* Sets that bit as the calling thread sees it, and returns it. */
void sampling_mask_show(uint64_t mask);
uint64_t sampling_mask_shown(void);

/* A wait of the calling thread begins, at an event of that type and site (0: not known), or ends.
 * Do nothing if it is not sampled. */
void sampling_wait_begin(struct traced_thread *thread, uint32_t type, uintptr_t site);
void sampling_wait_end(struct traced_thread *thread);

#pragma GCC visibility pop
#endif
