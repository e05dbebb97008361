/* Work that is given out to whom comes first: the chunks of a loop, sections, single blocks.  It orders nothing; but what
 * each gets depends on the order in which they come, so that is told, and had again in a run that is repeated. */
#ifndef CLIENTS_TRACE_OMP_SHARE_H
#define CLIENTS_TRACE_OMP_SHARE_H

#include "clients/trace/omp/team.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum share { SHARE_CHUNK, SHARE_SINGLE };

/* Before the runtime is asked, and after that: one member of a team at a time, so that what is told is in the order of
 * what was given.  The call in between must not wait for other members.  member NULL: nothing is told.
 * `share_asks` gives back whether it is, for share_got. */
bool share_is_told(const struct member *member); /* NULL: no */
bool share_asks(struct member *member, enum share share);
void share_got(struct member *member, bool asked, enum share share, bool got, const void *site);

/* The same where the call hands the turn of an ordered loop on to another member, whose events may come before
 * this one could tell what it got: that it asks is told before the call. */
bool share_asks_ordered(struct member *member, const void *site);
void share_got_ordered(struct member *member, bool asked);

/* A call in between. */
#define SHARE(member, share, got_it, call)                                                         \
    ({                                                                                             \
        bool asked_ = share_asks(member, share);                                                   \
        __typeof__(call) got = (call);                                                             \
        share_got(member, asked_, share, got_it, SITE);                                            \
        got;                                                                                       \
    })

#pragma GCC visibility pop
#endif
