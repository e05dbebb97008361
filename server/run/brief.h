/* Facts in few bytes: of one that is much like the last one of its kind only what differs is written.
 * There may be millions, a line each, and all of them are kept. */
#ifndef SERVER_RUN_BRIEF_H
#define SERVER_RUN_BRIEF_H

#include "server/store/chunk.h"
#include "wire/message.h"

struct brief; /* the last fact of each kind, of one list */

struct brief *brief_new(void);
void brief_again(struct brief *brief); /* another list begins */
void brief_put(struct brief *brief, struct out *out, struct chunk fact);
/* False with in->error at the end or if the list is bad.  The data lasts until the next call. */
bool brief_get(struct brief *brief, struct in *in, struct chunk *fact);
void brief_free(struct brief *brief);

#endif
