/* libpoet-omp: tracer of programs with OpenMP, through poet.h. poet record loads it, poetcc -trace
 * -fopenmp links it. For programs compiled with gcc it interposes the calls of libgomp; LLVM's
 * runtime reports events by OpenMP's tools interface (OMPT). docs/omp.md says what makes which
 * events.
 *
 * Where nothing is recorded every call is passed on, and nothing is added. No lock is held over a
 * call of the program's; memory comes from malloc, and if there is none, an event is marked as
 * uncertain. */
#include "clients/libpoet/openmp/omp_runtime.h"
#include "clients/libpoet/poet.h"

#include <stddef.h>

/* Looked up by libpoet. */
API extern const char poet_omp_follows[];
const char poet_omp_follows[] = "omp";

/* Reports calls of the program that synchronize and are not interposed. */
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
