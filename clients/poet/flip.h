/* Two events of a run that is repeated, of which the other one is to come first: the script ends before them, and who was
 * first is held until the other has been there. */
#ifndef CLIENTS_POET_FLIP_H
#define CLIENTS_POET_FLIP_H

#include "clients/book/book.h"
#include "wire/shown.h"
#include "wire/steer.h"

struct flip {
    struct ref events[2]; /* as they are named; line 0: none are */
    struct flip_seen { /* the first of them in the trace, and the other */
        struct ref at;
        uint32_t thread, type, process;
        uint64_t site;
        uint32_t times; /* so often the thread came there since the first one began */
        bool known;
    } first, other;
    unsigned first_named; /* 1 + its index */
    bool begun; /* the first one has */
    struct flip_seen *last; /* of each thread, by line: what it did last */
    size_t room;
    struct flip_seen *since; /* what was done since the first one began */
    size_t count, since_room;
};

/* "LINE:NUMBER" twice. */
bool flip_read(struct flip *flip, const char *a, const char *b);
/* Once through the trace in its order: finds where the first one begins, as where its thread asks for what it gets. */
void flip_look(struct flip *flip, const struct shown_event *event);
/* And once more: does the event belong to what is repeated? */
bool flip_take(struct flip *flip, const struct shown_event *event);
/* False: *why says why not. */
bool flip_steer(const struct flip *flip, const struct book *book, struct steer_head *head,
                const char **why);
void flip_free(struct flip *flip);

#endif
