/* What a viewer is told: facts of a run, as news (whole messages) or as parts of an answer.  Nothing here
 * changes the run. */
#ifndef SERVER_ANSWER_ANSWER_H
#define SERVER_ANSWER_ANSWER_H

#include "server/run/run.h"
#include "wire/ask.h"
#include "wire/shown.h"

/* What a viewer already knows of a run, so that only news is sent. */
struct known {
    size_t targets, processes, types;
    size_t modules; /* of the last process sent */
    uint32_t lines;
    uint64_t damaged; /* 1 + parts that were told to be unreadable, 0 nothing told */
    size_t changes; /* of lines */
    bool named; /* of many lines only those that answers name: see named.h */
    uint32_t lines_are; /* so many there were when that was told */
    uint8_t *told;      /* which, beside the first ones, a bit for each */
    size_t told_room;
};

void answer_run(struct out *out, const struct run *run); /* the body of RUN, SELECTED */
void answer_news(struct out *out, const struct run *run, struct known *known);
/* What of the trace cannot be read, as far as it was found out: whenever that is more. */
void answer_damage(struct out *out, const struct run *run, struct known *known);
/* The same in pieces, until out holds `enough` bytes, or for some milliseconds; true: that is all. */
bool answer_some_news(struct out *out, const struct run *run, struct known *known, size_t enough);
void answer_event(struct reply *reply, const struct run *run, struct ref at);

/* A delivered event; its texts are borrowed: free with show_free. */
struct shown_event show(const struct run *run, uint64_t position);
void show_free(struct shown_event *shown);

/* What waits; its texts are borrowed, too. */
struct shown_event show_pending(const struct run *run, const struct arrival *arrival);
void answer_shown(struct reply *reply, const struct shown_event *shown);
void tell_line(struct out *out, const struct run *run, uint32_t line);

/* What is pending, what came first of it, by line and number. */
struct waiting {
    const struct run *run;
    struct shown_event *events;
    size_t count, room;
};
struct waiting pending_of(const struct run *run, uint64_t most);
void waiting_free(struct waiting *waiting);

#endif
