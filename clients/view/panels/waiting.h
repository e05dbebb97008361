/* The panel of who waits at the end of what was recorded. */
#ifndef CLIENTS_VIEW_PANELS_WAITING_H
#define CLIENTS_VIEW_PANELS_WAITING_H

#include "wire/shown.h"

struct view;

/* The event that waits longest; NULL: none. */
const struct shown_event *waiting_oldest(struct view *view);

/* The worst that is known of those who wait, and how many they are: in a live run, those who wait long. */
enum waiting_worst {
    WAITING_NOBODY,
    WAITING_SOME,
    WAITING_PERHAPS, /* a hang, as far as is seen */
    WAITING_HANG,
    WAITING_DEADLOCK
};
enum waiting_worst waiting_worst(struct view *view, unsigned *count);

#endif
