/* The fit of clocks: made when it is first needed and again when the run has grown much. */
#ifndef SERVER_RUN_CLOCKS_H
#define SERVER_RUN_CLOCKS_H

#include "server/run/run.h"

#include <stdint.h>

struct clocks;
void clocks_free(struct clocks *clocks);
int64_t clocks_correct(const struct run *run, uint32_t process, int64_t time_ns);

/* Of which fit these times are: another number when they are fitted anew.  Fits them where that is due. */
uint64_t clocks_fit(const struct run *run);

#endif
