/* Views in files: what is seen, saved and loaded; and how lines were arranged, for the next run
 * of the program. */
#ifndef CLIENTS_VIEWER_SAVED_VIEWS_H
#define CLIENTS_VIEWER_SAVED_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

struct view_style;
struct view;

/* What is seen.  False: it could not, which was said. */
bool saved_views_write(struct view *view, const char *file);
/* With that look; columns: so many at the begin of the run instead, 0: what is seen. */
bool saved_views_write_as(struct view *view, const char *file, const struct view_style *look,
                          uint32_t columns);
void saved_views_save(struct view *view); /* asks where */
void saved_views_load(struct view *view);
char *saved_views_directory(void); /* the caller's */
void saved_views_keep_arrangement(struct view *view); /* for the next run of the program */
void saved_views_offer_arrangement(struct view *view);
void saved_views_apply_arrangement(struct view *view);

#endif
