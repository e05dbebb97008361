/* What the parts of the viewer tell when they have changed, so that none of them has to know who
 * wants to hear of it.
 *
 * window.c hears all news, does what follows and hands them on to the panels. */
#ifndef CLIENTS_VIEW_PARTS_NEWS_H
#define CLIENTS_VIEW_PARTS_NEWS_H

enum news {
    /* what is known */
    NEWS_SHOWN,    /* told to one panel alone: its page is looked at now */
    NEWS_SELECTED, /* another event is selected, or none */
    NEWS_PICTURE,  /* there is another picture, or other names in it */
    NEWS_STANDS,   /* how what is seen stands to the selected event is known */
    NEWS_RELATED, /* how the selected events stand to each other and to all others is known better */
    NEWS_HITS, /* the finder has other hits, or has got further */
    NEWS_NOTES, /* others are written at events, or it is known better where they are */
    NEWS_REASON, /* why a wait took so long is known, or another one is asked about */
    NEWS_GROWN, /* the log is longer */
    NEWS_WAITS, /* who waits is known anew */
    NEWS_QUIET, /* a run has begun to be shown, or has stopped growing */
    /* what is wanted */
    NEWS_PLACE, /* another place is to be seen: what it shows is to be asked for */
    NEWS_ROWS, /* the same, of other lines or by another time: the map is another one, too */
    NEWS_RESTORED, /* a place of before is back, with what was selected there */
    NEWS_SEEN, /* another part of the scene is seen */
    NEWS_LOOK, /* the same scene looks different now */
    NEWS_SWITCHES, /* what is switched on, or what can be done, has changed */
    NEWS_SETTINGS, /* a setting has changed */
};

/* Who hears of them. */
struct listener {
    void (*take)(void *user, enum news news);
    void *user;
};

static inline void news_tell(const struct listener *to, enum news what)
{
    to->take(to->user, what);
}

#endif
