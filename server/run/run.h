/* One run: its order, and the names of everything in it.
 *
 * A run owns its order, its descriptions and its tables.  Codes of types and kinds are
 * the run's own; 0 is no type.  Lines of the order from 1 have a run_line each (run_lines.h). */
#ifndef SERVER_RUN_RUN_H
#define SERVER_RUN_RUN_H

#include "server/order/order.h"
#include "server/run/annotations.h"
#include "server/run/line_identity.h"
#include "server/run/name_table.h"
#include "server/run/run_addons.h"
#include "server/run/run_clock.h"
#include "server/run/run_lines.h"
#include "server/run/run_processes.h"
#include "server/run/run_status.h"
#include "server/run/site_table.h"
#include "server/run/target_list.h"
#include "server/run/untraced_reasons.h"
#include "server/timing/call_contexts.h"
#include "server/timing/call_entries.h"
#include "server/tracefile/agent_positions.h"
#include "server/tracefile/tracefile.h"
#include "wire/request_body.h"

struct run;
struct program_session;

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

/* Makes a run whose order lies in a trace file, which the run then owns; NULL: in memory. */
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
void run_add_text(struct run *run, struct event_id at, const char *text);

void run_fact(struct run *run, struct chunk chunk); /* passes a fact to the fact writer */

/* Adds a description from its text; returns false, and logs why, if it is invalid. */
bool run_describe(struct run *run, const char *name, const char *text);
/* Returns the description of an event of that type on a line, or NULL. */
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

/* Returns the position of the last event before exec replaced the program of a process by another
 * one; NO_POSITION if it did not. */
uint64_t run_process_replaced(const struct run *run, uint32_t process);
/* Returns whether a process has exited by itself, or was replaced by exec. */
bool run_process_exited(const struct run *run, uint32_t process);
/* The same for the process of a line. */
bool run_exited(const struct run *run, uint32_t line);

/* Returns the number of connected programs, including those that have only begun and those whose
 * end was not delivered yet. */
unsigned run_connected(const struct run *run);

#endif
