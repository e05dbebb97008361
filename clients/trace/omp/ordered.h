/* Ordered sections of loops: each after the one of the iterations before. */
#ifndef CLIENTS_TRACE_OMP_ORDERED_H
#define CLIENTS_TRACE_OMP_ORDERED_H

#include "clients/trace/omp/team.h"

#pragma GCC visibility push(hidden)

void ordered_section_request(struct team_member *member,
                             const void *site); /* before it waits for its turn */
void ordered_section_begin(struct team_member *member, const void *site);
void ordered_section_end(struct team_member *member,
                         const void *site); /* before others may begin theirs */

#pragma GCC visibility pop
#endif
