/* Breakpoints for the debugger (clients/source/breaks.h): a red disc at each event in the picture before which one stops. */
#ifndef CLIENTS_VIEW_PICTURE_STOPS_H
#define CLIENTS_VIEW_PICTURE_STOPS_H

#include "clients/view/parts/news.h"
#include "wire/event.h"

#include <stdint.h>

struct view;

struct stops {
    struct break_is *items;
    uint32_t count;
    struct ref *events; /* those in the picture, by line and number */
    uint32_t event_count;
};

/* The file of the run, as long as it is here, new memory of GLib's; or NULL. */
char *stops_trace(struct view *view);
void stops_read(struct view *view); /* another run, or other breakpoints */
void stops_take(struct view *view, enum news news);
void stops_free(struct view *view);

#endif
