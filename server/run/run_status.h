/* Status of a run: how far it is in its life, its programs, its file, its use by viewers.
 *
 * Zero-initialized structs describe a run in memory, without programs. */
#ifndef SERVER_RUN_RUN_STATUS_H
#define SERVER_RUN_RUN_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* The life of a run; run_registry.c begins it, and the modules of server/connections that record
 * the run write the rest. */
struct run_status {
    bool live; /* the trace file is being written */
    /* it was resumed after its server was killed, and no agent has continued it yet */
    bool unclaimed;
    bool ending; /* all of its programs hung up; its last checkpoint is being written */
    bool finished; /* all of its programs hung up, and its file is complete */
};

/* Connections of the programs of a run; program_session.c and run_step() write this. */
struct run_programs {
    unsigned connected; /* number of connected programs */
    unsigned leaving; /* number of them that hung up, while the order still has work for that */
    bool finishing; /* the last program is leaving */
};

/* The file of a run, and what is wrong with it; trace_replay.c and idle_eviction.c write this. */
struct run_file {
    char *path; /* NULL: the run is in memory */
    char *damage; /* description of the file's damage, or NULL */
    bool unfinished; /* the file has no end */
    bool still_written; /* a server was still writing it when it was opened */
    bool deleted; /* it was deleted while it was written */
};

/* The use of a run by viewers, by which idle_eviction.h chooses the runs to evict from memory, and
 * the figures that remain of an evicted run. */
struct run_eviction {
    unsigned viewers; /* number of viewers that show the run; viewer_connection.c counts them */
    uint64_t last_use; /* a growing counter: when it began, was finished or last used */
    bool evicted; /* only the figures below remain */
    uint64_t events, lost;
};

/* Lag of the order behind the journal when journal_reader.c last checked. */
struct run_lag {
    uint64_t ns, bytes;
};

#endif
