/* Worksharing: work that is assigned to the thread that comes first, such as the chunks of a loop,
 * sections, single blocks. It orders nothing, except by ordered sections; but since the assignment
 * depends on scheduling, it is recorded and replayed. */
#ifndef CLIENTS_LIBPOET_OPENMP_WORKSHARING_H
#define CLIENTS_LIBPOET_OPENMP_WORKSHARING_H

#include "clients/libpoet/openmp/team.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

enum worksharing_kind { WORKSHARING_CHUNK, WORKSHARING_SINGLE };

/* Called before and after the call of the runtime: one member of a team at a time, so that
 * assignments are recorded in their order. The call in between must not wait for other members.
 * member NULL: nothing is recorded. worksharing_begin() returns whether it is recorded, for
 * worksharing_end(). */
bool worksharing_is_recorded(const struct team_member *member); /* NULL: returns false */
bool worksharing_begin(struct team_member *member, enum worksharing_kind share);
void worksharing_end(struct team_member *member, bool asked, enum worksharing_kind share, bool got,
                     const void *site);

/* Begins a call that also passes the turn of an ordered loop on to another member, as events of
 * that may come before this one could record its assignment: the request is recorded before the
 * call. */
bool worksharing_begin_ordered(struct team_member *member, const void *site);
void worksharing_end_ordered(struct team_member *member, bool asked);

/* Makes a call in between. */
#define SHARE(member, share, got_it, call)                                                         \
    ({                                                                                             \
        bool asked_ = worksharing_begin(member, share);                                            \
        __typeof__(call) got = (call);                                                             \
        worksharing_end(member, asked_, share, got_it, SITE);                                      \
        got;                                                                                       \
    })

/* ---- ordered sections of loops: each comes after that of the previous iterations ---- */

/* Called before it waits for its turn. */
void ordered_section_request(struct team_member *member, const void *site);
void ordered_section_begin(struct team_member *member, const void *site);
/* Called before others may begin theirs. */
void ordered_section_end(struct team_member *member, const void *site);

#pragma GCC visibility pop

#endif
