/* Sites of a run: addresses in its processes, numbered from 1; equal sites have one number.
 *
 * A zero-initialized table is empty.  Adding takes constant time.  Not thread-safe. */
#ifndef SERVER_RUN_SITE_TABLE_H
#define SERVER_RUN_SITE_TABLE_H

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct site {
    uint32_t process;
    /* line of the thread whose context it is; 0: by which calls is not known */
    uint32_t thread;
    uint64_t address;
    uint32_t context; /* wire/profile_region.h */
};

struct site_table {
    struct map numbers;
    struct site *items; /* by number - 1 */
    size_t count, room;
};

/* Returns the number of a site, from 1, which is the same for equal sites; 0 for address 0. */
uint32_t site_table_add(struct site_table *sites, struct site site);
/* Returns the site of a number, or NULL for 0 and for numbers that were not assigned. */
const struct site *site_table_at(const struct site_table *sites, uint32_t number);
void site_table_free(struct site_table *sites);

#endif
