/* The viewer: one window on one run, live or not, made of parts that own what they know.
 *
 * It never holds the order.  The link (link.h) asks for windows of placed events; the picture
 * (picture.h) makes a scene of each answer, which stands on the stage (stage.h) and is seen through
 * the camera (camera.h).  What is seen is a place; whatever changes it marks it in the history
 * (history.h) and tells news (news.h), from which window.c does what follows.  Everything runs in
 * GTK's thread, but for the opening of a source.
 *
 * A part touches its own members; link, stage, camera, history, ties, finder, status and
 * settings know no others than those they are given.  What ties several of them together takes
 * the whole. */
#ifndef CLIENTS_VIEW_PICTURE_VIEW_H
#define CLIENTS_VIEW_PICTURE_VIEW_H

#include "clients/view/parts/camera.h"
#include "clients/view/parts/finder.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/link.h"
#include "clients/view/parts/marked.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/noted.h"
#include "clients/view/parts/settings.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/parts/ties.h"
#include "clients/view/parts/toast.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/colour.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/map.h"
#include "clients/view/picture/picture.h"
#include "clients/view/picture/pointer.h"
#include "clients/view/picture/scroll.h"
#include "clients/view/picture/step.h"
#include "clients/view/picture/stops.h"
#include "clients/view/picture/timescale.h"

struct view {
    struct listener news; /* told by all, taken by window.c */
    struct settings settings;
    struct link link;
    struct stage stage;
    struct camera camera;
    struct history history;
    struct ties ties;
    struct finder finder;
    struct noted noted;
    struct marked marked;
    struct picture picture;
    struct colour colour;
    struct far far;
    struct map map;
    struct bar bar;
    struct pointer pointer;
    struct scroll scroll;
    struct step step;
    struct stops stops;
    struct timescale timescale;
    struct status status;
    struct toast toast;
    bool newer_waits; /* newer.c: there is a newer run, which was told but is not shown */
    GtkWidget *window, *canvas, *legend;
    /* of the files of these names, which alone know what is in there */
    struct session *session;
    struct patience *patience;
    struct runs *runs;
    struct header *header;
    struct heard *heard;
    struct welcome *welcome;
    struct printing *printing;
    struct fetch *fetch;
    struct card *card;
    struct seek *seek;
    struct focus *focus;
    struct drawer *drawer;
    struct axis *axis;
    struct reason *reason;
    struct thick *thick;
    struct tint *tint;
    struct lives *lives;
    struct trail *trail;
    struct lit *lit;
    struct farlit *farlit;
    struct bands *bands;
    GMenu *recent; /* menu.c */
    GSubprocess *exporting; /* save.c */
    GtkWidget *stack; /* window.c, welcome.c: the picture or the page that is there instead */
    GtkWidget *panel, *panels; /* panels/: the side panel, and the stack of its pages */
};

/* The book of the run. */
static inline struct book *the_book(struct view *view) { return link_book(&view->link); }

#endif
