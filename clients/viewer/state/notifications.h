/* Notifications that the parts of the viewer send when they have changed, so that they need not
 * know their receivers.
 *
 * viewer_window.c receives all of them, reacts, and forwards them to the panels. */
#ifndef CLIENTS_VIEWER_STATE_NOTIFICATIONS_H
#define CLIENTS_VIEWER_STATE_NOTIFICATIONS_H

enum notification {
    /* about data */
    NOTIFY_TAB_SHOWN,    /* to one panel only: its page is visible now */
    NOTIFY_SELECTION, /* another event is selected, or none */
    NOTIFY_DIAGRAM,  /* there is another diagram, or labels in it have changed */
    NOTIFY_EVENT_RELATIONS,   /* the relations of visible events to the selected one are known */
    /* more is known about the relations of the selected events to each other and to all others */
    NOTIFY_SELECTION_RELATIONS,
    NOTIFY_HITS, /* the search has other hits, or has made progress */
    NOTIFY_NOTES, /* notes have changed, or their positions became known */
    NOTIFY_WAIT_CAUSE, /* the cause of a wait is known, or another one was requested */
    NOTIFY_RUN_UPDATED, /* the log is longer */
    NOTIFY_WAITS, /* the waiting threads were updated */
    NOTIFY_QUIET, /* a run is shown for the first time, or has stopped growing */
    /* about the view */
    NOTIFY_PLACE, /* another view state: its contents must be requested */
    /* the same, with other lines or another time scale: the overview map changes, too */
    NOTIFY_ROWS,
    NOTIFY_RESTORED, /* an earlier view state was restored, with its selection */
    NOTIFY_VISIBLE_PART, /* another part of the scene is visible */
    NOTIFY_LOOK, /* the appearance of the scene has changed */
    NOTIFY_ACTIONS, /* toggles, or the available actions, have changed */
    NOTIFY_SETTINGS, /* a setting has changed */
};

/* The receiver of notifications. */
struct listener {
    void (*on_notification)(void *user, enum notification news);
    void *user;
};

static inline void notify_listener(const struct listener *to, enum notification what)
{
    to->on_notification(to->user, what);
}

#endif
