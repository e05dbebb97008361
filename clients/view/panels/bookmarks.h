/* Bookmarks: events with their words. */
#ifndef CLIENTS_VIEW_PANELS_BOOKMARKS_H
#define CLIENTS_VIEW_PANELS_BOOKMARKS_H

#include "wire/event.h"

#include <stdbool.h>

struct view;

void bookmarks_add(struct view *view); /* at the selected event */
bool bookmarks_go(struct view *view, uint64_t number); /* from 1; false: there is no such one */
/* The first and the last; false: there are not two. */
bool bookmarks_ends(struct view *view, struct ref ends[2]);

#endif
