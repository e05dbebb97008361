/* The viewer: one window on one run, live or not, made of parts that own what they know.
 *
 * It never holds the order.  The link (link.h) asks for windows of placed events; the picture (picture.h) makes a
 * scene of each answer, which stands on the stage (stage.h) and is seen through the camera (camera.h).  What is
 * seen is a place; whatever changes it marks it in the history (history.h) and tells news (news.h), from which
 * window.c does what follows.  Everything runs in GTK's thread, but for the opening of a source.
 *
 * A part touches its own members; link, stage, camera, history, ties, finder, status and settings know no
 * others than those they are given.  What ties several of them together takes the whole. */
#ifndef CLIENTS_VIEW_VIEW_H
#define CLIENTS_VIEW_VIEW_H

#include "clients/view/action.h"
#include "clients/view/bar.h"
#include "clients/view/camera.h"
#include "clients/view/colour.h"
#include "clients/view/far.h"
#include "clients/view/finder.h"
#include "clients/view/header.h"
#include "clients/view/history.h"
#include "clients/view/link.h"
#include "clients/view/map.h"
#include "clients/view/news.h"
#include "clients/view/patience.h"
#include "clients/view/picture.h"
#include "clients/view/pointer.h"
#include "clients/view/runs.h"
#include "clients/view/scroll.h"
#include "clients/view/session.h"
#include "clients/view/settings.h"
#include "clients/view/stage.h"
#include "clients/view/status.h"
#include "clients/view/step.h"
#include "clients/view/ties.h"
#include "clients/view/timescale.h"
#include "clients/view/welcome.h"

struct view {
    struct listener news; /* told by all, taken by window.c */
    struct settings settings;
    struct link link;
    struct session session;
    struct runs runs;
    struct patience patience;
    struct stage stage;
    struct camera camera;
    struct history history;
    struct ties ties;
    struct finder finder;
    struct picture picture;
    struct colour colour;
    struct far far;
    struct map map;
    struct bar bar;
    struct pointer pointer;
    struct scroll scroll;
    struct step step;
    struct timescale timescale;
    struct actions actions;
    struct status status;
    struct header header;
    struct welcome welcome;
    struct printing *printing;  /* print.c */
    struct fetch *fetch;        /* fetch.c */
    GSubprocess *exporting;     /* save.c */
    GtkWidget *panel, *panels;  /* panels/panel.c: the side panel, and the stack of its pages */
    GtkWidget *window, *stack, *canvas, *legend;
};

/* The book of the run. */
static inline struct book *the_book(struct view *view) { return link_book(&view->link); }

#endif
