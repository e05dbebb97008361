/* What is found out about the order: who waits for whom, how many events stand how to one, what a search finds; as
 * structs and as bytes.  What is read into these structs is owned by them and freed by their _free, as in shown.h. */
#ifndef WIRE_FOUND_H
#define WIRE_FOUND_H

#include "wire/shown.h"

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
    bool whole; /* false: the numbers are lower bounds, not all events are counted */
};

/* What a search has found. */
struct shown_hit {
    struct ref at;
    uint64_t position;
};

struct shown_found {
    bool done;
    uint64_t looked; /* at so many events */
    uint64_t count; /* of hits so far, told or not */
    char *problem; /* "" none: what is wrong with the expression */
    struct shown_hit *hits; /* new ones, in the order of the log, or against it if backwards */
    uint32_t hit_count;
};

void put_wait(struct out *out, const struct shown_wait *wait);
void get_wait(struct in *in, struct shown_wait *wait);
void shown_wait_free(struct shown_wait *wait);
void get_cycle(struct in *in, struct shown_cycle *cycle);
void put_count(struct out *out, const struct shown_count *count);
void get_count_is(struct in *in, struct shown_count *count);
void put_found(struct out *out, const struct shown_found *found);
void get_found(struct in *in, struct shown_found *found);
void shown_found_free(struct shown_found *found);

#endif
