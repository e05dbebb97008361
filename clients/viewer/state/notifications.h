/* Notifications that the parts of the viewer send when they have changed, so that they need not
 * know their receivers. */
#ifndef CLIENTS_VIEWER_STATE_NOTIFICATIONS_H
#define CLIENTS_VIEWER_STATE_NOTIFICATIONS_H

#include <assert.h>
#include <stdint.h>

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
    NOTIFY_RANGE, /* another range of time is selected, or none */
    NOTIFY_RESTORED, /* an earlier view state was restored, with its selection */
    NOTIFY_VISIBLE_PART, /* another part of the scene is visible */
    NOTIFY_LOOK, /* the appearance of the scene has changed */
    NOTIFY_ACTIONS, /* toggles, or the available actions, have changed */
    NOTIFY_SETTINGS, /* a setting has changed */
};

#define NOTIFY_BIT(what) (1u << (what))
#define NOTIFY_ALL (~0u)

/* When a receiver gets a notification: those that drop what is outdated come first, those that
 * request and draw the diagram last. Within a stage, receivers follow each other as connected. */
enum notify_stage { NOTIFY_FIRST, NOTIFY_MIDDLE, NOTIFY_LAST };

struct view;
typedef void notify_receiver(struct view *view, enum notification what);

#define NOTIFIER_RECEIVERS 32

struct notifier {
    struct view *view; /* passed to the receivers */
    struct {
        enum notify_stage stage;
        uint32_t whats; /* set of NOTIFY_BIT() */
        notify_receiver *receive;
    } receivers[NOTIFIER_RECEIVERS];
    unsigned count;
};

/* Connects a receiver to a set of notifications, as each part of the viewer does when it is built.
 */
static inline void notifier_connect(struct notifier *notifier, enum notify_stage stage,
                                    uint32_t whats, notify_receiver *receive)
{
    assert(notifier->count < NOTIFIER_RECEIVERS);
    unsigned at = notifier->count++;
    for (; at > 0 && notifier->receivers[at - 1].stage > stage; at--)
        notifier->receivers[at] = notifier->receivers[at - 1];
    notifier->receivers[at].stage = stage;
    notifier->receivers[at].whats = whats;
    notifier->receivers[at].receive = receive;
}

/* Calls the receivers of the notification, which may send others meanwhile. */
static inline void notifier_emit(const struct notifier *notifier, enum notification what)
{
    for (unsigned i = 0; i < notifier->count; i++)
        if (notifier->receivers[i].whats & NOTIFY_BIT(what))
            notifier->receivers[i].receive(notifier->view, what);
}

#endif
