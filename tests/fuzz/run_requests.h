/* Queries about a run of any content; the responses are decoded as by a viewer. */
#ifndef TESTS_FUZZ_RUN_REQUESTS_H
#define TESTS_FUZZ_RUN_REQUESTS_H

#include "server/run/run.h"

/* Requests a table in each of its groupings, the whole of it and a part. */
void run_requests_table(const struct run *run, const char *what);
void run_requests_curves(const struct run *run);

#endif
