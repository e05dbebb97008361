/* Reports of ended runs that POET_REPORT requested: `poet report` makes each in a process of its
 * own, since only clients resolve names. */
#ifndef SERVER_CHECKPOINT_REPORT_RUN_H
#define SERVER_CHECKPOINT_REPORT_RUN_H

#include "server/run/run.h"

/* Starts the report if one was requested; does not wait for it. */
void report_run_begin(const struct run *run);

#endif
