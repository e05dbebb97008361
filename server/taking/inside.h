/* What the files of server/taking/ share. */
#ifndef SERVER_TAKING_INSIDE_H
#define SERVER_TAKING_INSIDE_H

#include "server/taking/taking.h"

/* journal.c: what is said of a disk that is full; `fits` */
bool written(struct taking *taking, bool fits, uint64_t bytes);
bool is_described(const struct taking *taking, const char *name);

/* round.c: goes on in another buffer than `buffer`, perhaps */
enum taken round_over(struct program *program, struct ticks *ticks, uint8_t **buffer);

#endif
