/* Names with codes from 1: of event types, and of kinds of lines. */
#ifndef SERVER_RUN_NAME_TABLE_H
#define SERVER_RUN_NAME_TABLE_H

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct name_table {
    char **items;
    size_t count, room;
    struct map index;
};

/* returns 0 if there is none */
uint32_t name_table_find(const struct name_table *names, const char *name);
/* the name must not be there yet */
uint32_t name_table_add(struct name_table *names, const char *name);
void name_table_free(struct name_table *names);

#endif
