/* What the parts of the viewer tell when they have changed, so that none of them has to know who
 * wants to hear of it.
 *
 * window.c hears all news, does what follows and hands them on to the panels. */
#ifndef CLIENTS_VIEWER_STATE_NOTIFICATIONS_H
#define CLIENTS_VIEWER_STATE_NOTIFICATIONS_H

enum notification {
    /* what is known */
    NOTIFY_TAB_SHOWN,    /* told to one panel alone: its page is looked at now */
    NOTIFY_SELECTION, /* another event is selected, or none */
    NOTIFY_DIAGRAM,  /* there is another picture, or other names in it */
    NOTIFY_EVENT_RELATIONS,   /* how what is seen stands to the selected event is known */
    /* how the selected events stand to each other and to all others is known better */
    NOTIFY_SELECTION_RELATIONS,
    NOTIFY_HITS, /* the finder has other hits, or has got further */
    NOTIFY_NOTES, /* others are written at events, or it is known better where they are */
    NOTIFY_WAIT_CAUSE, /* why a wait took so long is known, or another one is asked about */
    NOTIFY_RUN_UPDATED, /* the log is longer */
    NOTIFY_WAITS, /* who waits is known anew */
    NOTIFY_QUIET, /* a run has begun to be shown, or has stopped growing */
    /* what is wanted */
    NOTIFY_PLACE, /* another place is to be seen: what it shows is to be asked for */
    NOTIFY_ROWS, /* the same, of other lines or by another time: the map is another one, too */
    NOTIFY_RESTORED, /* a place of before is back, with what was selected there */
    NOTIFY_VISIBLE_PART, /* another part of the scene is seen */
    NOTIFY_LOOK, /* the same scene looks different now */
    NOTIFY_ACTIONS, /* what is switched on, or what can be done, has changed */
    NOTIFY_SETTINGS, /* a setting has changed */
};

/* Who hears of them. */
struct listener {
    void (*on_notification)(void *user, enum notification news);
    void *user;
};

static inline void notify_listener(const struct listener *to, enum notification what)
{
    to->on_notification(to->user, what);
}

#endif
