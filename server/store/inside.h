/* What the files of server/store/ share. */
#ifndef SERVER_STORE_INSIDE_H
#define SERVER_STORE_INSIDE_H

#include "server/store/tracefile.h"
#include "wire/message.h"

#include <pthread.h>
#include <stdatomic.h>

#define SLOT_AT 48u /* in the head: two places of a state, written in turn */
#define SLOT_BYTES_HEAD 24u
#define NEXT_BYTES (CHUNK_HEAD_BYTES + 24u) /* kept free at the end of a region */
#define NO_END UINT64_MAX
#define PARTS_IN_MEMORY (UINT64_C(1) << 62)

struct region {
    uint64_t begin, end; /* end NO_END: the rest of the file */
    uint32_t epoch;
    bool hole; /* free, and its room given back */
};

struct area { /* of a state */
    uint64_t place, room;
};

/* Where the journal can be read from: what was told when a state was written, and where each thread stood. */
struct mark {
    uint32_t number, epoch;
    uint64_t at; /* in the region */
    struct out threads;
};

/* Two threads may use it: one writes the journal, the other puts parts and states.  `lock` is around what
 * both use: the regions, and how much of the file is given out.  It is never held while much is written. */
struct tracefile {
    int fd;
    char name[TRACEFILE_NAME_BYTES + 1];
    uint32_t version; /* reading */
    pthread_mutex_t lock;
    /* the journal */
    struct region region;
    uint64_t at;        /* in it, complete on disk */
    uint64_t claimed;   /* in it: up to where something may be written now */
    struct out journal; /* not yet */
    bool torn;          /* an open-ended region: bytes beyond `at` must be cut off first */
    uint64_t reserved;  /* in the region, where the room ends that was taken ahead */
    struct region *old; /* regions left, oldest first */
    size_t old_count, old_room;
    struct region *free;
    size_t free_count, free_room;
    uint64_t unsaved;
    _Atomic uint64_t region_bytes; /* of new regions; only grows */
    /* how far it was told */
    bool lagging; /* tracefile_told says it; else all that is flushed is told */
    uint32_t told_epoch;
    uint64_t told_at;
    struct mark *marks; /* oldest first */
    size_t mark_count, mark_room;
    uint32_t marked; /* number of the newest, from 1: the journal's begin */
    _Atomic bool stuck; /* parts do not fit on the disk */
    /* parts */
    uint64_t end;     /* of the file, as far as it is given out */
    struct out parts; /* not written yet; ends at `end` unless a region was given out since */
    uint64_t parts_at, written; /* written: where the parts on disk end */
    struct area areas[2];
    uint64_t states; /* written so far */
    /* forgetting */
    struct area *kept; /* NEWS chunks, and areas and regions, not to be given back */
    size_t kept_count, kept_room;
    uint64_t forgotten, given_back;
    /* reading: parts that are put stay in memory, at places that no file has */
    uint64_t size, looked; /* looked: how far the journal was read */
    bool reading;
    bool locked; /* a server was still writing it */
};

/* reserve.c: room for so many bytes of the journal, and behind them for last words, up to `end`; false
 * with errno: the disk is full */
bool reserve_at(struct tracefile *file, uint64_t begin, uint64_t bytes, uint64_t end);
bool reserve(struct tracefile *file, uint64_t bytes); /* where the journal goes on */
uint64_t reserve_bytes(const struct tracefile *file); /* of last words */
void reserve_give_back(struct tracefile *file);

/* marks.c */
struct region region_of(const struct tracefile *file, uint32_t epoch); /* under the lock */
void mark_begin(struct tracefile *file);
/* A new one where the order has got to, and the one from which the journal must be read if `oldest` is the
 * number that what waits has come under. */
const struct mark *mark_set(struct tracefile *file, uint32_t oldest, struct chunk threads);
void marks_drop(struct tracefile *file, uint32_t before); /* those with smaller numbers */
void marks_free(struct tracefile *file);

/* tracefile.c */
bool slot_read(const uint8_t *head, unsigned i, uint64_t *place, uint64_t *serial);
uint64_t slot_check(const uint8_t *slot, unsigned i);

#endif
