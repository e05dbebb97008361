/* What the tables of waiting have in common: the range and the threads that count, steps in cells. */
#ifndef SERVER_ANSWER_TABLE_CAUSING_H
#define SERVER_ANSWER_TABLE_CAUSING_H

#include "server/answer/table/table.h"
#include "server/causes/why.h"
#include "server/measure/goingon.h"

struct causing {
    const struct run *run;
    enum since since;
    int64_t from_ns;
    int64_t
        *until_ns; /* by thread's index: where what counts of it ends; INT64_MIN: nothing does */
    uint32_t until_count;
    int64_t life_ns; /* of all that counts */
};

/* False, with a problem that the caller frees: the request is wrong. */
bool causing_begin(struct causing *causing, const struct table_view *view, char **problem);
bool causing_learn(struct causing *causing, uint64_t *budget);
void causing_free(struct causing *causing);
/* Is an option of the preset set? */
bool causing_wants(const struct table_view *view, const char *option);
/* "7": a line; 0 where the option is not set or no number. */
uint32_t causing_line(const struct table_view *view, const char *option);
/* "4:7": an event; line 0 likewise. */
struct ref causing_event(const struct table_view *view, const char *option);
/* A step of a cause, in words where none is recorded. */
struct table_cell causing_step(const struct table_view *view, uint32_t step);
struct table_cell causing_text(const char *text); /* a copy; NULL or "" is null */
const char *causing_class(unsigned class);
/* Columns of how long it took to go on, what of it was ready, what latency, and by what source that is known. */
void causing_add_going_on(struct shown_table *table);
void causing_going_on(struct table_cell *cells, const struct going_on *going_on);

#endif
