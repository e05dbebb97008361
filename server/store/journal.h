/* The journal: what programs told, in the order in which it came, with checksums.
 * It is the trace file.  docs/tracefile.md gives the format byte by byte.
 *
 * A chunk is complete or it is not there: a reader stops at the first one that is
 * cut off, and passes over damaged ones, saying how many bytes it lost. */
#ifndef SERVER_STORE_JOURNAL_H
#define SERVER_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JOURNAL_MAGIC "POETRACE"
#define JOURNAL_VERSION 1u
#define JOURNAL_HEAD_BYTES 64u
#define JOURNAL_NAME_BYTES 36u /* at byte 12; at 48 the checkpoint's place, at 56 where to go on */
#define CHUNK_MARK 0x4b48434fu /* "OCHK" */
#define CHUNK_HEAD_BYTES 28u

/* Kinds of chunk beside the messages of programs (wire/message.h, below 32). */
enum chunk_kind {
    CHUNK_SESSION = 64, /* a program connected: its HELLO follows as a message */
    CHUNK_HANGUP = 65,
    CHUNK_TARGET = 66, /* name and text of a description */
    CHUNK_END = 67,    /* the run is complete; more may still come */
    CHUNK_CHECKPOINT = 68 /* what must be known before the chunks that are kept */
};

struct chunk {
    uint16_t kind;
    uint32_t session; /* number of the program within the run, from 0 */
    uint32_t thread;  /* SLOTS: own line of the thread, a code of the session */
    const uint8_t *data;
    uint32_t size;
};

struct journal;

/* Creates a file; an existing one is not overwritten but given a number.  *path
 * receives the name used (caller frees).  NULL with errno. */
struct journal *journal_create(const char *path, const char *run, char **used);
/* Appends to memory; journal_flush hands it to the system.  False with errno when the disk
 * is full: the file then ends with the last complete flush. */
void journal_append(struct journal *journal, struct chunk chunk);
bool journal_flush(struct journal *journal);
uint64_t journal_bytes(const struct journal *journal);
/* Flushes, then forgets the chunks before byte `from`: a reader begins with the newest
 * CHECKPOINT chunk, which must be the last one appended, and goes on at `from`. */
bool journal_forget(struct journal *journal, uint64_t from);
uint64_t journal_kept(const struct journal *journal); /* bytes that are not forgotten */
void journal_close(struct journal *journal);

/* Reads a file from its begin.  visit is called per complete chunk; false stops.
 * Result: false if it is no trace file (why is set).  *damage: NULL or what was lost,
 * one line, caller frees.  *run: name from the head, caller frees. */
bool journal_read(const char *path, char **run, bool (*visit)(void *context, struct chunk),
                  void *context, char **damage, const char **why);

#endif
