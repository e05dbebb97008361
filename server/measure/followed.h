/* A pass over an order, as follow.c makes it, and what it begins with, which followed.c looks at. */
#ifndef SERVER_MEASURE_FOLLOWED_H
#define SERVER_MEASURE_FOLLOWED_H

#include "server/measure/events.h"
#include "server/measure/follow.h"
#include "server/measure/holds.h"
#include "server/measure/release.h"
#include "server/measure/ties.h"

#define ABOUT_KEPT 4u /* of what may have let somebody go on, about one line */

struct acting { /* a thread, and its last event */
    uint64_t position;
    int64_t ns;
    uint32_t line, about, type, place;
    const struct meaning *meaning;
    bool begun, ended;
    struct doing doing;
};

struct member { /* of a point */
    struct event event;
    uint64_t position;
    int64_t ns;
    const struct meaning *meaning;
};

struct follow {
    struct teller teller;
    struct intervals intervals;
    uint64_t first, known, end;
    struct before { /* the first: to be looked through, once */
        uint64_t known;
        uint64_t *last; /* 1 + the position of what each thread did last, by line - 1 */
        uint32_t lines;
    } before;
    struct acting *threads; /* by line - 1 */
    size_t thread_room;
    struct holds holds;
    struct ties ties;
    struct about {
        struct cause kept[ABOUT_KEPT];
        uint32_t count;
    } **about; /* by line - 1; NULL: nothing */
    size_t about_room;
    struct member *members;
    size_t member_count, member_room;
    struct cause *arrivals;
    size_t arrival_count, arrival_room;
    struct segment *segments;
    struct events events;
    struct did_piece *did; /* of the event that is taken */
    int did_count; /* -1: it tells nothing */
    struct step did_step; /* in which its thread was after the event before, */
    bool did_went_on; /* if that is known */
    uint64_t *unreceived; /* positions of sends of which that would explain a wait */
    size_t unreceived_count, unreceived_room;
};

struct acting *follow_acting(struct follow *follow, uint32_t line);
/* Its thread's last event is this one. */
void follow_remember(struct acting *acting, const struct member *member, uint32_t place);
/* What was before the first event: how each thread was then.  True once it is looked through. */
bool follow_before(struct follow *follow, uint64_t *budget);

#endif
