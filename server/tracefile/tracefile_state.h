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

struct checkpoint_area { /* space of a checkpoint, or another range of the file */
    uint64_t place, room;
};

struct delivered_until { /* a place in the journal, up to which it was delivered to the order */
    uint32_t epoch;
    uint64_t at;
};

/* Regions of the journal that are not the current one. */
struct region_list {
    struct tracefile_region *items;
    size_t count, room;
};

/* The restart points, oldest first; restart_points.c writes it. */
struct restart_point_list {
    struct restart_point *items;
    size_t count, room;
    uint32_t newest; /* number of the newest, from 1 (the journal's begin) */
};

/* The parts that are put and not written yet; tracefile.c writes it. */
struct part_buffer {
    struct encoder bytes; /* ends at the file's `end` unless a region was allocated since */
    struct checkpoint_area *gaps; /* ranges of `bytes` that are not to be written */
    size_t gap_count, gap_room;
    uint64_t place; /* of `bytes` in the file */
    uint64_t written; /* where the parts on disk end */
};

/* The space that discarding has freed and what it must not free; file_space.c writes it. */
struct kept_space {
    struct checkpoint_area *areas; /* NEWS chunks, and areas and regions, not to be freed */
    size_t count, room;
    uint64_t discarded_until; /* everything before this place that may be freed is */
    uint64_t released; /* bytes that were returned to the file system */
};

/* One thread may write the journal while another puts parts and checkpoints.  `lock` protects what
 * both use: the regions, and how much of the file is allocated.  It is never held during large
 * writes. */
struct tracefile {
    int fd;
    char name[TRACEFILE_NAME_BYTES + 1];
    pthread_mutex_t lock;
    uint8_t holds; /* enum tracefile_holds */
    /* the journal */
    struct tracefile_region region;
    uint64_t at; /* where the journal on disk ends */
    uint64_t claimed; /* up to where the journal may be written now */
    struct encoder journal; /* not written yet */
    bool torn; /* in an open-ended region: bytes beyond `at` must be cut off first */
    uint64_t reserved; /* where the preallocated space of the region ends */
    struct region_list old; /* regions that the journal has left, oldest first */
    struct region_list free;
    uint64_t unsaved;
    _Atomic uint64_t region_bytes; /* of new regions; set under the lock */
    uint64_t least_region_bytes;
    /* delivery to the order */
    /* tracefile_delivered() reports the delivery; else all that is flushed counts as delivered */
    bool lagging;
    struct delivered_until delivered;
    struct restart_point_list marks; /* see restart_points.h */
    _Atomic bool stuck; /* parts do not fit on the disk */
    /* parts */
    uint64_t end; /* where the allocated part of the file ends */
    struct part_buffer parts;
    struct checkpoint_area areas[2];
    uint64_t states; /* number of checkpoints written so far */
    uint64_t news; /* of a resumed file: place of the newest NEWS in its checkpoint */
    struct { /* the checkpoint that was begun */
        /* its number; that of the restart point from which the journal is read */
        uint32_t number, from;
        struct delivered_until delivered; /* the part of the journal that it covers */
        uint64_t unsaved; /* value of `unsaved` when it began */
    } save;
    struct rests { /* by slot: parts that the checkpoint there needs, sorted by place */
        uint64_t *places;
        size_t count;
    } rests[2];
    struct unused { /* ranges of parts that no checkpoint needs, oldest first */
        struct stretch_unused {
            uint64_t from, to;
            time_t since; /* monotonic */
        } *items;
        size_t count, room;
    } unused;
    struct kept_space kept;
    /* reading: parts that are put remain in memory, at places beyond any file */
    uint64_t size, read_until; /* read_until: how far the journal was read */
    bool reading;
    bool locked; /* a server held its lock when the file was opened */
    struct tracefile_stamp opened; /* its stamp then */
};

/* Returns why a file with these TRACEFILE_HEAD_BYTES cannot be read, or NULL. */
const char *tracefile_head_error(const uint8_t *head);
/* returns the number of bytes read */
size_t tracefile_read_at(int fd, void *bytes, size_t size, uint64_t at);
/* Returns the data of the chunk at a place, followed by 8 zero bytes (the caller frees it), or
 * NULL if there is no whole chunk of this kind. */
uint8_t *chunk_get(const struct tracefile *file, unsigned kind, uint64_t place,
                   struct chunk *chunk);
bool tracefile_write_at(int fd, const void *bytes, size_t size, uint64_t at);
/* Writes the parts in memory; returns false if the disk is full, and keeps them in memory. */
bool tracefile_flush_parts(struct tracefile *file);
/* Ends the open-ended first region, so that something can be put behind it.  The lock must be
 * held. */
void tracefile_close_first_region(struct tracefile *file);
/* Allocates space at the end of the file; returns its place. */
uint64_t tracefile_update_end(struct tracefile *file, uint64_t bytes);

#endif
