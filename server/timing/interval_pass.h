/* Internal data of interval_builder.h: the pass over an order, for interval_builder.c, and its
 * initial state, for interval_pass.c. */
#ifndef SERVER_TIMING_INTERVAL_PASS_H
#define SERVER_TIMING_INTERVAL_PASS_H

#include "server/timing/event_reader.h"
#include "server/timing/interval_builder.h"
#include "server/timing/lock_holders.h"
#include "server/timing/wait_release.h"
#include "server/timing/incoming_edges.h"

#define ABOUT_KEPT 4u /* possible release causes kept for one line */

struct thread_progress { /* a thread, and its last event */
    uint64_t position;
    int64_t ns;
    uint32_t line, about, type, place;
    const struct event_meaning *meaning;
    bool begun, ended;
    struct measured_activity doing;
};

struct point_member { /* member of a synchronization point */
    struct order_event event;
    uint64_t position;
    int64_t ns;
    const struct event_meaning *meaning;
};

struct interval_builder {
    struct run_metadata_source teller;
    struct intervals intervals;
    uint64_t first, known, end;
    struct before { /* search before the first position, done once */
        uint64_t known;
        uint64_t *last; /* by line - 1: 1 + the position of each thread's last event */
        uint32_t lines;
    } before;
    struct thread_progress *threads; /* by line - 1 */
    size_t thread_room;
    struct lock_holders holds;
    struct incoming_edges ties;
    struct about {
        struct release_cause kept[ABOUT_KEPT];
        uint32_t count;
    } **about; /* by line - 1; NULL: none */
    size_t about_room;
    struct point_member *members;
    size_t member_count, member_room;
    struct release_cause *arrivals;
    size_t arrival_count, arrival_room;
    struct wait_interval *segments;
    struct event_reader events;
    struct activity_piece *did; /* activity records of the current event */
    int did_count; /* -1: the event has none */
    /* the code segment in which its thread was after its previous event, */
    struct code_segment_key did_step;
    bool did_went_on; /* set if that is known */
    uint64_t *unreceived; /* positions of sends whose receives would explain a wait */
    size_t unreceived_count, unreceived_room;
};

struct thread_progress *interval_pass_thread(struct interval_builder *follow, uint32_t line);
/* Makes an event the last one of its thread. */
void interval_pass_remember(struct thread_progress *acting, const struct point_member *member,
                            uint32_t place);
/* Sets the initial state of each thread from the events before the first.  Returns true once all
 * are searched. */
bool interval_pass_seed_before(struct interval_builder *follow, uint64_t *budget);

#endif
