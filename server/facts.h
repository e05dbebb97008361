/* What a teller knows, and the messages that teach it: types, shapes, lines, names.
 * Shared by teller.c, facts.c and losses.c alone. */
#ifndef SERVER_FACTS_H
#define SERVER_FACTS_H

#include "server/order/map.h"
#include "server/teller.h"
#include "wire/limits.h"

struct shape {
    unsigned count;
    bool two_lines;
    struct step steps[LIMIT_STEPS];
};

/* A thread, by the code of its own line: its last point, and slots that wait for
 * an announcement by another thread. */
struct books {
    struct ref last[2];
    uint8_t doubt;       /* an enum unseen: what its next event may follow besides */
    uint32_t thread;     /* code of its own line */
    struct slot *held;   /* from held_begin on */
    size_t held_begin, held_count, held_room;
    uint32_t held_epoch; /* region of the oldest */
    struct books *next;  /* of those that wait for the same announcement */
    bool ready;          /* it need not wait any more */
};

/* What a slot may name before it is announced: the code of one of these. */
enum announced { ANNOUNCED_LINE, ANNOUNCED_TYPE, ANNOUNCED_SHAPE };

#define NEAR_LINES 65536u
#define SITE_CACHE 256u

struct teller {
    struct run *run;
    uint32_t session, process;
    uint64_t instance;
    uint32_t types[LIMIT_TYPES]; /* code -> type of the run */
    struct shape *shapes[LIMIT_SHAPES];
    uint32_t *lines; /* code -> line of the run, for small codes */
    size_t line_room;
    struct map far_lines; /* for the others */
    struct recent_site {
        uint64_t address;
        uint32_t site;
    } sites[SITE_CACHE];
    struct map threads; /* code of own line -> struct books */
    uint32_t *own;      /* lines of the run that this program opened */
    size_t own_count, own_room;
    size_t held_total;
    struct map waiting;  /* what is not announced yet -> struct books that wait for it */
    size_t ready_count;  /* of its books */
    bool releasing;      /* they are being gone through */
    uint32_t batch; /* region of the journal that slots come from */
    bool stale;     /* a part of the journal that is read again: all but its events is known */
};

struct books *books_of(struct teller *teller, uint32_t thread);
/* announced.c: true if all that the slot names was announced; else *missing is what it waits for. */
struct missing {
    enum announced what;
    uint32_t code;
};
bool announced(const struct teller *teller, const struct slot *slot, struct missing *missing);
/* Those who wait for it may go on. */
void announce(struct teller *teller, enum announced what, uint32_t code);
uint32_t line_of(const struct teller *teller, uint32_t code); /* 0: not announced */

/* Takes one message body, of a thread if it is not 0.  False with in->error. */
bool facts_tell(struct teller *teller, unsigned type, struct in *in, uint32_t thread);

#endif
