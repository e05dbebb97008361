/* A diagram that is to be saved: which part of the run, in which form; and the command, `poet
 * export`, that makes it.
 *
 * What was chosen is kept in the group `save` of $XDG_CONFIG_HOME/poet/view.conf, beside the
 * settings. */
#ifndef CLIENTS_VIEWER_DIAGRAM_EXPORT_H
#define CLIENTS_VIEWER_DIAGRAM_EXPORT_H

#include <gio/gio.h>
#include <stdbool.h>

struct view;

enum export_format { EXPORT_PDF, EXPORT_SVG, EXPORT_PNG, EXPORT_TEXT, EXPORT_PAGE };
enum export_range { EXPORT_SEEN, EXPORT_WHOLE, EXPORT_SELECTED, EXPORT_NOTES, EXPORT_LAST };
enum export_size { EXPORT_AS_DRAWN, EXPORT_WIDTH, EXPORT_PAPER };
#define EXPORT_FORMATS 5
#define EXPORT_RANGES 5
#define EXPORT_SIZES 3
#define EXPORT_PAPERS 4

struct diagram_export {
    enum export_format format; /* of a preview; else the name of the file says it */
    enum export_range range;
    enum export_size size;
    int paper; /* which of export_papers */
    char *last; /* as typed: how many columns */
    char *width; /* as typed: mm, or with another unit */
    char *caption; /* "": none; not kept, it belongs to one picture */
    bool grey, dark, title, legend, notes;
};

/* As `poet export --paper` calls them; for people; how large they are. */
struct export_paper {
    const char *name, *words, *size;
};
extern const struct export_paper export_papers[EXPORT_PAPERS];

void diagram_export_load(struct diagram_export *diagram); /* as it was chosen the last time */
void diagram_export_save(const struct diagram_export *diagram);
/* What is seen, or the whole run, as it is seen. */
void diagram_export_of_view(const struct view *view, struct diagram_export *diagram, bool whole);
void diagram_export_free(struct diagram_export *diagram); /* empties it */

/* NULL, or why there is no such range in this view. */
const char *diagram_export_range_problem(const struct view *view, enum export_range range);
/* NULL, or what is wrong with a number that was typed. */
const char *diagram_export_last_problem(const char *last);
const char *diagram_export_width_problem(const char *width);
const char *diagram_export_suffix(enum export_format format); /* ".pdf" */
bool diagram_export_suffix_of(const char *file, enum export_format *format);

/* Runs the command, its complaints in a pipe.  *view_file: a file of its own, which goes once it
 * ended; the caller's.  few: a preview, of no more than so many columns where the whole run is
 * wanted; 0: as it is.  NULL: it could not. */
GSubprocess *diagram_export_start(struct view *view, const struct diagram_export *diagram,
                                  const char *file, unsigned few, char **view_file, GError **error);
/* What the command complained of, without its name before it: a part of the text. */
const char *diagram_export_strip_prefix(const char *complaints);
char *diagram_export_source_name(struct view *view); /* as a command is given it; the caller's */

#endif
