/* Codes of types and compound shapes: those that libpoet itself uses, and those of the program. */
#ifndef CLIENTS_LIBPOET_CORE_TYPE_CODES_H
#define CLIENTS_LIBPOET_CORE_TYPE_CODES_H

#include "clients/libpoet/poet.h"
#include "wire/message.h"
#include "wire/slot.h"

#pragma GCC visibility push(hidden)

/* clang-format off */
#define TRACE_TYPES(T)                                                                          \
    T(CREATE, "create") T(START, "start") T(EXIT, "exit") T(CLOSE, "close")                     \
    T(FAILED, "failed") T(JOIN, "join") T(JOINED, "joined") T(JOIN_FAILED, "join_failed")       \
    T(DETACH, "detach") T(ACQUIRE, "acquire") T(ACQUIRE_FAILED, "acquire_failed")               \
    T(LOCK, "lock") T(ACQUIRED, "acquired") T(RELEASED, "released") T(UNLOCK, "unlock")         \
    T(RELOCK, "relock") T(UNLOCK_INNER, "unlock_inner") T(WAIT, "wait") T(WAKE, "wake")         \
    T(TIMEOUT, "timeout") T(SIGNAL, "signal") T(SEM_POST, "sem_post")                           \
    T(SEM_ACQUIRED, "sem_acquired") T(NOTE, "note") T(TRACING_OFF, "tracing_off")               \
    T(TRACING_ON, "tracing_on") T(READ_RELEASED, "read_released")                               \
    T(WRITE_RELEASED, "write_released") T(READ_ACQUIRED, "read_acquired")                       \
    T(WRITE_ACQUIRED, "write_acquired") T(ARRIVE, "arrive") T(PASSED, "passed")                 \
    T(INITIALIZE, "initialize") T(INITIALIZED, "initialized") T(READY, "ready")                 \
    T(FORK, "fork") T(RESUME, "resume") T(RESUMED, "resumed") T(SUSPEND, "suspend")             \
    T(SUSPENDED, "suspended") T(TRANSFER, "transfer") T(TRANSFERRED, "transferred")             \
    T(CANCEL, "cancel") T(CANCELLED, "cancelled") T(SIGNAL_SENT, "signal_sent")                 \
    T(HANDLER, "handler") T(SIGWAIT, "sigwait") T(SIGNAL_RECEIVED, "signal_received")           \
    T(SIGWAIT_FAILED, "sigwait_failed") T(EXEC, "exec") T(PROCESS_EXIT, "process_exit")         \
    T(WAITPID, "waitpid") T(REAPED, "reaped") T(TIMED_WAIT, "timed_wait")                       \
    T(TIMED_ACQUIRE, "timed_acquire") T(TIMED_JOIN, "timed_join") T(CHOOSE, "choose")           \
    T(DESTROY, "destroy") T(REUSE, "reuse") T(HANDLER_BEGIN, "handler_begin")                   \
    T(HANDLER_END, "handler_end") T(SIGNAL_MASK, "signal_mask")
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
    SHAPE_LOCK = SHAPE_COMPOUND, /* acquire, lock/acquired */
    SHAPE_ENTER,                 /* lock/acquired */
    SHAPE_LEAVE,                 /* unlock/released */
    SHAPE_REFUSED,               /* acquire, acquire_failed */
    SHAPE_AGAIN,                 /* acquire, relock; on the mutex's line */
    SHAPE_TAKE,                  /* lock/acquired, sem_acquired, unlock/released */
    SHAPE_POST,                  /* lock/acquired, sem_post, unlock/released */
    SHAPE_AWAIT,                 /* lock/acquired, wait */
    SHAPE_TIMED_AWAIT,           /* lock/acquired, timed_wait */
    SHAPE_TAKEN,                 /* sem_acquired, unlock/released */
    SHAPE_GAVE_UP,               /* timeout, unlock/released */
    SHAPE_BROKEN,                /* acquire_failed, unlock/released */
    SHAPE_READ,                  /* acquire, lock/read_acquired */
    SHAPE_READ_ENTER,            /* lock/read_acquired */
    SHAPE_READ_LEAVE,            /* unlock/read_released */
    SHAPE_WRITE,                 /* acquire, lock/write_acquired */
    SHAPE_WRITE_ENTER,           /* lock/write_acquired */
    SHAPE_WRITE_LEAVE,           /* unlock/write_released */
    SHAPE_RESUME,                /* resume/resumed */
    SHAPE_SUSPEND,               /* suspended/suspend */
    SHAPE_TRANSFER,              /* transfer/transferred */
    SHAPE_FINISH,                /* exit/suspended */
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
