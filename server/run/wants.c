#include "server/run/wants.h"

#include "memory/memory.h"

#include <stdlib.h>

bool wants_add(struct wants *wants, struct want_request *request)
{
    if (wants->count == WANTS_MOST) {
        want_request_free(request);
        return false;
    }
    if (!request->line_count) {
        wants->bits = (wants->bits & ~request->mask) | (request->bits & request->mask);
        wants->mask |= request->mask;
        wants->chosen = true;
    }
    wants->items = grow(wants->items, &wants->room, wants->count + 1, sizeof *wants->items);
    wants->items[wants->count++] = *request;
    *request = (struct want_request){0};
    return true;
}

void wants_passed(struct wants *wants)
{
    for (size_t i = 0; i < wants->count; i++)
        want_request_free(&wants->items[i]);
    wants->count = 0;
}

void wants_free(struct wants *wants)
{
    wants_passed(wants);
    free(wants->items);
    *wants = (struct wants){0};
}
