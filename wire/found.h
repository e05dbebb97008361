/* What is found out about the order: who waits for whom, how many events stand how to one, what a search finds; as
 * structs and as bytes.  What is read into these structs is owned by them and freed by their _free, as in shown.h. */
#ifndef WIRE_FOUND_H
#define WIRE_FOUND_H

#include "wire/shown.h"

/* What becomes of a thread that waits. */
enum fate {
    FATE_OPEN, /* it may go on */
    FATE_PERHAPS, /* perhaps it never does */
    FATE_NEVER,
    FATE_COUNT
};

/* Why a verdict is not certain, or does not say all: bits. */
enum verdict_doubt {
    DOUBT_WAKER =
        1, /* somebody woke them perhaps: it is not before the wait; they have not gone on yet */
    DOUBT_RUNS = 2, /* somebody else runs, who never did it so far */
    DOUBT_HANDLER = 4, /* a signal handler might */
    DOUBT_UNSEEN = 8, /* there are threads, or calls, that were not seen */
    DOUBT_PAST = 16, /* not all that was recorded has been looked at */
    DOUBT_TYPES = 32 /* the description does not say which types wake them */
};

/* A thread that waits at the end of what was recorded. */
struct shown_wait {
    uint32_t thread, about; /* lines; about 0: something that was not seen */
    struct shown_event event; /* its last one */
    struct shown_holder { /* who must go before it goes on */
        uint32_t thread;
        struct ref since; /* the event by which it came in; number 0: not kept */
        uint32_t process; /* of the place where it did */
        uint64_t site; /* its address, 0 none */
    } *holders;
    uint32_t holder_count;
    enum fate fate;
    bool at_exit; /* its program ended by itself meanwhile: only a cycle says that it could not go on */
    bool end; /* it waits for the end of `about`, which began after its last event, and is none */
    int64_t since_ns; /* when the wait began */
};

/* A thread that waits in no traced call, and sleeps all the same at the end of what was recorded. */
struct shown_sleeper {
    uint32_t thread; /* its line */
    int64_t since_ns; /* when it gave its processor up */
    uint8_t call; /* an enum asleep (wire/asleep.h); 0: it is not known in which it sleeps */
    struct shown_event event; /* its last one */
};

/* Each waits for the next, by what it waits about, and the last for the first. */
struct shown_cycle {
    struct shown_step {
        uint32_t thread, about;
        struct ref at, since; /* its last event; by which the next came in, number 0: not kept */
        int64_t time_ns; /* of the last event */
    } *steps;
    uint32_t count;
};

enum went { WENT_NOBODY, WENT_SOMEBODY, WENT_UNKNOWN };

/* An object about which threads wait to be woken. */
struct shown_verdict {
    uint32_t about; /* line */
    enum fate fate; /* the worst of those who wait */
    uint32_t doubts; /* bits of enum verdict_doubt */
    struct ref wait,
        waker; /* one of them; the last event that might have woken it, line 0: there was none */
    uint32_t waker_type; /* code; 0 none */
    uint8_t stands; /* STANDS_AS: how the waker stands to the wait; 0 there is none */
    uint8_t went_on; /* enum went: did somebody go on after it? */
    struct shown_able { /* who ever did that, the last first */
        uint32_t thread;
        uint8_t state; /* enum able */
        struct ref last;
    } *able;
    uint32_t able_count;
    uint32_t *runs; /* threads that never did, and run: some of them */
    uint32_t run_count;
};

enum able { ABLE_ENDED, ABLE_WAITS, ABLE_RUNS, ABLE_COUNT };

/* What time it is. */
struct shown_now {
    int64_t last_ns; /* of the latest event */
    int64_t now_ns; /* the time by the run's clock; of one that has ended, its end; -1 not known */
    bool live;
};

/* How many events of a run stand how to one of them. */
struct shown_count {
    struct ref at;
    bool known; /* there is such an event, and it is ordered */
    uint64_t before, after, concurrent, same; /* same: itself and the others of its point */
    uint64_t unknown; /* they may be ordered by what was not seen */
    bool whole; /* false: the numbers are lower bounds, not all events are counted */
};

/* What lies between two events, neither of them counted. */
struct shown_span {
    struct ref from, to;
    bool known; /* there are both */
    bool whole; /* false: the numbers are lower bounds */
    int64_t ns; /* from the one to the other; negative if that is the earlier one */
    uint64_t events; /* recorded between them */
    struct shown_kind {
        uint32_t type; /* code */
        uint64_t events;
    } *kinds;
    uint32_t kind_count;
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
void put_sleeper(struct out *out, const struct shown_sleeper *sleeper);
void get_sleeper(struct in *in, struct shown_sleeper *sleeper);
void shown_sleeper_free(struct shown_sleeper *sleeper);
void put_cycle(struct out *out, const struct shown_cycle *cycle);
void get_cycle(struct in *in, struct shown_cycle *cycle);
void put_verdict(struct out *out, const struct shown_verdict *verdict);
void get_verdict(struct in *in, struct shown_verdict *verdict);
void shown_verdict_free(struct shown_verdict *verdict);
void put_now(struct out *out, const struct shown_now *now);
void get_now(struct in *in, struct shown_now *now);
void put_count(struct out *out, const struct shown_count *count);
void get_count_is(struct in *in, struct shown_count *count);
void put_span(struct out *out, const struct shown_span *span);
void get_span(struct in *in, struct shown_span *span);
void shown_span_free(struct shown_span *span);
void put_found(struct out *out, const struct shown_found *found);
void get_found(struct in *in, struct shown_found *found);
void shown_found_free(struct shown_found *found);

#endif
