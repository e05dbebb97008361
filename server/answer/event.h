/* Events as viewers are told of them. */
#ifndef SERVER_ANSWER_EVENT_H
#define SERVER_ANSWER_EVENT_H

#include "server/run/run.h"
#include "wire/ask.h"
#include "wire/shown.h"

#include <stddef.h>

/* A delivered event; its texts are borrowed: free with show_free. */
struct shown_event show(const struct run *run, uint64_t position);
void show_free(struct shown_event *shown);

/* What waits; its texts are borrowed, too. */
struct shown_event show_pending(const struct run *run, const struct arrival *arrival);

void answer_shown(struct reply *reply, const struct shown_event *shown);
void answer_event(struct reply *reply, const struct run *run, struct ref at);

/* What is pending, what came first of it, by line and number. */
struct waiting {
    const struct run *run;
    struct shown_event *events;
    size_t count, room;
};
struct waiting pending_of(const struct run *run, uint64_t most);
void waiting_free(struct waiting *waiting);

#endif
