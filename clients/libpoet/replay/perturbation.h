/* Perturbation of the schedule: a thread pauses for a random time before some of the events that
 * it records, so that orders occur which are rare otherwise (noise makers: Edelstein, Farchi, Nir,
 * Ratsaby and Ur 2002). The pauses of a thread are bounded: each by 2 ms, their sum by a second. */
#ifndef CLIENTS_LIBPOET_REPLAY_PERTURBATION_H
#define CLIENTS_LIBPOET_REPLAY_PERTURBATION_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Reads POET_PERTURB: the seed, a decimal number. Returns whether there is one. */
bool perturbation_begin(void);
/* Called before a record takes its numbers. */
void perturbation_before_event(void);

#pragma GCC visibility pop
#endif
