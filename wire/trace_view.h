/* Descriptions of a run that a server sends: lines, events, processes, statistics, as structs and
 * as bytes. Windows are in layout_results.h, results about the order in query_results.h. The
 * structs own what is decoded into them; their _free frees it. decode_ functions fail the decoder
 * on invalid input and leave a struct that may be freed. */
#ifndef WIRE_TRACE_VIEW_H
#define WIRE_TRACE_VIEW_H

#include "wire/event_types.h"
#include "wire/message.h"
#include "wire/slot.h"

struct line_info {
    uint32_t line; /* with HIDDEN_LINE if hidden */
    bool shared, closed;
    bool exited; /* its process has ended by itself: by return, exit, quick_exit or _exit */
    uint32_t process; /* index */
    char *kind, *name;
    uint64_t object; /* address or id, 0: none */
    uint64_t entry;  /* address of a thread's function, 0: none */
    struct event_id opened_by;
    uint64_t events, first, last; /* received; first kept and greatest number, 0: none */
};

#define NO_POSITION UINT64_MAX

/* The relation of two events as a byte, in which 0 means unknown. */
#define RELATION_CODE(precedence) (1 + (precedence))

struct event_info {
    struct event_id at;
    uint32_t type; /* code, see TYPE_NAME */
    uint64_t position; /* in the log; NO_POSITION if pending */
    uint8_t relation, state;
    bool partner_lost;
    int64_t time_ns;
    uint32_t about, thread; /* lines, 0: none */
    uint32_t process;       /* of the site */
    uint64_t site;          /* address, 0: none */
    uint32_t context;       /* of its thread (wire/profile_region.h), 0: unknown */
    uint64_t *calls; /* its call stack: an address in each function, the innermost first */
    uint32_t call_count;
    /* the call sites that led to `site`, if they were recorded (wire/slot.h) */
    struct slot_stack stack;
    uint64_t group; /* shared by the members of a group; 0: none */
    struct event_id *partners; /* of a SYNC one, of a SEND its receives, of a RECEIVE its sends */
    uint32_t partner_count;
    struct event_id *after; /* order edges */
    uint32_t after_count;
    char **texts;
    uint32_t text_count;
    struct occupants in;
    /* in a window only */
    int32_t column;
    uint32_t fold;
    bool undelivered; /* a wake-up, while certainly no thread waited */
    /* an enum untraced_reason: why it may have more predecessors than are recorded */
    uint8_t doubt;
    /* relation, set not with the event, but by RELATIONS: 0: unknown, or RELATION_CODE */
    uint8_t to_selected;
    /* placed by time: position of the latest drawn event that is before it, by time, then by
     * position; NO_POSITION: none; its own: unknown */
    uint64_t behind;
    int64_t since_ns; /* since the previous event on its line; -1: none */
    int64_t waited_ns; /* how long its thread had waited before it; -1: it had not */
};

struct module_info {
    char *path;
    char build_id[65]; /* hexadecimal */
    uint64_t start, end, bias;
};

struct process_info {
    uint32_t pid;
    char *path, *host;
    char **arguments;
    uint32_t argument_count;
    char **variables; /* of its environment (wire/variable.h) */
    uint32_t variable_count;
    struct module_info *modules;
    uint32_t module_count;
};

struct run_info {
    char *name, *file;
    uint32_t number;
    uint64_t events, lost;
    uint64_t wall_ns;
    uint32_t connected;
    bool unfinished, written; /* a file: it has no end; a server was still writing it */
    char *cut; /* of which run it is a cut, and what was left out, one line; "": it is none */
};

/* Untraced synchronization of a run: a reason, its subject ("" nothing in particular), and the
 * number of programs, calls or events concerned. */
struct untraced_info {
    uint8_t reason;
    char *about;
    uint64_t count;
};

struct stat_info {
    uint64_t lines, hidden_lines, events, pending, lost, contradictions, duplicates, untraced,
        texts, waited_ns;
    int64_t duration_ns;
    uint32_t connected;
    bool unfinished;
    bool written; /* unfinished, since a server is still writing it */
    /* programs that are known to have ended without having sent all that they recorded */
    uint32_t cut_off;
    uint64_t doubtful; /* events that may have more predecessors than are recorded */
    struct untraced_info *unseen;
    uint32_t unseen_count;
    /* delay of the order behind the received events; bytes of the journal */
    uint64_t behind_ns, journal_ahead;
    uint64_t discarded; /* oldest events, which were discarded */
    char *damage; /* "": none */
};

struct inconsistency_info {
    struct event_id at, with;
    char *why;
};

/* Returns whether two events are one synchronization point: a sync pair, or members of one group.
 * Pending and inconsistent events are in none. */
bool event_info_same_point(const struct event_info *a, const struct event_info *b);

void encode_line_info(struct encoder *out, const struct line_info *line);
void decode_line_info(struct decoder *in, struct line_info *line);
void line_info_free(struct line_info *line);
void encode_event_info(struct encoder *out, const struct event_info *event);
void decode_event_info(struct decoder *in, struct event_info *event);
#define CALLS_SHOWN 64u /* of one event, at most */
#define EVENT_BYTES 115u /* at least */
void event_info_free(struct event_info *event);
void encode_process_info(struct encoder *out, const struct process_info *process);
void decode_process_info(struct decoder *in, struct process_info *process);
void process_info_free(struct process_info *process);
void encode_run_info(struct encoder *out, const struct run_info *run);
void decode_run_info(struct decoder *in, struct run_info *run);
void run_info_free(struct run_info *run);
/* Offset of a host's clock from that of the run's first host. */
struct clock_info {
    char *host; /* decode: the caller frees it */
    /* uneven: the bounds were widened until the clocks were consistent */
    uint8_t is_known, is_first, is_uneven;
    uint64_t at_ns; /* time shown by the first host's clock */
    int64_t low_ns, high_ns; /* bounds of its offset at that time */
    int64_t low_ppb, high_ppb; /* bounds of its rate error */
    int64_t ahead_ns; /* offset used to correct times */
};
void encode_clock_info(struct encoder *out, const struct clock_info *clock);
void decode_clock_info(struct decoder *in, struct clock_info *clock);

void encode_stat_info(struct encoder *out, const struct stat_info *stat);
void decode_stat_info(struct decoder *in, struct stat_info *stat);
void stat_info_free(struct stat_info *stat);

#endif
