/* Profile snapshot: what a thread has measured of its calls by a certain time, as structs and as
 * bytes (a SUMS chunk of a trace file).
 *
 * A body is a head followed by contexts (wire/profile_region.h), each with its sums since the
 * thread began; contexts that are absent have not changed. Decoding validates everything: it
 * rejects descending indices, parents after their children and impossible times. Times are ns. */
#ifndef WIRE_PROFILE_SNAPSHOT_H
#define WIRE_PROFILE_SNAPSHOT_H

#include "wire/message.h"
#include "wire/profile_region.h"

#define SNAPSHOT_CPU 1u /* own is CPU time; else real time */
/* the CPU clock is not read, though requested, since that is a system call */
#define SNAPSHOT_BLIND 2u
/* stacks were sampled: struct profile_region_head says what its contexts count */
#define SNAPSHOT_SAMPLED 4u
#define SNAPSHOT_TIME_MOST ((uint64_t)1 << 60) /* 36 years; the sum of four does not overflow */

struct snapshot_head {
    uint64_t time_ns; /* time of the snapshot, by the program's monotonic clock */
    uint32_t flags; /* SNAPSHOT_CPU, SNAPSHOT_BLIND, SNAPSHOT_SAMPLED */
    /* the overhead of measuring: within a call, and within its caller */
    uint32_t enter_ps, exit_ps;
    uint64_t folded, deep, mismatched; /* as in struct profile_region_head */
    uint64_t backwards; /* numbers that decreased or were impossible */
};

/* The identity of a context, which never changes. */
struct snapshot_scope {
    uint32_t parent, lands;
    uint32_t scope; /* an enum profile_scope */
    uint64_t function;
    uint64_t site; /* call site: an address in its parent; 0: unknown */
    /* of SCOPE_COUNTED: start of counting, by the program's monotonic clock; 0: always */
    uint64_t since_ns;
};

struct snapshot_context {
    uint32_t index;
    struct snapshot_scope is;
    uint64_t calls, concurrent, ended;
    uint64_t real_ns, least_ns, most_ns; /* of calls that have ended; least UINT64_MAX: none */
    uint64_t own_ns, own_least_ns, own_most_ns, off_ns;
    uint64_t open; /* calls that have not ended; their times so far: */
    uint64_t open_real_ns, open_own_ns;
    uint64_t open_last_ns; /* since the innermost one resumed: whether it ran since is unknown */
};

static inline bool snapshot_scope_is_function(const struct snapshot_scope *is)
{
    return is->scope == SCOPE_FUNCTION || is->scope == SCOPE_COUNTED;
}

void encode_snapshot_head(struct encoder *out, const struct snapshot_head *head);
bool decode_snapshot_head(struct decoder *in, struct snapshot_head *head);
/* Encodes a context after the context `before` (UINT32_MAX: the first of a body). is: include its
 * identity, which must be encoded once. */
void encode_snapshot_context(struct encoder *out, uint32_t before,
                             const struct snapshot_context *context, bool is);
/* Decodes the next one; *is receives whether its identity was included, else that is zeroed.
 * Returns false at the end, or with in->error. */
bool decode_snapshot_context(struct decoder *in, uint32_t before, struct snapshot_context *context,
                             bool *is);

#endif
