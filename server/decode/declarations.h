/* The declarations of a session and their messages: types, shapes, lines, names.  Internal to
 * server/decode. */
#ifndef SERVER_DECODE_DECLARATIONS_H
#define SERVER_DECODE_DECLARATIONS_H

#include "base/map.h"
#include "server/decode/program_session.h"
#include "wire/limits.h"

struct event_shape {
    unsigned count;
    bool two_lines;
    struct shape_step steps[LIMIT_STEPS];
};

/* A thread, by the code of its own line: its last point, and slots that wait for
 * an announcement by another thread. */
struct thread_state {
    struct event_id last[2];
    uint8_t doubt;       /* an enum untraced_reason: what its next event may follow besides */
    uint32_t thread;     /* code of its own line */
    struct ring_slot *held;   /* from held_begin on */
    size_t held_begin, held_count, held_room;
    uint32_t held_epoch; /* region of the oldest */
    struct thread_state *next;  /* of those that wait for the same announcement */
    bool ready;          /* it need not wait any more */
};

/* Kinds of codes that a slot may name before they are declared. */
enum declaration_kind { DECLARED_LINE, DECLARED_TYPE, DECLARED_SHAPE };

#define NEAR_LINES 65536u
#define SITE_CACHE 256u

struct program_session {
    struct run *run;
    uint32_t number, process;
    uint64_t instance;
    uint32_t types[LIMIT_TYPES]; /* code -> type of the run */
    struct event_shape *shapes[LIMIT_SHAPES];
    uint32_t *lines; /* code -> line of the run, for small codes */
    size_t line_room;
    struct map sparse_lines; /* for the others */
    struct map foreign; /* code -> 1 + index into highs: of lines that may be another program's */
    uint64_t *highs; /* first halves of their identities */
    size_t high_count, high_room;
    struct recent_site {
        uint64_t address;
        uint32_t thread, context, caller; /* struct site */
        uint32_t site;
    } sites[SITE_CACHE];
    struct map threads; /* code of own line -> struct thread_state */
    uint32_t *own_lines;      /* lines of the run that this program opened */
    size_t own_line_count, own_line_room;
    size_t held_total;
    struct map waiting;  /* what is not announced yet -> struct thread_state that wait for it */
    size_t ready_count;  /* of its state */
    bool releasing;      /* they are being gone through */
    struct early_loss {
        uint32_t code;
        uint64_t first, count;
    } *early; /* received over the connection, which may be faster than the line's queue */
    size_t early_count, early_room;
    /* Context switches of threads that are not declared yet: the kernel's records come by another
     * way than the program's. */
    struct early_switch {
        uint32_t code;
        unsigned kind, cpu; /* SWITCH_*; UINT_MAX: unknown */
        int64_t at_ns;
    } *switches;
    size_t switch_count, switch_room;
    uint32_t batch; /* region of the journal that slots come from */
    bool stale; /* a part of the journal that is read again: all but its events is known */
};

static inline struct run_process *program_session_process(const struct program_session *session)
{
    return &session->run->processes.items[session->process];
}

/* ---- declared_lines.c ---- */

/* Returns the state of a thread, created if there is none. */
struct thread_state *thread_state_for(struct program_session *session, uint32_t thread);
/* Frees the state of threads with closed lines, from which no more slots can come; a
 * program may have had millions of them. */
void program_session_forget_ended(struct program_session *session);
/* Marks the threads that wait for this declaration as ready. */
void thread_states_notify(struct program_session *session, enum declaration_kind what,
                          uint32_t code);
/* Returns the line of the run that has this code; 0: it was not declared. */
uint32_t program_session_line(const struct program_session *session, uint32_t code);
/* Returns whether the line belongs to another program.  Only that program may send events of it;
 * others' events may name it as object or partner. */
bool program_session_is_foreign(const struct program_session *session, uint32_t code);
/* Decode the bodies of a LINE and of a LOST; return false with in->error. */
bool declared_line_read(struct program_session *session, struct decoder *in, uint32_t thread);
bool declared_line_read_lost(struct program_session *session, struct decoder *in, uint32_t thread);
/* Takes a context switch of a thread that may have no declared line yet. */
void declared_line_switch(struct program_session *session, const struct early_switch *one);

/* ---- all declarations ---- */

/* Returns true if all codes that the slot names were declared; else sets *missing to the first that
 * was not. */
struct missing_declaration {
    enum declaration_kind what;
    uint32_t code;
};
bool declarations_complete(const struct program_session *session, const struct ring_slot *slot,
                           struct missing_declaration *missing);

/* Decodes one message body, of a thread if it is not 0. Returns false with in->error. */
bool handle_declaration(struct program_session *session, unsigned type, struct decoder *in,
                        uint32_t thread);

/* Decodes the measurements in a record's payload (profile_records.c). */
void program_session_decode_measured(struct program_session *session, uint32_t thread,
                                     const struct ring_slot *slot, struct event_id at);

#endif
