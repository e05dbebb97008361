/* What the files of server/store/ share. */
#ifndef SERVER_STORE_INSIDE_H
#define SERVER_STORE_INSIDE_H

#include "server/store/tracefile.h"
#include "wire/message.h"

#include <time.h>

#define SLOT_AT 48u /* in the head: two places of a state, written in turn */
#define SLOT_BYTES_HEAD 24u
#define NEXT_BYTES (CHUNK_HEAD_BYTES + 24u) /* kept free at the end of a region */
#define NO_END UINT64_MAX
#define PARTS_IN_MEMORY (UINT64_C(1) << 62)

struct region {
    uint64_t begin, end; /* end NO_END: the rest of the file */
    uint32_t epoch;
};

struct area { /* of a state */
    uint64_t place, room;
};

struct tracefile {
    int fd;
    char name[TRACEFILE_NAME_BYTES + 1];
    /* the journal */
    struct region region;
    uint64_t at;        /* in it, complete on disk */
    struct out journal; /* not yet */
    bool torn;          /* an open-ended region: bytes beyond `at` must be cut off first */
    uint64_t reserved;  /* in the region, where the room ends that was taken ahead */
    struct region *old; /* regions left, oldest first */
    size_t old_count, old_room;
    struct region *free;
    size_t free_count, free_room;
    uint64_t unsaved, region_bytes;
    /* parts */
    uint64_t end;     /* of the file, as far as it is given out */
    struct out parts; /* not written yet; ends at `end` unless a region was given out since */
    uint64_t parts_at, written; /* written: where the parts on disk end */
    struct area areas[2];
    uint64_t states; /* written so far */
    struct { /* the one that has begun */
        uint32_t epoch, oldest; /* of the region that begins with it; the first one it needs */
        uint64_t unsaved;       /* when it began */
    } save;
    struct rests { /* parts that the states in either slot need, by place */
        uint64_t *places;
        size_t count;
    } rests[2];
    struct unused { /* stretches of parts that no state needs, oldest first */
        struct stretch_unused {
            uint64_t from, to;
            time_t since; /* monotonic */
        } *items;
        size_t count, room;
    } unused;
    /* forgetting */
    struct area *kept; /* NEWS chunks, and areas and regions, not to be given back */
    size_t kept_count, kept_room;
    uint64_t forgotten, given_back;
    /* reading: parts that are put stay in memory, at places that no file has */
    uint64_t size, looked; /* looked: how far the journal was read */
    bool reading;
    uint32_t version;
    bool locked; /* a server was still writing it */
};

/* reserve.c: room for so many bytes of the journal, and behind them for last words, up to `end`; false
 * with errno: the disk is full */
bool reserve_at(struct tracefile *file, uint64_t begin, uint64_t bytes, uint64_t end);
bool reserve(struct tracefile *file, uint64_t bytes); /* where the journal goes on */
uint64_t reserve_bytes(const struct tracefile *file); /* of last words */
void reserve_give_back(struct tracefile *file);

/* reclaim.c: a state was written to a slot, over an older one whose parts may go */
void reclaim(struct tracefile *file, unsigned slot, const struct state *state);

/* tracefile.c */
bool slot_read(const uint8_t *head, unsigned i, uint64_t *place, uint64_t *serial);
uint64_t slot_check(const uint8_t *slot, unsigned i);

#endif
