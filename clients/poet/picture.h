/* A picture of a source: what is wanted of it (wanted.h reads the options), and the window that is asked for. */
#ifndef CLIENTS_POET_PICTURE_H
#define CLIENTS_POET_PICTURE_H

#include "clients/poet/command.h"
#include "clients/poet/subject.h"
#include "clients/source/notes.h"
#include "clients/source/place.h"
#include "render/carriers.h"
#include "render/scene.h"
#include "wire/placed.h"

struct picture {
    const struct command *command; /* for complaints about options */
    struct ref from, to, around; /* line 0: not asked for */
    unsigned last; /* columns at the end, 0 not asked for */
    const char *text; /* around the first event that bears it */
    const char *clusters[32]; /* as written with --cluster */
    unsigned cluster_count;
    uint8_t *joined; /* by row */
    uint64_t column_ns; /* --time: not 0 */
    bool by_time, scaled; /* scaled: it was said how long a column is */
    const char *lines; /* list of lines, NULL all */
    int fold; /* -1 by size, 0 off, 1 on */
    enum labels labels;
    const char *caption;
    bool no_title, no_legend, no_order_arrows, no_notes, all, vertical;
    const char *view; /* a file that says all of the above */
    struct place place; /* out of it */
    struct ref *chain; /* between its two selected events */
    uint32_t chain_count;
    struct ref *stuck; /* pairs: who waits in a deadlock, and what for; as of a paint_selection */
    uint32_t stuck_count; /* of refs */
    struct look look;
    struct window_request request; /* what was asked for last */
    struct shown_window window; /* the answer */
    struct notes notes; /* written at events of the run */
    struct scene_noted *noted; /* the same, for the scene */
    uint32_t *rows;
    uint32_t row_count;
    bool processors; /* which carrier ran what is wanted */
    struct carriers carriers; /* the answer */
    char title[256];
};

/* The same picture, other columns. */
bool picture_columns(const struct command *command, struct picture *picture,
                     struct subject *subject, int32_t from, uint32_t columns);
/* The same in two steps: the window that there is stays until subject_answered() is called. */
void picture_send(struct picture *picture, struct subject *subject, int32_t from, uint32_t columns,
                  struct subject_question *question);
/* Which lines must be known for it: patterns are matched with the names of all. */
enum source_lines picture_lines(const struct picture *picture);
/* A range was asked for, not all that there is. */
bool picture_has_range(const struct picture *picture);
#define PICTURE_NOTE_BYTES 400
/* How many events were discarded, how many lines have no row, and why: a line of text in `text`, or
 * "" if none were and all have one. */
void picture_note(const struct picture *picture, char *text, size_t size);
/* Asks for the window.  False with a complaint. */
bool picture_get(const struct command *command, struct picture *picture, struct subject *subject);
void picture_free(struct picture *picture);

#endif
