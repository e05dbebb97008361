/* Counts the lost events of a run. */
#ifndef SERVER_RUN_RUN_LOSSES_H
#define SERVER_RUN_RUN_LOSSES_H

#include "server/run/run.h"

#include <stdint.h>

/* Events that will never be shown, for whatever reason. */
uint64_t run_lost(const struct run *run);

#endif
