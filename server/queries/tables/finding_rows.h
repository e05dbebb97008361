/* What all hints have in common: their words, their bounds, and how one is added to the table.
 *
 * A hint is a fact of the run that stands above a stated bound, with the event to look at first.
 * What may help is said once below the table for each kind of hint that is in it. */
#ifndef SERVER_QUERIES_TABLES_FINDING_ROWS_H
#define SERVER_QUERIES_TABLES_FINDING_ROWS_H

#include "server/queries/tables/table_query.h"

#define FEW_NS 1000000 /* what takes less than a millisecond is no matter */
#define LIFE_SHARE 0.1 /* of a thread's life, or of the run: less is no matter either */

enum finding_column {
    FINDING_ROW_TEXT,
    FINDING_ROW_THREAD,
    FINDING_ROW_ABOUT,
    FINDING_ROW_BY,
    FINDING_ROW_NS,
    FINDING_ROW_SHARE,
    FINDING_ROW_TIMES,
    FINDING_ROW_WHERE,
    FINDING_ROW_LET_GO_AT,
    FINDING_ROW_EVENT
};

enum finding_row_kind {
    FINDING_ROW_OPEN,     /* waits that have not ended */
    FINDING_ROW_PATH,     /* who decided how long it took */
    FINDING_ROW_PROCESSOR, /* could go on, but had no processor */
    FINDING_ROW_READY,    /* let go, and late */
    FINDING_ROW_ENDS,     /* ended long before their joins */
    FINDING_ROW_LOCK,     /* waits for a lock */
    FINDING_ROW_GIVEN,    /* waits for what others have had and give back, which is no lock */
    FINDING_ROW_ALWAYS,   /* a line that somebody waits for nearly all the time */
    FINDING_ROW_RETAKEN,  /* waits in which others took it more than once */
    FINDING_ROW_KEEPER,   /* whom the others wait for */
    FINDING_ROW_NOTHING,  /* woken for nothing */
    FINDING_ROW_CLOCK,    /* waits that the clock ended */
    FINDING_ROW_ONE,      /* threads made one after the other */
    FINDING_ROW_TURNS,    /* two that wait for each other */
    FINDING_ROW_AT_A_TIME, /* of many threads one runs */
    FINDING_ROW_UNEXPLAINED,
    FINDING_ROW_KINDS
};

/* Zero-initialised but for view and table. */
struct finding_rows {
    const struct table_view *view;
    struct result_table *table;
    int64_t run_ns;
    uint32_t used; /* bits: kinds that are in the table */
};

void finding_rows_columns(struct result_table *table);
/* A row: of so many threads, of which this one is named; NULL: there are too many rows. */
struct table_cell *finding_rows_add(struct finding_rows *h, enum finding_row_kind kind,
                                    uint32_t threads, uint32_t thread, int64_t ns, int64_t of_ns,
                                    struct event_id event);
/* What it waited for, how often, and where it began to. */
void finding_rows_wait(const struct finding_rows *h, struct table_cell *cells,
                       const struct wait_record *wait, uint64_t times);
/* By whom a segment was ended, and where. */
void finding_rows_release(const struct finding_rows *h, struct table_cell *cells,
                          const struct wait_interval *segment);
/* What may help, for each kind that was added: notes. */
void finding_rows_advise(const struct finding_rows *h);

int64_t finding_rows_life(const struct finding_rows *h,
                          uint32_t thread); /* of it, within the range */
int64_t finding_rows_until(const struct finding_rows *h,
                           uint32_t thread); /* when the range, or the past, ends for it */
/* What of a wait, or of a segment, lies in the range: 0 none. */
int64_t finding_rows_wait_ns(const struct finding_rows *h, const struct wait_record *wait);
int64_t finding_rows_segment_ns(const struct finding_rows *h, uint32_t segment);

#endif
