/* Entry points of libgomp, for programs compiled with gcc: parallel regions, barriers, worksharing,
 * tasks. */
#ifndef CLIENTS_LIBPOET_OPENMP_GOMP_H
#define CLIENTS_LIBPOET_OPENMP_GOMP_H

#include "clients/libpoet/openmp/omp_runtime.h"
#include "clients/libpoet/openmp/task_replay.h"
#include "clients/libpoet/openmp/team.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the member of a team that a call from `site` belongs to; NULL: none that is traced. */
static inline struct team_member *gomp_current_member(const void *site)
{
    struct team_member *m = member_current();
    return m && !omp_runtime_is_llvm(site) ? m : NULL;
}

/* Reductions by tasks; NULL: none. The runtime finds them by the task that it regards as running,
 * so that none may be held then. */
static inline uintptr_t *gomp_reduces(uintptr_t *reductions)
{
    if (reductions)
        task_replay_release_team();
    return reductions;
}

#endif
