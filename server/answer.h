/* What a viewer is told: facts of a run as messages.  Each appends whole messages to
 * `out`.  Nothing here changes the run. */
#ifndef SERVER_ANSWER_H
#define SERVER_ANSWER_H

#include "server/run.h"
#include "wire/shown.h"

/* What a viewer already knows of a run, so that only news is sent. */
struct known {
    size_t targets, processes, types;
    size_t modules; /* of the last process sent */
    uint64_t generation;
    uint32_t lines;
    uint64_t damaged; /* 1 + parts that were told to be unreadable, 0 nothing told */
};

/* type: RUN in a list, SELECTED for the one that is spoken of from now on. */
void answer_run(struct out *out, const struct run *run, enum message type);
void answer_news(struct out *out, const struct run *run, struct known *known);
/* What of the trace cannot be read, as far as it was found out: whenever that is more. */
void answer_damage(struct out *out, const struct run *run, struct known *known);
/* A part of the trace file, from a byte on. */
void answer_bytes(struct out *out, const struct run *run, uint64_t offset);
void answer_sites(struct out *out, const struct run *run);
/* Figures, contradictions, what is pending: at most LIMIT_TOLD of either. */
void answer_stat(struct out *out, const struct run *run);
void answer_tails(struct out *out, const struct run *run);
void answer_event(struct out *out, const struct run *run, struct ref at);

/* A delivered event; its texts are borrowed: free with show_free. */
struct shown_event show(const struct run *run, uint64_t position);
void show_free(struct shown_event *shown);

/* What is pending, by line and number. */
struct waiting {
    const struct run *run;
    struct shown_event *events;
    size_t count, room;
};
struct waiting pending_of(const struct run *run);
void waiting_free(struct waiting *waiting);

/* A dump goes on until out holds `enough` bytes; cursor starts at 0.  True at its end. */
bool answer_dump(struct out *out, const struct run *run, uint64_t *cursor, size_t enough);

#endif
