/* What the threads of a run have measured of their calls, as far as it was told
 * (wire/profile_snapshot.h): each one's tree of calling contexts, with sums from its begin up to
 * when it was read last.
 *
 * What is told later takes the place of what was told before, which is kept as it came
 * (profile_history.h).  Not thread-safe. */
#ifndef SERVER_TIMING_CALL_CONTEXTS_H
#define SERVER_TIMING_CALL_CONTEXTS_H

#include "base/map.h"
#include "server/timing/profile_history.h"
#include "wire/profile_snapshot.h"

struct call_context {
    struct snapshot_context sums;
    uint32_t type; /* of the run; of a call that is recorded, once it is known */
    bool known; /* what it is was told */
    bool unsaved; /* it changed since call_contexts_save */
};

struct call_context_thread {
    uint32_t session, code; /* the thread, as its program calls it */
    uint32_t line; /* its own line; 0: not announced yet */
    uint32_t process; /* index, in whose addresses functions are */
    struct snapshot_head head;
    struct call_context *items; /* by their numbers: a parent comes before what is called in it */
    size_t count, room;
    struct profile_history earlier; /* as it was told before */
    bool unsaved;
};

/* Zero-initialised: none. */
struct call_contexts {
    struct call_context_thread *threads;
    uint32_t count;
    size_t room;
    struct map index; /* session and code -> 1 + index */
    struct map lines; /* line -> 1 + index */
    bool wanted; /* whoever reads regions is to do it now; he takes it back */
    uint64_t taken; /* how often he did so */
    size_t earlier_bytes; /* of what is kept of all threads */
};

/* The thread, made on first use; until the next one is made. */
struct call_context_thread *call_contexts_thread(struct call_contexts *all, uint32_t session,
                                                 uint32_t code);
/* It is announced as a line of the run; and the thread of one, or NULL. */
void call_contexts_announced(struct call_contexts *all, struct call_context_thread *thread,
                             uint32_t line);
const struct call_context_thread *call_contexts_of_line(const struct call_contexts *all,
                                                        uint32_t line);
/* Takes the body of a SUMS; false with *why: it cannot be believed. */
bool call_contexts_update(struct call_context_thread *thread, const uint8_t *body, size_t size,
                          const char **why);
/* Keeps such a body that was taken. */
void call_contexts_keep(struct call_contexts *all, struct call_context_thread *thread,
                        const uint8_t *body, size_t size);
/* Tells all that has changed since it was told last, in bodies of SUMS: those that were kept; else
 * the newest sums. */
void call_contexts_save(struct call_contexts *all,
                        void (*save)(void *user, const struct call_context_thread *thread,
                                     const struct encoder *body),
                        void *user);
void call_contexts_free(struct call_contexts *all); /* empties it */

#endif
