/* Questions about a run of any content, and what is answered as viewers read it. */
#ifndef TESTS_FUZZ_ASKS_H
#define TESTS_FUZZ_ASKS_H

#include "server/run/run.h"

/* For the table, in all shapes that it has. */
void asks_table(const struct run *run, const char *what);
void asks_curves(const struct run *run);

#endif
