/* One run: its order, and the names of everything in it.
 *
 * A run owns its order, its descriptions and its tables.  Codes of types and kinds are
 * the run's own; 0 is no type.  Lines of the order from 1 have a run_line each (run_lines.h). */
#ifndef SERVER_RUN_RUN_H
#define SERVER_RUN_RUN_H

#include "config/target.h"
#include "server/run/line_identity.h"
#include "server/run/run_addons.h"
#include "server/run/run_lines.h"
#include "server/run/name_table.h"
#include "server/run/pending_settings.h"
#include "base/map.h"
#include "server/timing/call_contexts.h"
#include "server/timing/call_entries.h"
#include "server/order/order.h"
#include "server/tracefile/agent_positions.h"
#include "server/tracefile/tracefile.h"

struct run_module {
    char *path;
    uint8_t build_id[32];
    unsigned build_id_bytes;
    uint64_t start, end, bias;
};

struct run_process {
    uint32_t pid;
    char *path, *host;
    char **arguments, **variables; /* variables: of its environment (wire/variable.h) */
    size_t argument_count, variable_count;
    struct run_module *modules;
    size_t module_count, module_room;
    uint64_t waited_ns, dropped, unfollowed;
    /* events lost with its end; those of them whose numbers were reported */
    uint64_t left, left_known;
    uint64_t clock_ns, wall_ns; /* one moment on both of its clocks */
    bool connected;
    bool ended; /* it reported that it exits */
    uint32_t next; /* 1 + the program that has its process number since then; 0: none */
    /* its first line; 0: not among the first lines_seen lines of the run */
    uint32_t first_line, lines_seen;
    /* more events may be in its queues, in its own memory; they are lost if it has ended */
    bool unsent;
};

struct run_text {
    struct run_text *next, *last; /* last, count: set in the first text of an event */
    uint32_t count;
    char text[];
};

struct run;
struct program_session;

/* Callbacks that record the facts from which a checkpoint is resumed. */
struct fact_writer {
    void (*fact)(struct run *run, struct chunk chunk); /* a chunk that later ones rely on */
    void (*text)(struct run *run, uint32_t line, uint64_t number, const char *text);
};

struct run {
    char *key, *name; /* the value of POET_RUN; the part of it before @ */
    unsigned number;
    struct order *order;
    struct tracefile *trace; /* NULL: everything is in memory */
    bool live; /* the trace file is being written */
    char *file;
    struct name_table types, kinds;
    struct run_lines lines;
    uint32_t *changes; /* lines that changed after they were made, in the order of the changes */
    size_t change_count, change_room;
    struct run_process *processes;
    size_t process_count, process_room;
    struct line_identities identities; /* of lines */
    struct map texts;
    struct run_forgetting {
        struct map_removal texts;
        size_t page; /* the next page of lines */
        uint32_t entries; /* the next thread with call records */
        size_t did; /* the next thread with activity records */
    } forgetting;
    uint64_t text_count;
    struct map sites;
    struct site {
        uint32_t process;
        /* line of the thread whose context it is; 0: by which calls is not known */
        uint32_t thread;
        uint64_t address;
        uint32_t context; /* wire/profile_region.h */
    } *site_list;
    size_t site_count, site_room;
    struct target **targets;
    char **target_texts;
    size_t target_count, target_room;
    struct pending_settings wants; /* measurement settings to be sent to them */
    struct call_contexts contexts; /* call sums of its threads */
    struct call_entries entries; /* begins and ends of their calls, if requested */
    uint64_t start_ns; /* clock at the run's begin; times count from it */
    uint64_t wall_ns;
    int64_t clock_ahead_ns; /* time of the run minus this machine's monotonic clock */
    int64_t last_ns; /* time of the latest event */
    int64_t ended_ns; /* when its last program hung up; 0: unknown, or the run is live */
    unsigned connected; /* number of connected programs */
    /* number of them that hung up, while the order still has work for that */
    unsigned leaving;
    int counters; /* wire/shared_counters.h; 0 not made yet */
    uint64_t generation; /* grows with every change */
    struct run_addons addons; /* state of other modules */
    /* positions of the agents' streams, as of the delivered journal */
    struct agent_positions reached;
    /* records the facts of a live run for checkpoints; NULL: they are not saved */
    const struct fact_writer *fact_writer;
    struct program_session *
        *sessions; /* by number; NULL once it hung up.  The run only frees them. */
    size_t session_count, session_room;
    void (*session_free)(struct program_session *session);
    bool finishing; /* its last program is leaving */
    bool patient; /* long work of the order is left to run_step() */
    /* file of the report to make when the run has ended; "": standard error; NULL: no report */
    char *report;
    char *damage; /* description of the file's damage, or NULL */
    bool unfinished; /* the file has no end */
    /* it was resumed after its server was killed, and no agent has continued it yet */
    bool left;
    bool deleted; /* used by idle_eviction.c alone: the file was deleted while it was written */
    bool ending; /* all of its programs hung up; its last checkpoint is being written */
    bool finished; /* all of its programs hung up, and its file is complete */
    bool resting; /* evicted (idle_eviction.h): only these figures remain */
    uint64_t rest_events, rest_lost;
    unsigned watchers; /* number of viewers that show it */
    uint64_t asked; /* a growing counter: when it began, was finished or last used */
    bool verify; /* the run is read completely before its statistics are reported */
    struct run_unseen { /* untraced synchronization that programs reported */
        uint8_t reason;
        uint32_t session; /* the session that reported it last */
        char *about;
        uint64_t count; /* number of programs */
    } *unseen;
    size_t unseen_count, unseen_room;
    bool written; /* a server was still writing it when it was opened */
    uint64_t behind_ns,
        journal_ahead; /* how far the order was behind when last checked: ns, bytes */
};

/* Makes a run whose order lies in a trace file, which the run then owns; NULL: in memory. */
struct run *run_new(const char *key, unsigned number, struct tracefile *trace);
void run_free(struct run *run);
void run_is_live(struct run *run); /* makes a replayed run live */
/* sets the whole key, of which the file has only a part */
void run_called(struct run *run, const char *key);

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
const struct run_text *run_texts(const struct run *run, struct event_id at);
/* Returns the number of a site, from 1, which is the same for equal sites; 0 for address 0. */
uint32_t run_site(struct run *run, struct site site);

void run_fact(struct run *run, struct chunk chunk); /* passes a fact to the fact writer */

/* Adds a description from its text; returns false, and logs why, if it is invalid. */
bool run_described(const struct run *run, const char *name);
bool run_describe(struct run *run, const char *name, const char *text);
const struct target_line_type *run_target_kind(const struct run *run, const char *kind);
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

/* Returns the current time by the run's clock, as far as this host's clock agreed with that of its
 * first program when the run began here. */
int64_t run_clock_ns(const struct run *run);

/* Returns whether the line belongs to a program that has exited, or was replaced by exec. */
bool run_exited(const struct run *run, uint32_t line);

/* Returns the number of connected programs, including those that have only begun and those whose
 * end was not delivered yet. */
unsigned run_connected(const struct run *run);

#endif
