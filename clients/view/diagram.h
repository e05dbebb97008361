/* A diagram that is to be saved: which part of the run, in which form; and the command, `poet export`, that makes it.
 *
 * What was chosen is kept in the group `save` of $XDG_CONFIG_HOME/poet/view.conf, beside the settings. */
#ifndef CLIENTS_VIEW_DIAGRAM_H
#define CLIENTS_VIEW_DIAGRAM_H

#include <gio/gio.h>
#include <stdbool.h>

struct view;

enum diagram_format { DIAGRAM_PDF, DIAGRAM_SVG, DIAGRAM_PNG, DIAGRAM_TEXT, DIAGRAM_PAGE };
enum diagram_range { DIAGRAM_SEEN, DIAGRAM_WHOLE, DIAGRAM_SELECTED, DIAGRAM_NOTES, DIAGRAM_LAST };
enum diagram_size { DIAGRAM_AS_DRAWN, DIAGRAM_WIDTH, DIAGRAM_PAPER };
#define DIAGRAM_FORMATS 5
#define DIAGRAM_RANGES 5
#define DIAGRAM_SIZES 3
#define DIAGRAM_PAPERS 4

struct diagram {
    enum diagram_format format; /* of a preview; else the name of the file says it */
    enum diagram_range range;
    enum diagram_size size;
    int paper; /* which of diagram_papers */
    char *last; /* as typed: how many columns */
    char *width; /* as typed: mm, or with another unit */
    char *caption; /* "": none; not kept, it belongs to one picture */
    bool grey, dark, title, legend, notes;
};

/* As `poet export --paper` calls them; for people; how large they are. */
struct diagram_paper {
    const char *name, *words, *size;
};
extern const struct diagram_paper diagram_papers[DIAGRAM_PAPERS];

void diagram_load(struct diagram *diagram); /* as it was chosen the last time */
void diagram_keep(const struct diagram *diagram);
/* What is seen, or the whole run, as it is seen. */
void diagram_as_seen(const struct view *view, struct diagram *diagram, bool whole);
void diagram_free(struct diagram *diagram); /* empties it */

/* NULL, or why there is no such range in this view. */
const char *diagram_no_range(const struct view *view, enum diagram_range range);
/* NULL, or what is wrong with a number that was typed. */
const char *diagram_wrong_last(const char *last);
const char *diagram_wrong_width(const char *width);
const char *diagram_ending(enum diagram_format format); /* ".pdf" */
bool diagram_ending_of(const char *file, enum diagram_format *format);

/* Runs the command, its complaints in a pipe.  *view_file: a file of its own, which goes once it ended; the caller's.
 * few: a preview, of no more than so many columns where the whole run is wanted; 0: as it is.  NULL: it could not. */
GSubprocess *diagram_start(struct view *view, const struct diagram *diagram, const char *file,
                           unsigned few, char **view_file, GError **error);
/* What the command complained of, without its name before it: a part of the text. */
const char *diagram_plainly(const char *complaints);
char *diagram_source(struct view *view); /* as a command is given it; the caller's */

#endif
