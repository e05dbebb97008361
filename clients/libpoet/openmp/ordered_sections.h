/* Ordered sections of loops: each comes after that of the previous iterations. */
#ifndef CLIENTS_LIBPOET_OPENMP_ORDERED_SECTIONS_H
#define CLIENTS_LIBPOET_OPENMP_ORDERED_SECTIONS_H

#include "clients/libpoet/openmp/team.h"

#pragma GCC visibility push(hidden)

/* Called before it waits for its turn. */
void ordered_section_request(struct team_member *member, const void *site);
void ordered_section_begin(struct team_member *member, const void *site);
/* Called before others may begin theirs. */
void ordered_section_end(struct team_member *member, const void *site);

#pragma GCC visibility pop
#endif
