/* What was looked up of places of the code, so that a table that is asked for again and again is not looked up in DWARF each
 * time: of one place the latest answer, in so many slots that it is bounded, where one takes the slot of another. */
#ifndef CLIENTS_SITE_REMEMBER_H
#define CLIENTS_SITE_REMEMBER_H

#include "clients/site/site.h"

#include <stdbool.h>

struct remember;

/* A place, and which of the functions at it was asked for. */
struct remember_key {
    uint32_t process;
    uint8_t which;
    uint64_t address;
};

struct remember *remember_new(void);
/* Valid until the next call of remember_put; false: it is not known. */
bool remember_get(const struct remember *remember, struct remember_key key, struct site_is *site);
/* Copies, but for the path, which is to stay until all is forgotten; what it gives back is of the copy. */
struct site_is remember_put(struct remember *remember, struct remember_key key,
                            const struct site_is *site);
void remember_forget(struct remember *remember); /* all of it: programs are known anew */
void remember_free(struct remember *remember); /* of NULL nothing */

#endif
