/* --keep: a run that keeps only its newest part.
 *
 * While a run grows, an epoch is noted every quarter of the allowed size: where the file
 * stood, where the log stood, how far each line had come.  When the file, or the log in memory, is
 * larger than allowed, all before an epoch is forgotten, in memory and on disk.  A checkpoint
 * holds what later chunks rely on: the facts (sessions, types, shapes, lines, names,
 * descriptions) and the last forgotten number of each line. */
#ifndef SERVER_KEEP_H
#define SERVER_KEEP_H

#include "server/store/journal.h"

struct run;
struct keeping;

struct keeping *keep_new(uint64_t bytes);
void keep_free(struct keeping *keeping);
/* Notes a chunk that later ones rely on. */
void keep_fact(struct run *run, struct chunk chunk);
void keep_hangup(struct run *run, uint32_t session);
/* Notes an epoch, or forgets, if it is time.  Between two rounds of telling. */
void keep_poll(struct run *run);

/* Reading a checkpoint: visits the facts, then hang-ups as empty HANGUP chunks; then the
 * caller's lines exist and their numbers are set.  False if it is damaged. */
bool keep_restore(struct run *run, struct chunk checkpoint,
                  bool (*visit)(void *context, struct chunk), void *context);

#endif
