/* libpoet-omp: what the threads of a program with OpenMP do, told through poet.h.  poet record
 * loads it, poetcc -trace -fopenmp links it.  Of programs that gcc compiled it stands before the
 * calls of libgomp; LLVM's runtime tells it by OpenMP's own interface for tools (OMPT).
 * docs/omp.md says what makes which events.
 *
 * Where nothing is recorded every call is passed on, and nothing is added.  No lock of ours is held
 * over a call of the program's; memory comes from malloc, and where there is none, an event says
 * that more may be before it. */
#include "clients/libpoet/openmp/omp_runtime.h"
#include "clients/libpoet/poet.h"

#include <stddef.h>

/* libpoet looks for it. */
API extern const char poet_omp_follows[];
const char poet_omp_follows[] = "omp";

/* What orders, and is not stood before: told where the program calls it. */
__attribute__((constructor)) static void omp_tracer_begin(void)
{
    static const char *const devices[] = {"GOMP_target_ext",           "GOMP_target",
                                          "__tgt_target_mapper",       "__tgt_target_kernel",
                                          "__tgt_target_teams_mapper", NULL};
    static const char *const doacross[] = {"GOMP_doacross_ull_wait", NULL};
    if (poet_imports(devices))
        poet_untraced("OpenMP device regions (target)");
    if (poet_imports(doacross))
        poet_untraced("ordered loops over unsigned integers with depend(sink) (OpenMP)");
}
