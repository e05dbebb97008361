/* One run: its order, and the names of everything in it.
 *
 * A run owns its order, its descriptions and its tables.  Codes of types and kinds are the run's
 * own; 0 is not a type.  Lines of the order from 1 have a run_line each (run_lines.h).  Not
 * thread-safe. */
#ifndef SERVER_RUN_RUN_H
#define SERVER_RUN_RUN_H

#include "base/clock.h"
#include "base/map.h"
#include "config/target.h"
#include "server/order/order.h"
#include "server/run/call_sites.h"
#include "server/run/run_addons.h"
#include "server/run/run_lines.h"
#include "server/run/run_processes.h"
#include "server/run/untraced_reasons.h"
#include "server/timing/call_contexts.h"
#include "server/timing/call_entries.h"
#include "server/tracefile/agent_positions.h"
#include "server/tracefile/tracefile.h"
#include "wire/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct run;
struct program_session;

/* ---- target descriptions, of the environments that the programs of a run use ---- */

/* A zero-initialized list is empty; it owns its descriptions. */
struct target_list {
    struct target **items; /* in the order in which they were received */
    char **texts; /* from which they were read */
    size_t count, room;
};

/* ---- annotations, the texts of events ---- */

struct run_text {
    struct run_text *next, *last; /* last, count: set in the first text of an event */
    uint32_t count;
    char text[];
};

/* A zero-initialized struct has none.  They are discarded with their events. */
struct annotations {
    struct map events; /* line, number -> the first text of the event */
    uint64_t count; /* number of all texts that were added */
};

/* ---- clock: the begin and the end of a run, and how far it is now ---- */

/* Times of a run are ns since its begin, by the monotonic clock of its first program.  A
 * zero-initialized clock has not begun. */
struct run_clock {
    uint64_t start_ns; /* monotonic clock of the first program at the begin */
    uint64_t wall_ns; /* wall clock of its host at the begin; 0: there was no program yet */
    int64_t ahead_ns; /* time of the run minus this host's monotonic clock */
    int64_t last_ns; /* time of the latest event; program_session.c raises it */
    /* When the last program hung up; journal_reader.c sets it.  0: unknown, or the run is live. */
    int64_t ended_ns;
};

static inline int64_t run_clock_read_ns(clockid_t clock) { return (int64_t)clock_read_ns(clock); }

/* Begins the run, with one moment on both clocks of its first program.  Reads this host's wall
 * clock once to determine how far the run is; it may be set to another time later. */
static inline void run_clock_begin(struct run_clock *clock, uint64_t start_ns, uint64_t wall_ns)
{
    clock->start_ns = start_ns;
    clock->wall_ns = wall_ns;
    clock->ahead_ns =
        run_clock_read_ns(CLOCK_REALTIME) - (int64_t)wall_ns - run_clock_read_ns(CLOCK_MONOTONIC);
}

/* Returns the current time by the run's clock, as far as this host's clock agreed with that of its
 * first program when the run began here. */
static inline int64_t run_clock_now_ns(const struct run_clock *clock)
{
    int64_t now = run_clock_read_ns(CLOCK_MONOTONIC) + clock->ahead_ns;
    return now > clock->last_ns ? now : clock->last_ns;
}

/* ---- status: life, programs, file, use by viewers; zero describes a run in memory, without
 * programs ---- */

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

/* The file of a run, and what is wrong with it; trace_replay.c and run_registry.c write this. */
struct run_file {
    char *path; /* NULL: the run is in memory */
    char *damage; /* description of the file's damage, or NULL */
    bool unfinished; /* the file has no end */
    bool still_written; /* a server was still writing it when it was opened */
    bool deleted; /* it was deleted while it was written */
};

/* The use of a run by viewers, by which run_registry.h chooses the runs to evict from memory, and
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

/* ---- names with codes from 1: of event types, and of kinds of lines ---- */

struct name_table {
    char **items;
    size_t count, room;
    struct map index;
};

/* ---- the run ---- */

/* Callbacks that record the facts from which a checkpoint is resumed. */
struct fact_writer {
    void (*fact)(struct run *run, struct chunk chunk); /* a chunk that later ones rely on */
    void (*text)(struct run *run, uint32_t line, uint64_t number, const char *text);
};

/* Progress of the discarding of the oldest part of a run; zero at its begin. */
struct run_discarding {
    struct map_removal annotations;
    size_t page; /* the next page of lines */
    uint32_t entries; /* the next thread with call records */
    size_t activity; /* the next thread with activity records */
};

/* Sessions of the programs of a run; program_session.c makes them, the run only frees them. */
struct run_sessions {
    struct program_session **items; /* by number; NULL once it hung up */
    size_t count, room;
    void (*free)(struct program_session *session);
};

/* Measurement settings that viewers requested for the programs of a run, until they are sent to the
 * programs.  A zero-initialized struct is empty. */
struct run_settings {
    struct measurement_request *items; /* in the order of the requests */
    size_t count, room;
    uint32_t mask, bits; /* settings of threads that are created later */
    bool chosen; /* a viewer set them */
};

#define RUN_SETTINGS_MAX 64u /* maximum number of pending requests */

struct run {
    char *key, *name; /* the value of POET_RUN; the part of it before @ */
    unsigned number;
    struct order *order;
    struct tracefile *trace; /* NULL: everything is in memory */
    struct run_file file;
    struct run_status status;
    struct run_programs programs;
    struct run_eviction eviction;
    struct run_lag lag;
    struct run_clock clock;
    uint64_t generation; /* grows with every change */

    struct target_list targets;
    struct name_table types, kinds;
    struct run_lines lines;
    struct line_identities identities; /* of lines */
    struct line_changes line_changes;
    struct run_processes processes;
    struct run_sessions sessions;
    struct site_table sites;
    struct annotations annotations;
    struct call_contexts contexts; /* call sums of its threads */
    struct call_entries entries; /* begins and ends of their calls, if requested */
    struct untraced_reports untraced;
    struct run_discarding discarding;
    struct run_addons addons; /* state of other modules */

    struct run_settings settings; /* measurement settings to be sent to its programs */
    int counters; /* wire/shared_counters.h; 0 not made yet */
    /* positions of the agents' streams, as of the delivered journal */
    struct agent_positions agent_positions;
    /* records the facts of a live run for checkpoints; NULL: they are not saved */
    const struct fact_writer *fact_writer;
    bool defers_work; /* long work of the order is left to run_step() */
    bool verify; /* the run is read completely before its statistics are reported */
    /* file of the report to make when the run has ended; "": standard error; NULL: no report */
    char *report;
};

/* Makes a run with its order in a trace file, which the run then owns; NULL: in memory. */
struct run *run_new(const char *key, unsigned number, struct tracefile *trace);
void run_free(struct run *run);
void run_is_live(struct run *run); /* makes a replayed run live */
/* sets the whole key, of which the file has only a part */
void run_called(struct run *run, const char *key);

/* Takes ownership of the request and its contents; returns false, and frees it, if there are too
 * many. */
bool run_settings_add(struct run_settings *wants, struct measurement_request *request);
void run_settings_applied(struct run_settings *wants); /* all requests were sent */

/* Return the code of a name, assigned on first use; 0 if there are too many. */
uint32_t run_type(struct run *run, const char *name);
uint32_t run_kind(struct run *run, const char *name);
const char *run_type_name(const struct run *run, uint32_t type);
const char *run_kind_name(const struct run *run, uint32_t kind);

/* Returns the line of an identity, made on first use; copies the name. */
uint32_t run_line(struct run *run, uint64_t high, uint64_t low, const char *kind, bool shared,
                  struct run_line facts);
/* Sets the description of an existing line by its own program, which replaces those by other
 * programs. */
void run_line_is(struct run *run, uint32_t line, const char *kind, bool shared,
                 struct run_line facts);
/* Returns the facts of a line; valid until the run discards something. */
static inline struct run_line *run_line_at(const struct run *run, uint32_t line)
{
    return run_lines_at(&run->lines, line);
}
/* Discards the oldest part of the run, up to a position, as order_discard() does. */
void run_discard(struct run *run, uint64_t position);
void run_discard_begin(struct run *run, uint64_t position); /* the same in steps, see order.h */
bool run_discard_step(struct run *run);
void run_pack(struct run *run); /* packs the facts of lines that are evicted from the order */
/* notes that viewers must receive the line again */
void run_line_changed(struct run *run, uint32_t line);
/* Changes the kind and the name of a line. */
void run_line_kind(struct run *run, uint32_t line, const char *kind, const char *name);
/* since: number of the line's last event then; 0: not known, or a fact that is known */
void run_rename(struct run *run, uint32_t line, const char *name, uint64_t since);
/* Adds a text to an event, cut to LIMIT_TEXT_BYTES, unless it has too many. */
void run_add_text(struct run *run, struct event_id at, const char *text);
/* Returns the first text of an event, or NULL. */
const struct run_text *run_texts(const struct run *run, struct event_id at);
/* Returns whether an event has such a text. */
bool run_has_text(const struct run *run, struct event_id at, const char *text);
/* Returns whether an event of a struct run has a text; for callbacks. */
bool run_has_texts(void *run, struct event_id at);

void run_fact(struct run *run, struct chunk chunk); /* passes a fact to the fact writer */

/* Adds a description from its text; returns false, and logs why, if it is invalid. */
bool run_describe(struct run *run, const char *name, const char *text);
/* Returns the description of a kind of lines, or NULL. */
const struct target_line_type *run_line_type(const struct run *run, uint32_t kind);
/* Returns the description of an event of that type on a line, or NULL. */
/* Returns whether a signal wakes all waiters, not just one. look: description of its type. */
bool run_signal_wakes_all(const struct run *run, struct event_id at,
                          const struct target_event *look);
const struct target_event *run_event_type(const struct run *run, uint32_t line, uint32_t type,
                                          enum relation relation);

/* Returns whether the pending events exceed their limit, an eighth of the memory.  Events that
 * wait by number alone are spilled to the file; those that wait by a key, or for several others,
 * are not. */
bool run_pending_limit_exceeded(const struct run *run);
/* Leaves long work of the order to run_step() from now on. */
void run_set_wait_for_missing(struct run *run);
/* Does about `looks` events of the deferred work.  Returns true when none is left; then all
 * lines that were to end have ended. */
bool run_step(struct run *run, uint64_t looks);

/* Adds a process to the run; returns its index. */
uint32_t run_process(struct run *run, struct run_process process);

/* Sets *stamp to that of the run's file as it was read, or as it is if this server writes it.
 * Returns false if there is no file, or another one is at its path now. */
bool run_file_stamp(const struct run *run, struct tracefile_stamp *stamp);

/* Returns the position of the last event before exec replaced the program of a process by another
 * one; NO_POSITION if it did not. */
uint64_t run_process_replaced(const struct run *run, uint32_t process);
/* Returns whether a process has exited by itself, or was replaced by exec. */
bool run_process_exited(const struct run *run, uint32_t process);
/* Returns the same for the process of a line. */
bool run_exited(const struct run *run, uint32_t line);

/* Returns the number of connected programs, including those that have only begun and those with an
 * end that was not delivered yet. */
unsigned run_connected(const struct run *run);

#endif
