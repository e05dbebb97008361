/* The measurement region of a thread (wire/profile_region.h): created, handed over to the server,
 * given up. */
#ifndef CLIENTS_LIBPOET_PROFILE_REGION_OWNER_H
#define CLIENTS_LIBPOET_PROFILE_REGION_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* Determines what the user wants of threads (POET_MEASURE, or how the program was compiled), as
 * WANTED bits; called once, when the program is traced. */
void measurement_wanted_begin(void);
/* Later threads are sampled, too, as often a second; 0 changes nothing. */
void measurement_wanted_set_samples(uint32_t rate);
uint32_t measurement_wanted_initial(void); /* Returns what is wanted of a thread that begins. */
struct measurement_options {
    unsigned rate; /* samples per second; 0: the server's default */
    const char *file; /* file that contains what is wanted; NULL: none */
    bool asks; /* the choice is made outside of the program */
};
struct measurement_options measurement_wanted_options(void);

/* Creates the region of the calling thread. Returns false if it has none now. It takes no place in
 * the queue, so that it may be called wherever a thread is not busy. */
bool region_create(struct traced_thread *thread);
/* Creates the region of a thread that is sampled instead of measuring calls (sampling.c). */
struct thread_sampling;
bool region_create_sampled(struct traced_thread *thread, struct thread_sampling *sampling);
/* Ends the time of the open calls, which have no end; called before the end of the thread is
 * recorded, so that none is longer than the thread lives. The thread itself is still measured. */
void region_leave_calls(struct traced_thread *thread);
/* Ends measuring, when the thread ends or its server has gone. Open calls keep their times, but
 * have no end. */
void region_end(struct traced_thread *thread);
/* Ends measuring in a thread that must not make any system call from here on; before that, records
 * how long it has run. */
void region_quit(struct traced_thread *thread);
void region_check(struct traced_thread *thread);
/* Called when its process is about to end, or to execute another program; and if that failed. */
void region_gone(struct traced_thread *thread);
void region_stays(struct traced_thread *thread);
/* Called in a child, which has no other threads and must not write to its parent's region. thread:
 * may be NULL. */
void region_forked(struct traced_thread *thread);
/* Returns whether a call of the thread is just being begun or ended. Async-signal-safe. */
bool region_is_changing(const struct traced_thread *thread);
/* Called when another task replaces this one on a thread of the system, and when it resumes. */
void region_pause(struct traced_thread *thread);
void region_resume(struct traced_thread *thread);
/* Returns the context of the calling thread, for its events. */
uint32_t region_current_context(const struct traced_thread *thread);

#pragma GCC visibility pop
#endif
