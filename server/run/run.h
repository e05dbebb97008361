/* One run: its order, and the names of everything in it.
 *
 * A run owns its order, its descriptions and its tables.  Codes of types and kinds are
 * the run's own; 0 is no type.  Lines of the order from 1 have a run_line each (run_lines.h). */
#ifndef SERVER_RUN_RUN_H
#define SERVER_RUN_RUN_H

#include "config/target.h"
#include "server/run/line_identity.h"
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
    bool ended; /* said that it exits */
    uint32_t next; /* 1 + the program that has its process number since then; 0: none */
    uint32_t first_line, lines_seen; /* its first line; 0: not among so many lines of the run */
    /* more may be in its queues, which are its own memory: where it has ended, that is lost */
    bool unsent;
};

struct run_text {
    struct run_text *next, *last; /* last, count: of the first one of an event */
    uint32_t count;
    char text[];
};

struct run;
struct program_session;
struct capture;

/* Callbacks that write down the facts needed to continue from a saved state. */
struct fact_writer {
    void (*fact)(struct run *run, struct chunk chunk); /* a chunk that later ones rely on */
    void (*text)(struct run *run, uint32_t line, uint64_t number, const char *text);
    void (*free)(struct run *run);
};

struct run {
    char *key, *name; /* the value of POET_RUN; its printable form */
    unsigned number;
    struct order *order;
    struct tracefile *trace; /* NULL: everything is in memory */
    bool live; /* trace is being written */
    char *file;
    struct name_table types, kinds;
    struct run_lines lines;
    uint32_t *changes; /* lines that changed after they were made, as it happened */
    size_t change_count, change_room;
    struct run_process *processes;
    size_t process_count, process_room;
    struct line_identities identities; /* of lines */
    struct map texts;
    struct run_forgetting {
        struct map_removal texts;
        size_t page; /* of lines, the next one */
        uint32_t entries; /* of threads with call records, the next one */
        size_t did; /* of threads with activity records, the next one */
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
    struct pending_settings wants; /* what they are to measure */
    struct call_contexts contexts; /* what its threads measured of their calls */
    struct call_entries entries; /* and when each began and ended, where that was wanted */
    uint64_t start_ns; /* clock at the run's begin; times count from it */
    uint64_t wall_ns;
    int64_t clock_ahead_ns; /* of the time of the run before this machine's monotonic clock */
    int64_t last_ns; /* latest event */
    int64_t ended_ns; /* when its last program had left; 0: unknown, or the run is live */
    unsigned connected; /* programs */
    /* how many of them hung up; what that does to the order is still worked off */
    unsigned leaving;
    int counters; /* wire/shared_counters.h; 0 not made yet */
    uint64_t generation; /* grows with every change */
    struct clock_sync *clocks; /* of clock_sync.c alone; a cache */
    struct clock_exchanges *exchanges; /* of clock_exchanges.c; NULL: none was received */
    struct unordered_events *astray; /* of unordered_shared_events.c alone; likewise */
    struct state_timeline *course; /* of state_timeline.c alone; likewise */
    void (*course_free)(struct state_timeline *course);
    struct call_sites *places; /* of call_sites.c alone; likewise */
    struct activity_store *did; /* of activity_store.c alone; NULL: none was received */
    struct os_metrics_store *figures; /* of os_metrics.c alone; NULL: nothing was said */
    struct cpu_states *spans; /* of cpu_placement.c alone; likewise */
    struct awaits *awaits; /* of awaits.c alone; likewise */
    struct heap_totals *heap; /* of heap.c alone; likewise */
    struct input_store *inputs; /* of input_store.c alone; NULL: none was recorded */
    struct program_metrics *metered; /* of program_metrics.c alone; likewise */
    struct interval_cache *measured; /* of server/queries/interval_cache.c alone; likewise */
    void (*measured_free)(struct interval_cache *measured);
    struct attribution_cache *explained; /* of server/queries/attribution_cache.c alone; likewise */
    void (*explained_free)(struct attribution_cache *explained);
    struct path_baseline *basis; /* of server/queries/tables/path_baseline.c alone; likewise */
    void (*basis_free)(struct path_baseline *basis);
    /* positions of the agents' streams, as of the delivered journal */
    struct agent_positions reached;
    const struct fact_writer *keeper; /* of a live run: writes down its facts; NULL: not saved */
    struct checkpoint_writer *saving; /* the keeper's own */
    /* of a live run that had a program: captured and undelivered chunks; the run only frees it */
    struct capture *taking;
    void (*taking_free)(struct capture *taking);
    struct program_session *
        *sessions; /* by number; NULL where it hung up.  The run only frees them. */
    size_t session_count, session_room;
    void (*session_free)(struct program_session *session);
    bool finishing; /* the last of its programs leaves */
    bool patient; /* what takes long in the order is left to run_step */
    /* when it has ended, one is to be made: a file's name, "" standard error; NULL none */
    char *report;
    char *damage; /* what the file has lost, NULL nothing */
    bool unfinished; /* the file has no end */
    /* it was resumed after its server was killed, and no agent has continued it yet */
    bool left;
    bool deleted; /* of idle_eviction.c alone: its file, while it is written */
    bool ending; /* all of its programs hung up; its last state is being written */
    bool finished; /* all of its programs hung up, and its file has its end */
    bool resting; /* put to rest (idle_eviction.h): nothing of it is here but these figures */
    uint64_t rest_events, rest_lost;
    unsigned watchers; /* viewers that look at it */
    uint64_t asked; /* a growing counter: when it began, was finished or last used */
    bool verify; /* the run is read completely before its statistics are reported */
    struct run_unseen { /* what programs say they do that is not followed */
        uint8_t reason;
        uint32_t session; /* that said it last */
        char *about;
        uint64_t count; /* programs */
    } *unseen;
    size_t unseen_count, unseen_room;
    bool written; /* a server was still writing it when it was opened */
    uint64_t behind_ns,
        journal_ahead; /* how far the order was behind when it was looked at; bytes */
};

/* A run whose order lies in a trace file, which it takes over; NULL: in memory. */
struct run *run_new(const char *key, unsigned number, struct tracefile *trace);
void run_free(struct run *run);
void run_is_live(struct run *run); /* one that was replayed is live from now on */
void run_called(struct run *run, const char *key); /* the file name is only a part of it */

/* Codes by name, made on first use; 0 when there are too many types. */
uint32_t run_type(struct run *run, const char *name);
uint32_t run_kind(struct run *run, const char *name);
const char *run_type_name(const struct run *run, uint32_t type);
const char *run_kind_name(const struct run *run, uint32_t kind);

/* The line of an identity, made on first use; the name is copied. */
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
/* Forgets the oldest part, up to a position, as order_discard does. */
void run_discard(struct run *run, uint64_t position);
void run_discard_begin(struct run *run, uint64_t position); /* the same in steps, see order.h */
bool run_discard_step(struct run *run);
void run_pack(struct run *run); /* what is known of lines that the order has put away */
void run_line_changed(struct run *run, uint32_t line); /* viewers are to hear of it again */
/* It turns out to be of another kind, and is called so. */
void run_line_kind(struct run *run, uint32_t line, const char *kind, const char *name);
/* since: number of the line's last event then; 0: not known, or a fact that is known */
void run_rename(struct run *run, uint32_t line, const char *name, uint64_t since);
void run_add_text(struct run *run, struct event_id at, const char *text);
const struct run_text *run_texts(const struct run *run, struct event_id at);
/* Returns the number of a site, from 1, which is the same for equal sites; 0 for address 0. */
uint32_t run_site(struct run *run, struct site site);

void run_fact(struct run *run, struct chunk chunk); /* to its keeper */

/* Adds a description from its text; false with a complaint in the log if it is bad. */
bool run_described(const struct run *run, const char *name);
bool run_describe(struct run *run, const char *name, const char *text);
const struct target_line_type *run_target_kind(const struct run *run, const char *kind);
/* Returns the description of an event of that type on a line; NULL: there is none. */
const struct target_event *run_event_type(const struct run *run, uint32_t line, uint32_t type,
                                          enum relation relation);

/* Returns whether the pending events exceed their limit, an eighth of the memory.  Events that
 * wait by number alone are spilled to the file; those that wait by a key, or for several others,
 * are not. */
bool run_pending_limit_exceeded(const struct run *run);
/* From now on what may take long is left to run_step. */
void run_set_wait_for_missing(struct run *run);
/* Does about `looks` events of the deferred work.  Returns true when none is left; then all
 * lines that were to end have ended. */
bool run_step(struct run *run, uint64_t looks);

/* Programs come and go. */
uint32_t run_process(struct run *run, struct run_process process);

/* The time by its clock: now, as far as this host's clock agreed with that of its first program
 * when the run began here. */
int64_t run_clock_ns(const struct run *run);

/* Returns whether the line belongs to a program that has exited, or was replaced by exec. */
bool run_exited(const struct run *run, uint32_t line);

/* Returns the number of connected programs, including those that have only begun and those whose
 * end was not delivered yet. */
unsigned run_connected(const struct run *run);

#endif
