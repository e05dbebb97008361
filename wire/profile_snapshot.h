/* Sums: what a thread has measured of its calls by a moment, as structs and as bytes (a SUMS chunk
 * of a trace file).
 *
 * A body is a head and then contexts (wire/profile_region.h), each with its sums since the thread
 * began; those that are not in it have not changed.  Who reads it believes none of it: get_ refuses
 * indices that fall, parents that come later and times that no run has.  Times are ns. */
#ifndef WIRE_PROFILE_SNAPSHOT_H
#define WIRE_PROFILE_SNAPSHOT_H

#include "wire/message.h"
#include "wire/profile_region.h"

#define SNAPSHOT_CPU 1u /* own is the processor's time; else what is real */
#define SNAPSHOT_BLIND                                                                             \
    2u /* its processor clock was read no more, since to read it is a system call */
#define SNAPSHOT_TIME_MOST ((uint64_t)1 << 60) /* 36 years; four of them are no overflow */

struct snapshot_head {
    uint64_t time_ns; /* as of when, by the program's monotonic clock */
    uint32_t flags; /* SUMS_ */
    uint32_t enter_ps, exit_ps; /* what measuring takes: within a call, and within its caller */
    uint64_t folded, deep, mismatched; /* as in struct profile_region_head */
    uint64_t backwards; /* numbers that ran back, or could not be */
};

/* A context; what it is stays. */
struct snapshot_scope {
    uint32_t parent, lands;
    uint32_t scope; /* an enum profile_scope */
    uint64_t function;
    uint64_t site; /* where it is called from: an address in its parent; 0 not known */
    /* of SCOPE_COUNTED: since when, by the program's monotonic clock; 0: always */
    uint64_t since_ns;
};

struct snapshot_context {
    uint32_t index;
    struct snapshot_scope is;
    uint64_t calls, concurrent, ended;
    uint64_t real_ns, least_ns, most_ns; /* of calls that have ended; least UINT64_MAX: none */
    uint64_t own_ns, own_least_ns, own_most_ns, off_ns;
    uint64_t open; /* calls that have not ended; what they took so far: */
    uint64_t open_real_ns, open_own_ns;
    uint64_t open_last_ns; /* since the innermost one went on: whether it ran since is not known */
};

static inline bool snapshot_scope_is_function(const struct snapshot_scope *is)
{
    return is->scope == SCOPE_FUNCTION || is->scope == SCOPE_COUNTED;
}

void encode_snapshot_head(struct encoder *out, const struct snapshot_head *head);
bool decode_snapshot_head(struct decoder *in, struct snapshot_head *head);
/* After the context `before` (UINT32_MAX: the first of a body).  is: with what it is, as it must be
 * once. */
void encode_snapshot_context(struct encoder *out, uint32_t before,
                             const struct snapshot_context *context, bool is);
/* The next one; *is: it says what it is, else that is zeros.  False at the end, or with
 * in->error. */
bool decode_snapshot_context(struct decoder *in, uint32_t before, struct snapshot_context *context,
                             bool *is);

#endif
