#include "server/run/pending_settings.h"

#include "base/alloc.h"

#include <stdlib.h>

bool pending_settings_add(struct pending_settings *wants, struct measurement_request *request)
{
    if (wants->count == PENDING_SETTINGS_MAX) {
        measurement_request_free(request);
        return false;
    }
    if (!request->line_count) {
        wants->bits = (wants->bits & ~request->mask) | (request->bits & request->mask);
        wants->mask |= request->mask;
        wants->chosen = true;
    }
    wants->items =
        array_reserve(wants->items, &wants->room, wants->count + 1, sizeof *wants->items);
    wants->items[wants->count++] = *request;
    *request = (struct measurement_request){0};
    return true;
}

void pending_settings_applied(struct pending_settings *wants)
{
    for (size_t i = 0; i < wants->count; i++)
        measurement_request_free(&wants->items[i]);
    wants->count = 0;
}

void pending_settings_free(struct pending_settings *wants)
{
    pending_settings_applied(wants);
    free(wants->items);
    *wants = (struct pending_settings){0};
}
