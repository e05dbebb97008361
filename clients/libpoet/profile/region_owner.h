/* The region of a thread (wire/profile_region.h): made, handed over to the server, given up. */
#ifndef CLIENTS_LIBPOET_PROFILE_REGION_OWNER_H
#define CLIENTS_LIBPOET_PROFILE_REGION_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* What the user wants of threads (POET_MEASURE, or how the program was compiled), as bits of WANTED;
 * once, when it is traced. */
void measurement_wanted_begin(void);
uint32_t measurement_wanted_initial(void); /* of a thread that begins */
struct measurement_options {
    unsigned rate; /* samples a second; 0: as the server does */
    const char *file; /* that says what is wanted; NULL: none */
    bool asks; /* somebody is to choose */
};
struct measurement_options measurement_wanted_options(void);

/* Makes the region of the calling thread; false: it has none now.  Takes a signal handler's place
 * in the queue of nobody: it may be called wherever a thread is not busy. */
bool region_create(struct traced_thread *thread);
/* The thread ends, or its server has gone: nothing more is measured.  Calls that are open have
 * their times, but no end. */
void region_end(struct traced_thread *thread);
/* The same for a thread that must not make any system call from here on; and before, how long it
 * has run. */
void region_quit(struct traced_thread *thread);
void region_check(struct traced_thread *thread);
/* Its process is about to end, or to become another program; and it did not. */
void region_gone(struct traced_thread *thread);
void region_stays(struct traced_thread *thread);
/* In a child, where there are no other threads: it is not the child's to write to.  thread: may be
 * NULL. */
void region_forked(struct traced_thread *thread);
/* Another task goes on in a thread of the system, and when it is back. */
void region_pause(struct traced_thread *thread);
void region_resume(struct traced_thread *thread);
/* The context in which the calling thread is, for its events. */
uint32_t region_current_context(const struct traced_thread *thread);

/* How many threads of this process run now: neither waiting, as far as is followed, nor ended. */
extern _Atomic uint32_t threads_running;

#pragma GCC visibility pop
#endif
