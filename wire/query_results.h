/* What is found out about the order: who waits for whom, how many events stand how to one, what a
 * search finds; as structs and as bytes.  What is read into these structs is owned by them and
 * freed by their _free, as in trace_view.h. */
#ifndef WIRE_QUERY_RESULTS_H
#define WIRE_QUERY_RESULTS_H

#include "wire/trace_view.h"

/* What becomes of a thread that waits. */
enum wait_outcome {
    OUTCOME_OPEN, /* it may go on */
    OUTCOME_POSSIBLE, /* perhaps it never does */
    OUTCOME_NEVER,
    OUTCOME_COUNT
};

/* Why a verdict is not certain, or does not say all: bits. */
enum diagnosis_uncertainty {
    UNCERTAIN_WAKER =
        1, /* somebody woke them perhaps: it is not before the wait; they have not gone on yet */
    UNCERTAIN_RUNS = 2, /* somebody else runs, who never did it so far */
    UNCERTAIN_HANDLER = 4, /* a signal handler might */
    UNCERTAIN_UNTRACED = 8, /* there are threads, or calls, that were not seen */
    UNCERTAIN_PAST = 16, /* not all that was recorded has been looked at */
    UNCERTAIN_TYPES = 32 /* the description does not say which types wake them */
};

/* A thread that waits at the end of what was recorded. */
struct wait_info {
    uint32_t thread, about; /* lines; about 0: something that was not seen */
    struct event_info event; /* its last one */
    struct holder_info { /* who must go before it goes on */
        uint32_t thread;
        struct event_id since; /* the event by which it came in; number 0: not kept */
        uint32_t process; /* of the place where it did */
        uint64_t site; /* its address, 0 none */
    } *holders;
    uint32_t holder_count;
    enum wait_outcome fate;
    /* its program ended by itself meanwhile: only a cycle says that it could not go on */
    bool at_exit;
    bool end; /* it waits for the end of `about`, which began after its last event, and is none */
    int64_t since_ns; /* when the wait began */
};

/* A thread that waits in no traced call, and sleeps all the same at the end of what was
 * recorded. */
struct sleeper_info {
    uint32_t thread; /* its line */
    int64_t since_ns; /* when it gave its processor up */
    uint8_t call; /* an enum asleep (wire/asleep.h); 0: it is not known in which it sleeps */
    struct event_info event; /* its last one */
};

/* Each waits for the next, by what it waits about, and the last for the first. */
struct cycle_info {
    struct cycle_step_info {
        uint32_t thread, about;
        struct event_id at,
            since; /* its last event; by which the next came in, number 0: not kept */
        int64_t time_ns; /* of the last event */
    } *steps;
    uint32_t count;
};

enum wake_effect { WAKE_NO_THREAD, WAKE_SOME_THREAD, WAKE_UNKNOWN };

/* An object about which threads wait to be woken. */
struct diagnosis_info {
    uint32_t about; /* line */
    enum wait_outcome fate; /* the worst of those who wait */
    uint32_t doubts; /* bits of enum diagnosis_uncertainty */
    struct event_id wait,
        waker; /* one of them; the last event that might have woken it, line 0: there was none */
    uint32_t waker_type; /* code; 0 none */
    uint8_t stands; /* RELATION_CODE: how the waker stands to the wait; 0 there is none */
    uint8_t went_on; /* enum wake_effect: did somebody go on after it? */
    struct waker_info { /* who ever did that, the last first */
        uint32_t thread;
        uint8_t state; /* enum waker_state */
        struct event_id last;
    } *able;
    uint32_t able_count;
    uint32_t *runs; /* threads that never did, and run: some of them */
    uint32_t run_count;
};

enum waker_state { WAKER_ENDED, WAKER_WAITS, WAKER_RUNS, WAKER_COUNT };

/* What time it is. */
struct trace_time_info {
    int64_t last_ns; /* of the latest event */
    int64_t now_ns; /* the time by the run's clock; of one that has ended, its end; -1 not known */
    bool live;
};

/* How many events of a run stand how to one of them. */
struct relation_counts {
    struct event_id at;
    bool known; /* there is such an event, and it is ordered */
    uint64_t before, after, concurrent, same; /* same: itself and the others of its point */
    uint64_t unknown; /* they may be ordered by what was not seen */
    bool whole; /* false: the numbers are lower bounds, not all events are counted */
};

/* What lies between two events, neither of them counted. */
struct between_info {
    struct event_id from, to;
    bool known; /* there are both */
    bool whole; /* false: the numbers are lower bounds */
    int64_t ns; /* from the one to the other; negative if that is the earlier one */
    uint64_t events; /* recorded between them */
    struct type_count {
        uint32_t type; /* code */
        uint64_t events;
    } *kinds;
    uint32_t kind_count;
};

/* What a search has found. */
struct search_hit {
    struct event_id at;
    uint64_t position;
};

struct search_result {
    bool done;
    uint64_t looked; /* at so many events */
    uint64_t count; /* of hits so far, told or not */
    char *problem; /* "" none: what is wrong with the expression */
    struct search_hit *hits; /* new ones, in the order of the log, or against it if backwards */
    uint32_t hit_count;
};

void encode_wait(struct encoder *out, const struct wait_info *wait);
void decode_wait(struct decoder *in, struct wait_info *wait);
void wait_info_free(struct wait_info *wait);
void encode_sleeper(struct encoder *out, const struct sleeper_info *sleeper);
void decode_sleeper(struct decoder *in, struct sleeper_info *sleeper);
void sleeper_info_free(struct sleeper_info *sleeper);
void encode_cycle(struct encoder *out, const struct cycle_info *cycle);
void decode_cycle(struct decoder *in, struct cycle_info *cycle);
void encode_diagnosis(struct encoder *out, const struct diagnosis_info *verdict);
void decode_diagnosis(struct decoder *in, struct diagnosis_info *verdict);
void diagnosis_info_free(struct diagnosis_info *verdict);
void encode_now(struct encoder *out, const struct trace_time_info *now);
void decode_now(struct decoder *in, struct trace_time_info *now);
void encode_relation_counts(struct encoder *out, const struct relation_counts *count);
void decode_relation_counts(struct decoder *in, struct relation_counts *count);
void encode_between(struct encoder *out, const struct between_info *span);
void decode_between(struct decoder *in, struct between_info *span);
void between_info_free(struct between_info *span);
void encode_search_result(struct encoder *out, const struct search_result *found);
void decode_search_result(struct decoder *in, struct search_result *found);
void search_result_free(struct search_result *found);

#endif
