/* Call sites: one number for one place in the code, in all processes of a run.
 *
 * Sites are addresses in processes (run.h).  Addresses in one file (by its build-id, or else its
 * path) with the same offset from its load address are one place.  An address in no known file
 * is a place of its process alone. */
#ifndef SERVER_RUN_CALL_SITES_H
#define SERVER_RUN_CALL_SITES_H

#include "server/run/run.h"

/* Returns the place of a site, from 1; 0 for site 0.  It never changes during the run. */
uint32_t call_sites_for_line(const struct run *run, uint32_t site);
/* A place as two numbers: a file, or a process alone, and the offset from its begin. */
struct call_site_key {
    uint64_t space, offset;
};
struct call_site_key call_sites_key(const struct run *run, uint32_t process, uint64_t address);
/* returns the number of places so far; they are numbered from 1 */
uint32_t call_sites_count(const struct run *run);
/* Returns the site by which a place was found first; 0 if there is no such place. */
uint32_t call_sites_site(const struct run *run, uint32_t place);

#endif
