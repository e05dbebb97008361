/* The notes of the run that is shown, and where in it they are. */
#ifndef CLIENTS_VIEW_PARTS_NOTED_H
#define CLIENTS_VIEW_PARTS_NOTED_H

#include "clients/source/notes.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "render/scene.h"

struct noted {
    struct link *link; /* borrowed, as the next */
    const struct listener *news; /* told NEWS_NOTES */
    struct notes notes;
    struct scene_noted *scene; /* the same, for a scene */
    struct moment_of_note {
        uint64_t position; /* in the log; NO_POSITION: not known, or there is no such event */
        int64_t time_ns;
        bool asked;
    } *moments;
    /* private */
    struct inquiry asking;
    uint32_t asks; /* index of the one that is asked about */
};

/* Of another run.  False with one line in `error`: its notes are damaged. */
bool noted_open(struct noted *noted, struct error *error);
void noted_close(struct noted *noted);
enum notes_kept noted_set(struct noted *noted, struct ref at, const char *text,
                          struct error *error); /* as notes_set() */

#endif
