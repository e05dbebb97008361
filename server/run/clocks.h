/* The fit of clocks: made when it is first needed and again when the run has grown much. */
#ifndef SERVER_RUN_CLOCKS_H
#define SERVER_RUN_CLOCKS_H

#include "server/run/run.h"

#include <stdint.h>

struct clocks;
void clocks_free(struct clocks *clocks);
/* Grows with every fit of the clocks of several hosts; 0 where there is one. */
uint64_t clocks_made(const struct run *run);
int64_t clocks_correct(const struct run *run, uint32_t process, int64_t time_ns);

#endif
