/* The programs and lines of a run as a cut of it has them: each is written before it is first
 * referred to, and has a number of its own there.  A run with few lines keeps all, with their
 * numbers.  Not thread-safe. */
#ifndef SERVER_CUTS_CUT_NAMES_H
#define SERVER_CUTS_CUT_NAMES_H

#include "server/run/run.h"
#include "wire/message.h"

#define CUT_LINES_ALL 1024u /* up to so many lines all are kept */

struct cut_names {
    const struct run *run;
    struct encoder *out; /* chunks are appended to it */
    uint32_t *lines; /* by line - 1: its number in the cut; 0: none yet */
    uint32_t *kept; /* by number - 1: the line */
    uint32_t count;
    size_t kept_room;
    uint32_t *programs; /* by index: 1 + its number in the cut; 0: none yet */
    uint32_t program_count;
};

/* Appends a chunk of a journal. */
void cut_put_chunk(struct encoder *out, uint16_t kind, uint32_t session, uint32_t thread,
                   const struct encoder *body);
/* Begins with what every cut of the run has: descriptions, and of a run with few lines all of
 * them. */
void cut_names_begin(struct cut_names *names, const struct run *run, struct encoder *out);
void cut_names_free(struct cut_names *names);
/* Return the number in the cut; of line 0 that is 0. */
uint32_t cut_names_line(struct cut_names *names, uint32_t line);
uint32_t cut_names_program(struct cut_names *names, uint32_t process);
/* Appends what programs reported beside events, and that they disconnected. `whole`: all events of
 * the line's thread are in the cut. */
void cut_names_end(struct cut_names *names, bool (*whole)(const void *context, uint32_t line),
                   const void *context);

#endif
