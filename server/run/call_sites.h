/* Call sites of a run: addresses in its processes, and one number for one place in the code, in all
 * processes.
 *
 * Sites are numbered from 1; equal sites have one number.  Sites at addresses in one file (by its
 * build-id, or else its path) with the same offset from its load address are one place.  An address
 * in no known file is a place of its process alone.  Not thread-safe. */
#ifndef SERVER_RUN_CALL_SITES_H
#define SERVER_RUN_CALL_SITES_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;

/* ---- sites ---- */

struct site {
    uint32_t process;
    /* line of the thread that has this context; 0: by which calls is not known */
    uint32_t thread;
    uint64_t address;
    uint32_t context; /* wire/profile_region.h */
    /* number of the site of the call of its function, if the call stack was recorded; 0: it was
     * not, or its function was called by none; SITE_CUT, SITE_UNKNOWN */
    uint32_t caller;
};

/* The caller of the last site of a stack that was recorded in part: there are more callers than are
 * recorded, or they are not known. */
#define SITE_CUT UINT32_MAX
#define SITE_UNKNOWN (UINT32_MAX - 1)

/* A zero-initialized table is empty. */
struct site_table {
    struct map numbers;
    struct site *items; /* by number - 1 */
    size_t count, room;
};

/* Returns the number of a site, from 1, which is the same for equal sites; 0 for address 0.  Takes
 * constant time. */
uint32_t site_table_add(struct site_table *sites, struct site site);
/* Returns the site of a number, or NULL for 0 and for numbers that were not assigned. */
const struct site *site_table_at(const struct site_table *sites, uint32_t number);
/* Returns whether it is a site alone, of which it is not known by which calls. */
static inline bool site_is_plain(const struct site *site) { return !site->thread && !site->caller; }
void site_table_free(struct site_table *sites);

/* ---- places ---- */

/* Returns the place of a site, from 1; 0 for site 0.  It never changes during the run. */
uint32_t call_sites_for_line(const struct run *run, uint32_t site);
/* A place as two numbers: a file, or a process alone, and the offset from its begin. */
struct call_site_key {
    uint64_t space, offset;
};
struct call_site_key call_sites_key(const struct run *run, uint32_t process, uint64_t address);
/* Returns the number of places so far; they are numbered from 1. */
uint32_t call_sites_count(const struct run *run);
/* Returns the site by which a place was found first; 0 if there is no such place. */
uint32_t call_sites_site(const struct run *run, uint32_t place);

#endif
