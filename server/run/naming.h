/* Names with codes from 1: of event types, and of kinds of lines. */
#ifndef SERVER_RUN_NAMING_H
#define SERVER_RUN_NAMING_H

#include "memory/map.h"

#include <stddef.h>
#include <stdint.h>

struct names {
    char **items;
    size_t count, room;
    struct map index;
};

uint32_t naming_find(const struct names *names, const char *name); /* 0: it is not there */
uint32_t naming_add(struct names *names, const char *name); /* one that is not there */
void naming_free(struct names *names);

#endif
