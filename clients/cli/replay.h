/* A run to be replayed: its schedule and its program. */
#ifndef CLIENTS_CLI_REPLAY_H
#define CLIENTS_CLI_REPLAY_H

#include "base/map.h"
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/cli/hold_points.h"
#include "clients/cli/input_files.h"
#include "clients/cli/swap_events.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/schedule/schedule_builder.h"
#include "wire/trace_view.h"

#include <limits.h>

/* ---- uncontrolled sources of nondeterminism, which explain the first divergence ---- */

struct uncontrolled_events {
    struct map exits; /* line, number of events by which a process ended */
    struct map children; /* of handlers of signals that came from those */
};

/* Processes each event of the recorded run, in order. */
void uncontrolled_event(struct uncontrolled_events *unsteered, const struct trace_metadata *book,
                        const struct event_info *event);
void uncontrolled_free(struct uncontrolled_events *unsteered);

/* The divergence: what the thread did, and what it did there and before in the recorded run, the
 * latest first. */
struct uncontrolled_place {
    const char *did; /* "": unknown */
    const struct event_info *was;
    uint32_t was_count;
    bool input; /* input of calls was recorded */
    bool streams; /* except what stdio read */
};

/* Returns the most likely source first, with its reason, then other possible ones; new memory. */
char *uncontrolled_report(const struct uncontrolled_events *unsteered,
                          const struct trace_metadata *book,
                          const struct uncontrolled_place *place);

/* ---- the run ---- */

struct replay_run {
    const char *output;
    const char *picture; /* of both runs; NULL: none */
    bool strict, quiet;
    bool libraries; /* calls in libraries were recorded, too */
    bool reported; /* it was reported that everything was replayed */
    unsigned after; /* polls since then */
    /* number of processes without their launcher, such as mpirun, in the trace; 0: its first
     * program started the others */
    uint32_t launched;
    struct schedule_builder *plan;
    struct command_source subject;
    struct schedule_head *script; /* mapped, as in the programs */
    char file[400]; /* its path */
    struct input_files inputs; /* recorded input of the run */
    char input_file[400]; /* its path; "": none */
    struct swap_events flip;
    struct schedule_control *led; /* mapped, as in the programs; NULL: no events are swapped */
    char steer_file[400];
    struct uncontrolled_events unsteered;
    char again[PATH_MAX]; /* the new trace, if none was specified */
};

/* Makes the schedule of the subject, which must be open, as a mapped file. Returns false after
 * reporting the error. */
bool replay_script(const struct command *command, struct replay_run *r);
/* Returns the program's arguments; NULL: the recorded ones (the caller frees the list, *recorded).
 * Returns false after reporting the error. */
bool replay_command_words(const struct command *command, const struct replay_run *r,
                          const char *trace, char ***words, char ***recorded);
/* Makes the file of its recorded input, if there is any. */
bool replay_input(const struct command *command, struct replay_run *r);
/* Sets the environment before the program is started: the paths of its schedule and its input. */
void replay_environment(const struct replay_run *r);
/* Removes the files, and frees everything except the subject. */
void replay_free(struct replay_run *r);

/* ---- its result ---- */

struct replay_result {
    char *text; /* "divergence: T:work performed enter on M:a, recorded was ..." */
    bool good; /* everything was replayed, or the two events were swapped */
    bool left; /* the replay diverged, */
    struct event_id at; /* at this event of the trace; line 0: unknown */
    uint64_t more; /* events in addition to those of the trace */
};

/* done: number of events replayed; status: of the program, as from waitpid. */
void replay_result_make(struct replay_result *outcome, struct replay_run *replaying, uint64_t done,
                        int status);
void replay_result_free(struct replay_result *outcome);

#endif
