/* Questions and their answers.
 *
 * A viewer gives each question an id of its own, not 0, and asks: ASK {u32 id, u16 what, body}.
 * Every part of the answer comes back with it: ANSWER {u32 id, u8 last, u16 part, body}; after the
 * part that says `last` the id is free.  CANCEL {u32 id}: the question is not worked on any more, and
 * nothing more is told of it.  What is told without being asked (tables, GROWN, SELECTED) are messages
 * of their own. */
#ifndef WIRE_ASK_H
#define WIRE_ASK_H

#include "wire/message.h"

/* One row a question: number, NAME, name.  These are about the server: */
#define SERVER_QUESTIONS(Q)                                                                        \
    Q(1, RUNS, runs)       /* which runs are there? */                                                   \
    Q(2, SELECT, select)   /* speak of this run from now on */

/* These are about the run that was selected: server/answer has a `question_NAME`, in lower case,
 * for each. */
#define RUN_QUESTIONS(Q)                                                                           \
    Q(16, WINDOW, window)  /* placed events, please */                                              \
    Q(17, STANDS, stands)  /* how do these events stand to this one? */                             \
    Q(18, DENSITY, density) /* how many events, how long blocked, per row and pixel */             \
    Q(19, DUMP, dump)      /* every event once */                                                       \
    Q(20, ORDER, order)    /* how do these events stand to each other? */                             \
    Q(21, WHY, why)        /* a chain of events that makes one come before the other */                   \
    Q(22, COUNT, count)    /* how many events are before, after, concurrent with one? */              \
    Q(23, STAT, stat)      /* the figures of the run */                                                 \
    Q(24, WAITS, waits)    /* who waits for what at the end, who holds it? */                         \
    Q(25, SEARCH, search)  /* which events are of these types, on these lines, ...? */              \
    Q(26, LIST, list)      /* some events in the order of the log */                                    \
    Q(27, STEP, step)      /* the next event from one, along its line or the order */                   \
    Q(28, SITES, sites)    /* every place that something was called from */                           \
    Q(29, FETCH, fetch)    /* a part of the run's trace file, as it is now */                         \
    Q(30, LINES, lines)    /* tell me of these lines */                                               \
    Q(31, SPAN, span)      /* how much lies between two events? */                                      \
    Q(32, STRIP, strip)    /* which share of each pixel of a row was spent in which state? */         \
    Q(33, CAUSES, causes)  /* what makes the order of these events known? */                        \
    Q(34, TABLE, table)    /* how much, how long, why so late? */                                     \
    Q(35, WANT, want)      /* measure this from now on */                                               \
    Q(36, CURVE, curve)    /* what did figures stand at, per pixel of time? */                        \
    Q(52, INPUT, input)    /* what did its calls bring from outside? */

#define QUESTIONS(Q) SERVER_QUESTIONS(Q) RUN_QUESTIONS(Q)

enum ask {
#define Q(number, NAME, name) ASK_##NAME = number,
    QUESTIONS(Q)
#undef Q
};

#define ASK_LIMIT 64u /* all numbers of questions are below */

/* What the parts of answers are: number, NAME. */
/* clang-format off */
#define PARTS(P)                                                                  \
    P(0, END)      /* nothing: the end of an answer whose length was not known */ \
    P(1, REFUSAL)  /* why there is no answer */                                   \
    P(2, RUN)      /* of RUNS */                                                  \
    P(3, WINDOW)   P(4, STANDS)   P(5, DENSITY)                                   \
    P(6, EVENT)    /* of DUMP, WHY, LIST; of STAT, if pending */                  \
    P(7, LOST)     /* of DUMP: a gap */                                           \
    P(8, ORDER)    P(9, CHAIN)    P(10, COUNT)    P(11, STAT)                     \
    P(12, TROUBLE) /* of STAT: a contradiction */                                 \
    P(13, WAIT)    P(14, CYCLE)   /* of WAITS: a thread; threads that wait for each other */ \
    P(15, FOUND)   /* of SEARCH, STEP */                                          \
    P(16, LISTED)  /* of LIST: where to go on */                                  \
    P(17, SITES)   P(18, BYTES)                                                   \
    P(19, NOW)     /* of WAITS: the time */                                        \
    P(20, VERDICT) /* of WAITS: what becomes of those who wait to be woken */          \
    P(21, SPAN)    P(22, STRIP)    P(23, CAUSES)                                  \
    P(24, TABLE)   P(25, ROWS)     P(26, TABLE_END) /* of TABLE: columns, rows, what comes last */ \
    P(27, WANTED)  /* of WANT: how many programs are there to measure it */ \
    P(28, CURVE)                                                                  \
    P(29, SLEEPER) /* of WAITS: a thread that sleeps in a call that is not traced */ \
    P(34, CLOCK)   /* of STAT: how a host's clock stands to that of the first one */ \
    P(40, INPUT)   /* of a thread */
/* clang-format on */

enum part {
#define P(number, NAME) PART_##NAME = number,
    PARTS(P)
#undef P
};

/* "WINDOW", or "unknown". */
const char *question_name(unsigned what);
const char *part_name(unsigned part);

/* ---- asking ---- */

/* Appends a whole ASK; body NULL: it is empty. */
void put_ask(struct out *out, uint32_t id, enum ask what, const struct out *body);
/* Reads its head; the body is what is left. */
struct asked {
    uint32_t id;
    uint16_t what;
};
void get_asked(struct in *in, struct asked *asked);
void put_cancel(struct out *out, uint32_t id);

/* ---- answering ---- */

/* Where the answer to one question goes. */
struct reply {
    struct out *out;
    uint32_t id;
    size_t last; /* 1 + where the last part keeps its `last`, 0: there was no part */
};

/* A part of it, appended to reply->out between the two. */
void part_begin(struct reply *reply, enum part part);
void part_end(struct reply *reply);
/* The part that was told last was the last; if there was none, one is told.  To be called before
 * anything is dropped from the front of reply->out. */
void reply_done(struct reply *reply);
/* The whole answer: why there is none. */
void reply_refuse(struct out *out, uint32_t id, const char *why);

struct answer {
    uint32_t id;
    bool last;
    uint16_t part; /* an enum part */
    struct in *in; /* its body */
};
/* Reads the head of an ANSWER; the body is what is left of `in`. */
void get_answer(struct in *in, struct answer *answer);

#endif
