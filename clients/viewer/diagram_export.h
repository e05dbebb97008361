/* The settings for saving a diagram: the part of the run and the format; and the command, `poet
 * export`, that saves it.
 *
 * The last choice is kept in the group `save` of $XDG_CONFIG_HOME/poet/view.conf, next to the
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
    enum export_format format; /* of a preview; otherwise the file name determines it */
    enum export_range range;
    enum export_size size;
    int paper; /* index in export_papers */
    char *last; /* as typed: number of columns */
    char *width; /* as typed: in mm, or with a unit */
    char *caption; /* "": none; not kept, since it belongs to one diagram */
    bool grey, dark, title, legend, notes;
};

/* The argument of `poet export --paper`; the displayed name; the size. */
struct export_paper {
    const char *name, *words, *size;
};
extern const struct export_paper export_papers[EXPORT_PAPERS];

void diagram_export_load(struct diagram_export *diagram); /* loads the last choice */
void diagram_export_save(const struct diagram_export *diagram);
/* Sets what is saved: the visible part or the whole run, with its present appearance. */
void diagram_export_of_view(const struct view *view, struct diagram_export *diagram, bool whole);
void diagram_export_free(struct diagram_export *diagram); /* leaves it empty */

/* Returns NULL, or why there is no such range in this view. */
const char *diagram_export_range_problem(const struct view *view, enum export_range range);
/* Returns NULL, or what is wrong with a typed number. */
const char *diagram_export_last_problem(const char *last);
const char *diagram_export_width_problem(const char *width);
const char *diagram_export_suffix(enum export_format format); /* ".pdf" */
bool diagram_export_suffix_of(const char *file, enum export_format *format);

/* Starts the command, with its error messages in a pipe. *view_file: a temporary view file, to be
 * deleted when the command has ended; the caller frees the name. few: for a preview of a whole run,
 * maximum number of columns; 0: no limit. Returns NULL on failure. */
GSubprocess *diagram_export_start(struct view *view, const struct diagram_export *diagram,
                                  const char *file, unsigned few, char **view_file, GError **error);
/* Returns the command's error message without its name: a part of the text. */
const char *diagram_export_strip_prefix(const char *complaints);
/* as a command argument; the caller frees it */
char *diagram_export_source_name(struct view *view);

#endif
