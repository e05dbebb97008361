/* The trace file of one run: a journal of what programs sent, as received; finished parts of the
 * order; and occasional states, from which a reader can continue without reading either.
 * docs/tracefile.md gives the format byte by byte.
 *
 * The journal lies in regions of the file, each leading to the next.  Once a state is written,
 * regions that hold only what is ordered are free, and are written again.  Everything else is
 * appended.
 *
 * A batch is first appended to the journal and flushed; then it may be believed.
 *
 * One thread may write the journal (append, flush, begin, write, and the variants for its end)
 * while another puts parts, saves and discards; apart from that it is not thread-safe. */
#ifndef SERVER_TRACEFILE_TRACEFILE_H
#define SERVER_TRACEFILE_TRACEFILE_H

#include "server/tracefile/chunks.h"
#include "wire/trace_header.h"

#define TRACEFILE_MAGIC TRACEHEAD_MAGIC
#define TRACEFILE_VERSION 1u
#define TRACEFILE_HEAD_BYTES TRACEHEAD_BYTES
#define TRACEFILE_NAME_BYTES 36u

struct tracefile;

/* ---- writing ---- */

/* Creates a file; an existing one is not overwritten but given a number.  *used receives the name
 * (caller frees).  NULL with errno. */
struct tracefile *tracefile_create(const char *path, const char *run, char **used);
void tracefile_close(struct tracefile *file);
/* Says to readers whether more will come: a lock of the whole file, taken when it is created. */
void tracefile_lock(struct tracefile *file, bool more_comes);

/* Kinds of file contents, stored in the head for a server that is restarted on the file. */
enum tracefile_holds {
    TRACEFILE_HOLDS_SENT, /* all of it comes again, from agents */
    TRACEFILE_HOLDS_OWN, /* more than that, and it has not ended */
    TRACEFILE_HOLDS_WHOLE, /* it has ended */
};
/* More comes; own: from a program itself. */
void tracefile_is_live(struct tracefile *file, bool own);
void tracefile_has_ended(struct tracefile *file);
/* Writes the begin of the run, in ns since 1970, into the head of a file that is written. */
void tracefile_begun(struct tracefile *file, uint64_t wall_ns);
enum tracefile_holds tracefile_held(const uint8_t *head); /* its TRACEFILE_HEAD_BYTES */

/* Appends to the journal in memory; flush hands it to the system.  False with errno when the disk
 * is full: the journal then ends with the last complete flush, and there is room for last words. */
void tracefile_append(struct tracefile *file, struct chunk chunk);
bool tracefile_flush(struct tracefile *file);
uint64_t tracefile_unflushed(const struct tracefile *file); /* bytes of the journal in memory */
uint64_t tracefile_room(const struct tracefile *file); /* bytes free where the file lies */
/* Appends the few bytes that end the journal, which may use the space reserved for them. */
void tracefile_append_last(struct tracefile *file, struct chunk chunk);
bool tracefile_flush_last(struct tracefile *file);
uint64_t tracefile_last_room(struct tracefile *file); /* bytes of it that are left */

/* Appending without a copy: reserves at least `least` bytes where the journal continues; chunks
 * in them must carry this epoch. last: uses the space reserved for the end.  Returns false with
 * errno if there is no space. */
struct journal_room {
    uint32_t epoch;
    uint64_t at, bytes;
};
bool tracefile_begin(struct tracefile *file, uint64_t least, bool last, struct journal_room *room);
/* Writes whole chunks into it, from its begin; false with errno: nothing was written. */
bool tracefile_write(struct tracefile *file, const void *bytes, size_t size, bool last);
/* Reads bytes of the journal back; false if they are not all there. */
bool tracefile_read_back(const struct tracefile *file, uint64_t at, void *bytes, size_t size);

/* The order may be behind the journal: a state holds the place up to which it was delivered.
 * After tracefile_lagging() that is the place that tracefile_delivered() reports; `bytes` is the
 * distance to the last one, in bytes as programs sent them. */
void tracefile_lagging(struct tracefile *file);
void tracefile_delivered(struct tracefile *file, uint32_t epoch, uint64_t at, uint64_t bytes);
/* Tries again to write parts that found no room; false: there is none, and the journal waits,
 * too. */
bool tracefile_sync(struct tracefile *file);
/* Return the number of the current epoch, from 1, which grows with every state, and the bytes
 * delivered since the last state. */
uint32_t tracefile_epoch(const struct tracefile *file);
uint64_t tracefile_unsaved(const struct tracefile *file);
void tracefile_small_regions(struct tracefile *file,
                             uint64_t most_bytes); /* new ones, unless states are large */
uint64_t tracefile_region_bytes(const struct tracefile *file); /* of new regions */

/* Puts a part away; its place.  Never fails: what does not fit on the disk stays in memory. */
uint64_t tracefile_put(struct tracefile *file, unsigned kind, const void *bytes, size_t size);
/* Gets it back as new memory with 8 more bytes behind it; NULL if it is damaged. */
uint8_t *tracefile_get(struct tracefile *file, unsigned kind, uint64_t place, size_t *size);

/* Begins to save a state of this moment: of the journal as far as it is delivered; `threads`
 * holds the position of each thread.  Epochs before `oldest` will not be needed any more.  Until
 * the save ends, the journal may be written and delivered and parts may be put.  Returns false
 * with errno if nothing was changed. */
bool tracefile_save_begin(struct tracefile *file, struct chunk threads, uint32_t oldest);
struct checkpoint {
    const uint8_t *data;
    size_t size;
    uint64_t news; /* place of the newest NEWS chunk when it began, 0 none */
    const uint64_t *parts; /* places of those without which it says nothing */
    size_t part_count;
    uint64_t written; /* bytes of them that are new: the more, the longer new regions are */
};
bool tracefile_save_end(struct tracefile *file, const struct checkpoint *state);
void tracefile_save_drop(struct tracefile *file); /* instead */
uint64_t tracefile_end(struct tracefile *file); /* where the next part will be */
uint64_t tracefile_kept(struct tracefile *file); /* bytes on disk */
/* Gives the room of the parts before a place back, NEWS apart. */
void tracefile_discard_before(struct tracefile *file, uint64_t place);

/* ---- reading ---- */

/* Opens for tracefile_get and tracefile_replay.  NULL with a reason. */
struct tracefile *tracefile_open(const char *path, const char **why);
/* Visits the news, oldest first, then the state, then the journal that follows it.
 * *damage: NULL, or what was lost, one line (caller frees). */
void tracefile_replay(struct tracefile *file, void (*visit)(void *context, struct chunk),
                      void *context, char **damage);
/* Visits what the state covers only; the caller that resumes the file reads the journal behind
 * it. */
void tracefile_replay_known(struct tracefile *file, void (*visit)(void *context, struct chunk),
                            void *context, char **damage);
/* Returns the progress of tracefile_replay, in bytes of the file. */
void tracefile_progress(const struct tracefile *file, uint64_t *at, uint64_t *size);
bool tracefile_exists(const struct tracefile *file); /* it was not deleted meanwhile */
const char *tracefile_run(const struct tracefile *file); /* its name */
bool tracefile_is_written(
    const struct tracefile *file); /* when it was opened a server held its lock */

#endif
