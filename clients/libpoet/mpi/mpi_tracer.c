/* libpoet-mpi: tracer of MPI programs, through poet.h. It interposes calls by the profiling
 * interface of MPI (MPI 3.1, chapter 14): each MPI_X here calls PMPI_X.
 *
 * Messages are paired by keys: communicator, source, destination, tag and a sequence number, since
 * messages with the same source, destination, tag and communicator are received in the order in
 * which they are sent (MPI 3.1, 3.5). Nothing is added to the program's own messages; the ids of
 * communicators follow from what all of their members know, without communication. Only MPI_Init
 * adds one Allgather, of the identities of the ranks' lines. */
#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/mpi/communicators.h"
#include "clients/libpoet/mpi/mpi_events.h"
#include "clients/libpoet/mpi/tracing_state.h"
#include "clients/libpoet/poet.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the launch that this process belongs to ---- */

#pragma weak PMPI_Init

/* Returns when the parent began, in ticks: its process id may be reused (proc(5), stat, field
 * 22). */
static unsigned long long mpi_tracer_parent_began(void)
{
    char path[64], text[1024] = "";
    unsigned long long began = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    FILE *f = fopen(path, "re");
    const char *at = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at)
        began = strtoull(at, NULL, 10);
    if (f)
        fclose(f);
    return began;
}

/* For an mpirun that is not recorded itself: Open MPI names the job; MPICH's processes on one
 * machine have one parent. */
API const char *poet_job_id(void)
{
    static char name[128];
    const char *job_name = getenv("PMIX_NAMESPACE");
    if (!PMPI_Init || (!job_name && !getenv("PMI_RANK")))
        return NULL;
    if (job_name)
        snprintf(name, sizeof name, "mpirun@%.100s", job_name);
    else
        snprintf(name, sizeof name, "mpirun@%d.%llu", (int)getppid(), mpi_tracer_parent_began());
    return name;
}

/* ---- the calls ---- */

static void mpi_tracer_before_init(const void *site)
{
    mpi_events_begin();
    event_record(EVENT_init, 0, site);
    mpi_event_wait_begin(EVENT_init);
}

/* Collective: ranks that are not traced take part, too. */
static void mpi_tracer_after_init(const void *site)
{
    int own, level = MPI_THREAD_SINGLE;
    char name[32];
    poet_line_t line = poet_current_line();
    PMPI_Comm_rank(MPI_COMM_WORLD, &own);
    PMPI_Query_thread(&level);
    mpi_is_threaded = level == MPI_THREAD_MULTIPLE;
    ranks_exchange(line, own);
    snprintf(name, sizeof name, "rank %d", own);
    poet_line_kind(line, "rank", name);
    if (line && ranks_all_traced())
        event_record_group(EVENT_initialized, rank_job_key(), key_mix(rank_job_key(), 1),
                           ranks_count(), site);
    else
        event_record(EVENT_initialized, 0, site);
    communicators_begin();
    mpi_tracing = line != 0;
}

API int MPI_Init(int *argc, char ***argv)
{
    mpi_tracer_before_init(SITE);
    int e = PMPI_Init(argc, argv);
    mpi_event_wait_end(EVENT_init);
    if (e == MPI_SUCCESS)
        mpi_tracer_after_init(SITE);
    return e;
}

API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    mpi_tracer_before_init(SITE);
    int e = PMPI_Init_thread(argc, argv, required, provided);
    mpi_event_wait_end(EVENT_init);
    if (e == MPI_SUCCESS)
        mpi_tracer_after_init(SITE);
    return e;
}

API int MPI_Finalize(void)
{
    bool followed = mpi_tracing;
    struct communicator *world = followed ? communicator_find(MPI_COMM_WORLD) : NULL;
    if (followed)
        event_record(EVENT_finalize, world && ranks_all_traced() ? world->line : 0, SITE);
    if (followed)
        mpi_event_wait_begin(EVENT_finalize);
    mpi_tracing = false;
    int e = PMPI_Finalize();
    if (followed) {
        mpi_event_wait_end(EVENT_finalize);
        event_record(EVENT_finalized, 0, SITE);
    }
    return e;
}
