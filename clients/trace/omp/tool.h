/* What LLVM's runtime tells by OMPT, and what the calls that we stand before add to that. */
#ifndef CLIENTS_TRACE_OMP_TOOL_H
#define CLIENTS_TRACE_OMP_TOOL_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool tool_is_told(void); /* the runtime has begun to tell us */
/* The next region that the calling thread begins: where, and what each of its members runs.  NULL: over. */
void tool_forks(const void *site, const void *body);

#pragma GCC visibility pop
#endif
