/* The state of an open trace file, for the files of server/tracefile alone. */
#ifndef SERVER_TRACEFILE_TRACEFILE_STATE_H
#define SERVER_TRACEFILE_TRACEFILE_STATE_H

#include "server/tracefile/tracefile.h"
#include "wire/message.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define NEXT_BYTES (CHUNK_HEAD_BYTES + 24u) /* kept free at the end of a region */
#define NO_END UINT64_MAX
#define PARTS_IN_MEMORY (UINT64_C(1) << 62)

#ifndef REGION_BYTES /* tests make it small */
#define REGION_BYTES (4u << 20)
#endif

struct tracefile_region {
    uint64_t begin, end; /* end NO_END: the rest of the file */
    uint32_t epoch;
    bool hole; /* free, and its space returned to the file system */
};

struct checkpoint_area { /* of a state */
    uint64_t place, room;
};

struct delivered_until { /* up to which place of the journal */
    uint32_t epoch;
    uint64_t at;
};

/* Two threads may use it: one writes the journal, the other puts parts and states. `lock`
 * protects what both use: the regions, and how much of the file is allocated.  It is never held
 * during large writes. */
struct tracefile {
    int fd;
    char name[TRACEFILE_NAME_BYTES + 1];
    pthread_mutex_t lock;
    uint8_t holds; /* enum tracefile_holds */
    /* the journal */
    struct tracefile_region region;
    uint64_t at; /* in it, complete on disk */
    uint64_t claimed; /* in it: up to where something may be written now */
    struct encoder journal; /* not yet */
    bool torn; /* an open-ended region: bytes beyond `at` must be cut off first */
    uint64_t reserved; /* in the region, where the room ends that was taken ahead */
    struct tracefile_region *old; /* regions left, oldest first */
    size_t old_count, old_room;
    struct tracefile_region *free;
    size_t free_count, free_room;
    uint64_t unsaved;
    _Atomic uint64_t region_bytes; /* of new regions; set under the lock */
    uint64_t least_region_bytes;
    /* how far it was delivered */
    /* set: tracefile_delivered reports the delivery; else all that is flushed counts as
     * delivered */
    bool lagging;
    struct delivered_until delivered;
    struct restart_point *marks; /* oldest first, see restart_points.h */
    size_t mark_count, mark_room;
    uint32_t marked; /* number of the newest, from 1: the journal's begin */
    _Atomic bool stuck; /* parts do not fit on the disk */
    /* parts */
    uint64_t end; /* of the allocated part of the file */
    struct encoder parts; /* not written yet; ends at `end` unless a region was allocated since */
    struct checkpoint_area *gaps; /* in them: not to be written */
    size_t gap_count, gap_room;
    uint64_t parts_at, written; /* written: where the parts on disk end */
    struct checkpoint_area areas[2];
    uint64_t states; /* written so far */
    uint64_t news; /* of a resumed file: place of the newest news in its state */
    struct { /* the one that has begun */
        uint32_t number, from; /* its own; of the mark that reading begins at */
        struct delivered_until delivered; /* what the order knows */
        uint64_t unsaved; /* when it began */
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
    /* discarding */
    struct checkpoint_area *kept; /* NEWS chunks, and areas and regions, not to be freed */
    size_t kept_count, kept_room;
    uint64_t forgotten, given_back;
    /* reading: parts that are put stay in memory, at places that no file has */
    uint64_t size, looked; /* looked: how far the journal was read */
    bool reading;
    bool locked; /* a server was still writing it */
};

/* Why a file with these TRACEFILE_HEAD_BYTES cannot be read, or NULL. */
const char *tracefile_head_error(const uint8_t *head);
size_t tracefile_read_at(int fd, void *bytes, size_t size, uint64_t at); /* how many there were */
/* Data of the chunk at a place, with 8 bytes behind (caller frees); NULL if there is no whole one
 * of this kind. */
uint8_t *chunk_get(const struct tracefile *file, unsigned kind, uint64_t place,
                   struct chunk *chunk);
bool tracefile_write_at(int fd, const void *bytes, size_t size, uint64_t at);
/* Parts are written when they can be; what is not written is still in memory. */
bool tracefile_flush_parts(struct tracefile *file);
/* The first region ends where something else is to be put behind it.  Under the lock. */
void tracefile_close_first_region(struct tracefile *file);
/* Takes room behind everything else; its place. */
uint64_t tracefile_update_end(struct tracefile *file, uint64_t bytes);

#endif
