/* Codes of types and compound shapes: those that libpoet itself uses, and those of the program. */
#ifndef CLIENTS_LIBPOET_CORE_TYPE_CODES_H
#define CLIENTS_LIBPOET_CORE_TYPE_CODES_H

#include "clients/libpoet/poet.h"
#include "wire/message.h"
#include "wire/slot.h"

#pragma GCC visibility push(hidden)

/* clang-format off */
#define TRACE_TYPES(T)                                                                          \
    T(CREATE, "create") T(START, "start") T(END, "end") T(CLOSE, "close")                       \
    T(FAILED, "failed") T(JOIN, "join") T(JOINED, "joined")                                     \
    T(REFUSED_JOIN, "refused_join") T(DETACH, "detach") T(PETITION, "petition")                 \
    T(REFUSED, "refused") T(ENTER, "enter") T(ENTERED, "entered") T(LEAVE, "leave")             \
    T(LEFT, "left") T(WAIT, "wait") T(WAKE, "wake") T(TIMEOUT, "timeout")                       \
    T(SIGNAL, "signal") T(POST, "post") T(TAKEN, "taken") T(NOTE, "note")                       \
    T(OFF, "off") T(ON, "on") T(READ_LEFT, "read_left")                                         \
    T(WRITE_LEFT, "write_left") T(READ, "read") T(WRITE, "write") T(ARRIVE, "arrive")           \
    T(PASSED, "passed") T(INITIALISE, "initialise") T(INITIALISED, "initialised")               \
    T(READY, "ready") T(FORK, "fork") T(RESUME, "resume")                                       \
    T(RESUMED, "resumed") T(SUSPEND, "suspend") T(SUSPENDED, "suspended")                       \
    T(TRANSFER, "transfer") T(TRANSFERRED, "transferred")                                       \
    T(CANCEL, "cancel") T(CANCELLED, "cancelled") T(KILL, "kill")                               \
    T(HANDLER, "handler") T(SIGWAIT, "sigwait") T(SIGNALLED, "signalled")                       \
    T(EXEC, "exec") T(EXIT, "exit") T(REAP, "reap") T(REAPED, "reaped")                         \
    T(TIMED_WAIT, "timed_wait") T(TIMED_PETITION, "timed_petition") T(TIMED_JOIN, "timed_join") \
    T(CHOOSE, "choose")
/* clang-format on */

/* clang-format off */
enum trace_type {
    TYPE_NONE,
#define T(code, name) TYPE_##code,
    TRACE_TYPES(T)
#undef T
    TYPE_COUNT
};
/* clang-format on */

enum trace_shape {
    SHAPE_LOCK = SHAPE_COMPOUND, /* petition, enter/entered */
    SHAPE_ENTER,                 /* enter/entered */
    SHAPE_LEAVE,                 /* left/leave */
    SHAPE_REFUSED,               /* petition, refused */
    SHAPE_AGAIN,                 /* petition, enter; on the monitor's line */
    SHAPE_TAKE,                  /* enter/entered, taken, left/leave */
    SHAPE_POST,                  /* enter/entered, post, left/leave */
    SHAPE_AWAIT,                 /* enter/entered, wait */
    SHAPE_TIMED_AWAIT,           /* enter/entered, timed_wait */
    SHAPE_TAKEN,                 /* taken, left/leave */
    SHAPE_GAVE_UP,               /* timeout, left/leave */
    SHAPE_BROKEN,                /* refused, left/leave */
    SHAPE_READ,                  /* petition, enter/read */
    SHAPE_READ_ENTER,            /* enter/read */
    SHAPE_READ_LEAVE,            /* left/read_left */
    SHAPE_WRITE,                 /* petition, enter/write */
    SHAPE_WRITE_ENTER,           /* enter/write */
    SHAPE_WRITE_LEAVE,           /* left/write_left */
    SHAPE_RESUME,                /* resume/resumed */
    SHAPE_SUSPEND,               /* suspended/suspend */
    SHAPE_TRANSFER,              /* transfer/transferred */
    SHAPE_FINISH,                /* end/suspended */
    SHAPE_END
};

void type_code_announce(struct encoder *out);
/* Returns a code for the program's own type name; the calling thread announces it. */
poet_type_t type_code_get(const char *name, const char *const *after);
/* Returns a compound shape for a pair of types. */
uint16_t type_code_get_pair(poet_type_t a, poet_type_t b);
unsigned type_code_event_count(uint16_t shape); /* Returns the number of events of one record. */
/* Writes the steps of a shape, at most CODES_STEPS; returns how many. */
unsigned type_code_steps(uint16_t shape, struct shape_step *steps);
#define CODES_STEPS 3u
const char *type_code_name(uint16_t type); /* Returns the name, or NULL if there is no such code. */

#pragma GCC visibility pop
#endif
