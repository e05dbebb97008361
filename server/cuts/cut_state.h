/* State of a run at a consistent cut: what each thread does, which threads are in which objects,
 * the units of semaphores, and messages in flight.  It is read from the log around the cut, in
 * steps, and needs nothing that was computed for the run.  Not thread-safe. */
#ifndef SERVER_CUTS_CUT_STATE_H
#define SERVER_CUTS_CUT_STATE_H

#include "server/order/causality/consistent_cut.h"
#include "server/run/run.h"

enum cut_thread_state {
    CUT_THREAD_CREATED, /* and not started */
    CUT_THREAD_RUNNING, /* or runnable: not in a traced wait */
    CUT_THREAD_BLOCKED,
    CUT_THREAD_EXITED
};

struct cut_thread {
    uint32_t line, about; /* about: what it waits for or last did something with, 0: nothing */
    enum cut_thread_state state;
    uint64_t last; /* position of its last event in the cut, on any line; of a created one, that of
                    * its creation */
    const struct target_event *look; /* description of that event, or NULL */
};

/* A thread in an object. */
struct cut_hold {
    uint32_t thread, line; /* line: of the object */
    enum occupancy presence; /* AWAY: it holds the object, and is on another line */
    bool waits; /* it waits there, and has released the object */
    uint64_t since; /* position of the event by which it entered, NO_POSITION: not found */
};

struct cut_object {
    uint32_t line;
    uint64_t last; /* position of its last event in the cut; NO_POSITION: it is only referred to */
    uint32_t holders, waiters; /* threads */
    bool counts; /* it is a semaphore: units posted and acquired in the cut */
    uint64_t posted, acquired;
    /* messages sent to it in the cut: received by events outside, and by no event */
    uint64_t in_flight, unreceived;
    bool unknown; /* not all threads in it were found */
};

struct cut_state {
    struct cut_thread *threads; /* in the order of their lines */
    uint32_t thread_count;
    struct cut_hold *holds; /* in the order of the objects' lines */
    uint32_t hold_count;
    struct cut_object *objects; /* that any thread is in, waits for or sent to; semaphores */
    uint32_t object_count;
    uint64_t events; /* in the cut, except hidden ones */
};

struct cut_state_job;

/* The cut must be done, and stay as long as the job. whole: it has all events, so that programs
 * that exited have done so. */
struct cut_state_job *cut_state_begin(const struct run *run, const struct consistent_cut *cut,
                                      bool whole);
bool cut_state_step(struct cut_state_job *job, uint64_t *budget); /* returns true when done */
const struct cut_state *cut_state_result(const struct cut_state_job *job);
void cut_state_free(struct cut_state_job *job);

#endif
