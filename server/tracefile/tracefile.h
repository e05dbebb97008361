/* The trace file of one run: a journal of what programs sent, as received; finished parts of the
 * order; and occasional checkpoints, from which a reader can continue without reading either.
 * docs/tracefile.md gives the format byte by byte.
 *
 * The journal lies in regions of the file, each with the place of the next.  Once a checkpoint is
 * written, regions that hold only ordered events are free, and are reused.  Everything else is
 * appended.
 *
 * A batch must be appended to the journal and flushed before it is acknowledged or used.
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

/* Creates a file; if it exists, a number is added to the name.  Sets *used to the name (the caller
 * frees it).  Returns NULL with errno if it fails. */
struct tracefile *tracefile_create(const char *path, const char *run, char **used);
void tracefile_close(struct tracefile *file);
/* Locks the whole file as long as more will come, so that readers know it; it is locked when it is
 * created. */
void tracefile_lock(struct tracefile *file, bool more_comes);

/* Kinds of file contents, stored in the head for a server that is restarted on the file. */
enum tracefile_holds {
    TRACEFILE_HOLDS_SENT, /* everything will be sent again, by agents */
    TRACEFILE_HOLDS_OWN, /* data that is only here; the run has not ended */
    TRACEFILE_HOLDS_WHOLE, /* the run has ended */
};
/* Records that more will come; own: from a program itself. */
void tracefile_is_live(struct tracefile *file, bool own);
void tracefile_has_ended(struct tracefile *file);
/* Writes the begin of the run, in ns since 1970, into the head of a file that is written. */
void tracefile_begun(struct tracefile *file, uint64_t wall_ns);
enum tracefile_holds tracefile_held(const uint8_t *head); /* its TRACEFILE_HEAD_BYTES */

/* Appends to the journal in memory; flush hands it to the system.  Returns false with errno when
 * the disk is full: the journal then ends with the last complete flush, and there is room for last
 * words. */
void tracefile_append(struct tracefile *file, struct chunk chunk);
bool tracefile_flush(struct tracefile *file);
uint64_t tracefile_room(const struct tracefile *file); /* free bytes on the file's disk */
/* bytes that are left for the end of the journal */
uint64_t tracefile_last_room(struct tracefile *file);

/* Appending without a copy: reserves at least `least` bytes where the journal continues; chunks
 * in them must carry this epoch. last: uses the space reserved for the end.  Returns false with
 * errno if there is no space. */
struct journal_room {
    uint32_t epoch;
    uint64_t at, bytes;
};
bool tracefile_begin(struct tracefile *file, uint64_t least, bool last, struct journal_room *room);
/* Writes whole chunks at the begin of the reserved space; returns false with errno if nothing was
 * written. */
bool tracefile_write(struct tracefile *file, const void *bytes, size_t size, bool last);
/* Reads bytes of the journal back; false if they are not all there. */
bool tracefile_read_back(const struct tracefile *file, uint64_t at, void *bytes, size_t size);

/* The order may be behind the journal: a state holds the place up to which it was delivered.
 * After tracefile_lagging() that is the place that tracefile_delivered() reports; `bytes` is the
 * distance to the last one, in bytes as programs sent them. */
void tracefile_lagging(struct tracefile *file);
void tracefile_delivered(struct tracefile *file, uint32_t epoch, uint64_t at, uint64_t bytes);
/* Tries again to write parts that did not fit; returns false if they still do not, so that the
 * journal must not grow either. */
bool tracefile_sync(struct tracefile *file);
/* Return the number of the current epoch, from 1, which grows with each checkpoint, and the bytes
 * delivered since the last checkpoint. */
uint32_t tracefile_epoch(const struct tracefile *file);
uint64_t tracefile_unsaved(const struct tracefile *file);
void tracefile_small_regions(struct tracefile *file,
                             uint64_t most_bytes); /* of new regions; larger if checkpoints are */
uint64_t tracefile_region_bytes(const struct tracefile *file); /* of new regions */

/* Puts a part; returns its place.  Never fails: what does not fit on the disk remains in memory. */
uint64_t tracefile_put(struct tracefile *file, unsigned kind, const void *bytes, size_t size);
/* Returns a part in new memory, followed by 8 zero bytes, or NULL if it is damaged. */
uint8_t *tracefile_get(struct tracefile *file, unsigned kind, uint64_t place, size_t *size);

/* Begins to save a checkpoint of this moment, which covers the journal as far as it is delivered;
 * `threads` holds the position of each thread.  Epochs before `oldest` are not needed any more.
 * Until the save ends, the journal may be written and delivered and parts may be put.  Returns
 * false with errno if nothing was changed. */
bool tracefile_save_begin(struct tracefile *file, struct chunk threads, uint32_t oldest);
struct checkpoint {
    const uint8_t *data;
    size_t size;
    uint64_t news; /* place of the newest NEWS chunk when it began, 0 none */
    const uint64_t *parts; /* places of the parts that it needs */
    size_t part_count;
    uint64_t written; /* new bytes of them; the more, the longer new regions are */
};
bool tracefile_save_end(struct tracefile *file, const struct checkpoint *state);
void tracefile_save_drop(struct tracefile *file); /* ends the save without a checkpoint */
uint64_t tracefile_end(struct tracefile *file); /* where the next part will be */
uint64_t tracefile_kept(struct tracefile *file); /* bytes that the file takes on the disk */
/* Frees the space of the parts before a place, except NEWS. */
void tracefile_discard_before(struct tracefile *file, uint64_t place);

/* ---- reading ---- */

/* Opens a file for tracefile_get() and tracefile_replay().  Returns NULL with the reason in *why if
 * it fails. */
struct tracefile *tracefile_open(const char *path, const char **why);
/* Visits the NEWS, oldest first, then the checkpoint, then the journal that follows it.  Sets
 * *damage to NULL, or to a line about what was lost (the caller frees it). */
void tracefile_replay(struct tracefile *file, void (*visit)(void *context, struct chunk),
                      void *context, char **damage);
/* Visits only what the checkpoint covers; the caller resumes the file and reads the rest of the
 * journal itself. */
void tracefile_replay_known(struct tracefile *file, void (*visit)(void *context, struct chunk),
                            void *context, char **damage);
/* Returns the progress of tracefile_replay, in bytes of the file. */
void tracefile_progress(const struct tracefile *file, uint64_t *at, uint64_t *size);
/* Properties that distinguish a file from an earlier or a later state of it, and from its copies.
 */
struct tracefile_stamp {
    uint64_t bytes;
    int64_t changed_ns;
    uint32_t mode; /* its permissions */
};
/* Sets *stamp to that of a file as it was when it was opened for reading, or as it is now if it
 * is being written.  Returns false if it cannot be determined. */
bool tracefile_get_stamp(const struct tracefile *file, struct tracefile_stamp *stamp);
bool tracefile_exists(const struct tracefile *file); /* returns whether the file was not deleted */
/* Returns whether the file is the one at a path. */
bool tracefile_is_at(const struct tracefile *file, const char *path);
const char *tracefile_run(const struct tracefile *file); /* returns the name of its run */
bool tracefile_is_written(
    const struct tracefile *file); /* returns whether a server held its lock when it was opened */

/* ---- resuming a file after its server was killed ---- */

/* Called for a chunk of the journal that the checkpoint does not cover; at: its place. */
typedef void resuming_visit(void *context, uint64_t at, struct chunk chunk);

/* Opens a file for writing at the end of its journal and visits the journal after its newest
 * checkpoint.  Cuts off an incomplete chunk or batch (REACHED) at the end.  Returns NULL with the
 * reason in *why if the file cannot be resumed, and changes nothing then; errno is EWOULDBLOCK if
 * another process writes it.  The caller must call tracefile_replay_known() before it writes the
 * file. */
struct tracefile *tracefile_resume(const char *path, resuming_visit *visit, void *context,
                                   const char **why);
uint64_t tracefile_updates(const struct tracefile *file); /* place of the newest NEWS, 0 none */

#endif
