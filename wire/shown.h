/* What a server tells about a run: lines, events, windows, figures, as structs and
 * as bytes.  Everything read into these structs is owned by them and freed by
 * their _free.  get_ functions fail the reader on nonsense and leave a struct
 * that may be freed. */
#ifndef WIRE_SHOWN_H
#define WIRE_SHOWN_H

#include "wire/event.h"
#include "wire/message.h"

struct shown_line {
    uint32_t line; /* with HIDDEN_LINE if hidden */
    bool shared, closed;
    uint32_t process; /* index */
    char *kind, *name;
    uint64_t object; /* address or id, 0 none */
    uint64_t entry;  /* address of a thread's function, 0 none */
    struct ref opened_by;
    uint64_t events, first, last; /* delivered; first kept and greatest number, 0 none */
};

#define NO_POSITION UINT64_MAX

struct shown_event {
    struct ref at;
    uint32_t type; /* code, see TYPE_NAME */
    uint64_t position; /* in the log; NO_POSITION if pending */
    uint8_t relation, state;
    bool partner_lost;
    int64_t time_ns;
    uint32_t about, thread; /* lines, 0 none */
    uint32_t process;       /* of the site */
    uint64_t site;          /* address, 0 none */
    uint64_t group;         /* 0 none: members of a group share it */
    struct ref *partners;   /* of a SYNC one, of a SEND its receives, of a RECEIVE its sends */
    uint32_t partner_count;
    struct ref *after; /* order edges */
    uint32_t after_count;
    char **texts;
    uint32_t text_count;
    struct presences in;
    /* in a window only */
    int32_t column;
    uint32_t fold;
    uint8_t doubt; /* an enum unseen: why more may be before it than is told */
    uint8_t stands;   /* not told with it, but by STANDS: 0, or 1 + enum precedence */
    int64_t since_ns; /* since the event before it on its line; -1 there is none */
};

struct shown_gap {
    uint32_t line;
    uint64_t first, count;
};

struct shown_crossing { /* a message that passes the window by */
    struct ref from, to;
};

struct shown_via { /* order between two drawn events through lines that are not */
    struct ref from, to;
    uint32_t line; /* the last of those */
};

struct shown_module {
    char *path;
    char build_id[65]; /* hexadecimal */
    uint64_t start, end, bias;
};

struct shown_process {
    uint32_t pid;
    char *path, *host;
    char **arguments;
    uint32_t argument_count;
    struct shown_module *modules;
    uint32_t module_count;
};

struct shown_run {
    char *name, *file;
    uint32_t number;
    uint64_t events, lost;
    uint64_t wall_ns;
    uint32_t connected;
    bool unfinished, written; /* a file: it has no end; a server was still writing it */
};

/* What a run does not see: a reason, what it is about ("" nothing special), and of how many programs, calls or
 * events that holds. */
struct shown_unseen {
    uint8_t reason;
    char *about;
    uint64_t count;
};

struct shown_stat {
    uint64_t lines, hidden_lines, events, pending, lost, contradictions, duplicates, untraced,
        texts, waited_ns;
    int64_t duration_ns;
    uint32_t connected;
    bool unfinished;
    bool written; /* unfinished, since a server is still writing it */
    uint32_t cut_off; /* programs that ended without having sent all that they recorded, as far as anyone knows */
    uint64_t doubtful; /* events before which more may be than is told */
    struct shown_unseen *unseen;
    uint32_t unseen_count;
    uint64_t behind_ns, journal_ahead; /* how far the order is behind what was taken; bytes of the journal */
    char *damage; /* "" none */
};

struct shown_trouble {
    struct ref at, with;
    char *why;
};

struct shown_row {
    uint32_t line;       /* the first, if it is a cluster */
    uint32_t *members;   /* the other lines of a cluster */
    uint64_t *lefts;     /* events of each of them left of the window */
    uint32_t member_count;
    struct presences in; /* at the left edge */
    uint64_t left;       /* events left of the window, of all its lines */
    bool open;           /* the line has events or states on both sides: it crosses the left edge */
};

struct shown_window {
    uint64_t generation, anchor, count; /* position of the anchor, length of the log */
    int32_t from;
    uint32_t columns;
    int64_t time_ns;     /* where column 0 begins, if placed by time */
    int32_t first, last; /* columns that hold something */
    bool more_left, more_right;
    bool unresolved; /* what some rows have further right was not looked for */
    struct shown_row *rows;
    uint32_t row_count;
    struct shown_event *events;
    uint32_t event_count;
    struct shown_event *pending;
    uint32_t pending_count;
    struct shown_gap *gaps;
    uint32_t gap_count;
    struct shown_crossing *crossings;
    uint32_t crossing_count;
    struct shown_via *vias;
    uint32_t via_count;
    uint64_t idle_lines; /* that are drawn but have no row: they have no event in the window */
    uint64_t left_lines; /* that have events in it, but there were too many rows */
};

/* A run from far away: events per row and pixel. */
struct shown_density {
    int64_t from, to;
    uint32_t pixels, row_count;
    uint32_t *rows;       /* lines */
    uint32_t *counts;     /* by row, then pixel */
    uint64_t *blocked_ns; /* the longest stretch that begins there in which only blocked threads were in the line */
};

/* A thread that waits at the end of what was recorded. */
struct shown_wait {
    uint32_t thread, about; /* lines; about 0: something that was not seen */
    struct shown_event event; /* its last one */
    struct shown_holder { /* who must go before it goes on */
        uint32_t thread;
        struct ref since; /* the event by which it came in; number 0: not kept */
    } *holders;
    uint32_t holder_count;
};

/* Each waits for the next, by what it waits about, and the last for the first. */
struct shown_cycle {
    struct shown_step {
        uint32_t thread, about;
    } *steps;
    uint32_t count;
};

/* How many events of a run stand how to one of them. */
struct shown_count {
    struct ref at;
    bool known; /* there is such an event, and it is ordered */
    uint64_t before, after, concurrent, same; /* same: itself and the others of its point */
    uint64_t unknown; /* they may be ordered by what was not seen */
};

/* What a search has found. */
struct shown_hit {
    struct ref at;
    uint64_t position;
};

struct shown_found {
    bool done;
    uint64_t looked; /* at so many events */
    uint64_t count;  /* of hits so far, told or not */
    char *problem;   /* "" none: what is wrong with the expression */
    struct shown_hit *hits; /* new ones, in the order of the log, or against it if backwards */
    uint32_t hit_count;
};

void put_ref(struct out *out, struct ref ref);
struct ref get_ref(struct in *in);
void put_line_is(struct out *out, const struct shown_line *line);
void get_line_is(struct in *in, struct shown_line *line);
void shown_line_free(struct shown_line *line);
void put_event(struct out *out, const struct shown_event *event);
void get_event(struct in *in, struct shown_event *event);
void shown_event_free(struct shown_event *event);
void put_process(struct out *out, const struct shown_process *process);
void get_process(struct in *in, struct shown_process *process);
void shown_process_free(struct shown_process *process);
void put_run(struct out *out, const struct shown_run *run);
void get_run(struct in *in, struct shown_run *run);
void shown_run_free(struct shown_run *run);
void put_stat(struct out *out, const struct shown_stat *stat);
void get_stat(struct in *in, struct shown_stat *stat);
void shown_stat_free(struct shown_stat *stat);
void put_window(struct out *out, const struct shown_window *window);
void get_window(struct in *in, struct shown_window *window);
void shown_window_free(struct shown_window *window);
void put_density(struct out *out, const struct shown_density *density);
void get_density(struct in *in, struct shown_density *density);
void shown_density_free(struct shown_density *density);
void put_count(struct out *out, const struct shown_count *count);
void get_count_is(struct in *in, struct shown_count *count);
void put_found(struct out *out, const struct shown_found *found);
void get_found(struct in *in, struct shown_found *found);
void shown_found_free(struct shown_found *found);
void put_wait(struct out *out, const struct shown_wait *wait);
void get_wait(struct in *in, struct shown_wait *wait);
void shown_wait_free(struct shown_wait *wait);
void get_cycle(struct in *in, struct shown_cycle *cycle);

#endif
