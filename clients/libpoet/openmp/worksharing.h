/* Work that is given out to whom comes first: the chunks of a loop, sections, single blocks.  It
 * orders nothing; but what each gets depends on the order in which they come, so that is told, and
 * had again in a run that is repeated. */
#ifndef CLIENTS_LIBPOET_OPENMP_WORKSHARING_H
#define CLIENTS_LIBPOET_OPENMP_WORKSHARING_H

#include "clients/libpoet/openmp/team.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum worksharing_kind { WORKSHARING_CHUNK, WORKSHARING_SINGLE };

/* Before the runtime is asked, and after that: one member of a team at a time, so that what is told
 * is in the order of what was given.  The call in between must not wait for other members.  member
 * NULL: nothing is told.  `worksharing_begin` gives back whether it is, for worksharing_end. */
bool worksharing_is_recorded(const struct team_member *member); /* NULL: no */
bool worksharing_begin(struct team_member *member, enum worksharing_kind share);
void worksharing_end(struct team_member *member, bool asked, enum worksharing_kind share, bool got,
                     const void *site);

/* The same where the call hands the turn of an ordered loop on to another member, whose events may
 * come before this one could tell what it got: that it asks is told before the call. */
bool worksharing_begin_ordered(struct team_member *member, const void *site);
void worksharing_end_ordered(struct team_member *member, bool asked);

/* A call in between. */
#define SHARE(member, share, got_it, call)                                                         \
    ({                                                                                             \
        bool asked_ = worksharing_begin(member, share);                                            \
        __typeof__(call) got = (call);                                                             \
        worksharing_end(member, asked_, share, got_it, SITE);                                      \
        got;                                                                                       \
    })

#pragma GCC visibility pop
#endif
