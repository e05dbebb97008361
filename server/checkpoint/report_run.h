/* A report of a run that has ended, for who asked for one beforehand (POET_REPORT): `poet report`
 * makes it, in a process of its own, as only clients know names. */
#ifndef SERVER_CHECKPOINT_REPORT_RUN_H
#define SERVER_CHECKPOINT_REPORT_RUN_H

#include "server/run/run.h"

/* If one was asked for; returns at once. */
void report_run_begin(const struct run *run);

#endif
