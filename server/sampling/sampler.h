/* A sampler: reads now and then what the operating system says of one program that runs on this machine.
 *
 * It reads often while the program is young and more and more rarely later, so that a day of it takes some thousand
 * samples; what has not changed is not told again. */
#ifndef SERVER_SAMPLING_SAMPLER_H
#define SERVER_SAMPLING_SAMPLER_H

#include "wire/message.h"
#include "wire/usage.h"

#include <sys/types.h>

struct sampler;

struct sampled_thread {
    uint32_t code; /* of its own line */
    pid_t tid; /* 0: not known */
};

/* NULL: there is no such process here, or it may not be looked at. */
struct sampler *sampler_new(pid_t pid);
void sampler_free(struct sampler *sampler); /* of NULL nothing */
/* From now on so many times a second, 1 to 1000, however old it gets. */
void sampler_rate(struct sampler *sampler, unsigned hertz);
bool sampler_due(const struct sampler *sampler, uint64_t now_ns);
/* Appends the body of a USAGE with all that changed since the last time; false: there is nothing to tell. */
bool sampler_take(struct sampler *sampler, uint64_t now_ns, const struct sampled_thread *threads,
                  size_t count, struct out *body);
/* Its system calls are filtered, as far as that is known: nobody may make it call anything that it does not itself. */
bool sampler_filtered(const struct sampler *sampler);

#endif
