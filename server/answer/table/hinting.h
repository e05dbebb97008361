/* What all hints have in common: their words, their bounds, and how one is added to the table.
 *
 * A hint is a fact of the run that stands above a stated bound, with the event to look at first.  What may help is said
 * once below the table for each kind of hint that is in it. */
#ifndef SERVER_ANSWER_TABLE_HINTING_H
#define SERVER_ANSWER_TABLE_HINTING_H

#include "server/answer/table/table.h"

#define FEW_NS 1000000 /* what takes less than a millisecond is no matter */
#define LIFE_SHARE 0.1 /* of a thread's life, or of the run: less is no matter either */

enum hint_column {
    HINT_TEXT,
    HINT_THREAD,
    HINT_ABOUT,
    HINT_BY,
    HINT_NS,
    HINT_SHARE,
    HINT_TIMES,
    HINT_WHERE,
    HINT_LET_GO_AT,
    HINT_EVENT
};

enum hint_kind {
    HINT_OPEN,     /* waits that have not ended */
    HINT_PATH,     /* who decided how long it took */
    HINT_PROCESSOR, /* could go on, but had no processor */
    HINT_READY,    /* let go, and late */
    HINT_ENDS,     /* ended long before their joins */
    HINT_LOCK,     /* waits for a lock */
    HINT_GIVEN,    /* waits for what others have had and give back, which is no lock */
    HINT_ALWAYS,   /* a line that somebody waits for nearly all the time */
    HINT_RETAKEN,  /* waits in which others took it more than once */
    HINT_KEEPER,   /* whom the others wait for */
    HINT_NOTHING,  /* woken for nothing */
    HINT_CLOCK,    /* waits that the clock ended */
    HINT_ONE,      /* threads made one after the other */
    HINT_TURNS,    /* two that wait for each other */
    HINT_AT_A_TIME, /* of many threads one runs */
    HINT_UNEXPLAINED,
    HINT_KINDS
};

/* Zero-initialised but for view and table. */
struct hinting {
    const struct table_view *view;
    struct shown_table *table;
    int64_t run_ns;
    uint32_t used; /* bits: kinds that are in the table */
};

void hinting_columns(struct shown_table *table);
/* A row: of so many threads, of which this one is named; NULL: there are too many rows. */
struct table_cell *hinting_add(struct hinting *h, enum hint_kind kind, uint32_t threads,
                               uint32_t thread, int64_t ns, int64_t of_ns, struct ref event);
/* What it waited for, how often, and where it began to. */
void hinting_wait(const struct hinting *h, struct table_cell *cells, const struct wait *wait,
                  uint64_t times);
/* By whom a segment was ended, and where. */
void hinting_release(const struct hinting *h, struct table_cell *cells,
                     const struct segment *segment);
/* What may help, for each kind that was added: notes. */
void hinting_advise(const struct hinting *h);

int64_t hinting_life(const struct hinting *h, uint32_t thread); /* of it, within the range */
int64_t hinting_until(const struct hinting *h,
                      uint32_t thread); /* when the range, or the past, ends for it */
/* What of a wait, or of a segment, lies in the range: 0 none. */
int64_t hinting_wait_ns(const struct hinting *h, const struct wait *wait);
int64_t hinting_segment_ns(const struct hinting *h, uint32_t segment);

#endif
