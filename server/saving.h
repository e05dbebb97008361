/* Saving a run: what must be known, beside the finished parts of its order, to go on from here.
 *
 * News are the names that were learnt (facts, as chunks of their own; call sites; texts), appended once. A
 * state is the rest; it is written again each time.  A file is saved whenever its journal has grown by a
 * region, and when the run ends. */
#ifndef SERVER_SAVING_H
#define SERVER_SAVING_H

#include "server/store/tracefile.h"

struct run;
struct saving;

struct saving *saving_new(uint64_t keep_bytes); /* 0: everything is kept */
void saving_free(struct saving *saving);

/* Notes a chunk that later ones rely on; a text. */
void saving_fact(struct run *run, struct chunk chunk);
void saving_text(struct run *run, uint32_t line, uint64_t number, const char *text);
/* Saves, or forgets, if it is time.  Between two rounds of telling. */
void saving_poll(struct run *run);
/* Saves if that spares a reader work. */
void saving_finish(struct run *run);

/* ---- reading ---- */

bool saving_read_news(struct run *run, struct chunk news, void (*play)(void *, struct chunk),
                      void *context);
/* hangup is called for each session that had left before the journal that follows. */
bool saving_read_state(struct run *run, struct chunk state,
                       void (*hangup)(void *context, uint32_t session), void *context);
void saving_read_threads(struct run *run, struct chunk threads);

#endif
