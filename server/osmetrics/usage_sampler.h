/* A sampler: reads now and then what the operating system says of one program that runs on this
 * machine.
 *
 * It samples often while the program is young and more and more rarely later, so that a day
 * takes some thousand samples; unchanged values are not reported again.  Threads are read ten
 * times as often as the rest, over descriptors that it keeps, and more rarely where that would
 * take more than a hundredth of a processor. */
#ifndef SERVER_OSMETRICS_USAGE_SAMPLER_H
#define SERVER_OSMETRICS_USAGE_SAMPLER_H

#include "wire/message.h"
#include "wire/os_usage.h"

#include <sys/types.h>

struct usage_sampler;

struct sampled_thread {
    uint32_t code; /* of its own line */
    pid_t tid; /* 0: not known */
    /* as in its queue_head (wire/slot.h) */
    uint64_t futex_word, futex_site, futex_library, futex_once;
};

/* NULL: there is no such process here, or it may not be looked at; or /proc here is that of other
 * processes than those with the known ids. */
struct usage_sampler *usage_sampler_new(pid_t pid);
/* Returns whether the program's thread ids are those of the server's PID name space. */
bool usage_sampler_same_numbers(const struct usage_sampler *sampler);
void usage_sampler_free(struct usage_sampler *sampler); /* of NULL nothing */
/* From now on so many times a second, 1 to 1000, however old it gets. */
void usage_sampler_rate(struct usage_sampler *sampler, unsigned hertz);
/* Lets it look for processes that are not connected, and have an end of a pipe at which a thread
 * sleeps. */
void usage_sampler_know_processes(struct usage_sampler *sampler,
                                  bool (*is_connected)(const void *context, pid_t pid),
                                  const void *context);
bool usage_sampler_due(const struct usage_sampler *sampler, uint64_t now_ns);
/* Appends the bodies of USAGEs with all values that changed since the last call: the last body
 * is of now; those before it are of the last samples, and hold the values that had been
 * unchanged for longer until then.  An empty body: there is nothing to report. */
#define SAMPLER_BODIES 3
void usage_sampler_sample(struct usage_sampler *sampler, uint64_t now_ns,
                          const struct sampled_thread *threads, size_t count,
                          struct encoder bodies[SAMPLER_BODIES]);
/* Returns whether the program's system calls are filtered, or that is unknown: the server must
 * not make it do calls that it does not do itself. */
bool usage_sampler_filtered(const struct usage_sampler *sampler);

#endif
