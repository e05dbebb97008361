/* Views in files: what is seen, saved and loaded; and how lines were arranged, for the next run
 * of the program. */
#ifndef CLIENTS_VIEW_VIEWS_H
#define CLIENTS_VIEW_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

struct look;
struct view;

/* What is seen.  False: it could not, which was said. */
bool views_write(struct view *view, const char *file);
/* With that look; columns: so many at the begin of the run instead, 0: what is seen. */
bool views_write_as(struct view *view, const char *file, const struct look *look, uint32_t columns);
void views_save(struct view *view); /* asks where */
void views_load(struct view *view);
char *views_directory(void); /* the caller's */
void views_keep_arrangement(struct view *view); /* for the next run of the program */
void views_offer_arrangement(struct view *view);
void views_apply_arrangement(struct view *view);

#endif
