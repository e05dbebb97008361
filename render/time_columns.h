/* The columns of a scene that is placed by time.
 *
 * A window's column is a time interval. Its events are placed side by side in the order of their
 * times, each later time or order further right: a window's column with many events becomes several
 * columns of the scene, which all have its number. A long interval without events is one column,
 * drawn as a jag. */
#ifndef RENDER_TIME_COLUMNS_H
#define RENDER_TIME_COLUMNS_H

#include "render/scene_builder.h"

/* Sorts the marks and gives each the index of its column of the scene. Returns the extent of each
 * column, which the caller frees, and their number; b->cells, by column, is freed with the
 * builder. */
struct extent *time_columns_build(struct builder *b, struct laid_out_event *marks, uint32_t count,
                                  uint32_t *columns);
/* Returns the duration of `columns` columns of the window, ns. */
int64_t time_columns_long(const struct builder *b, int64_t columns);
/* Returns 1, 2 or 5 times a power of ten, at least `least`. */
int64_t time_columns_round(int64_t least);
/* Formats a time: "3.138 ms", in a unit that suits the time, with enough digits to distinguish
 * adjacent columns. */
void time_columns_print(int64_t ns, int64_t column_ns, char *text, size_t size);
/* Adds ticks where the columns begin, at round times. */
void time_columns_build_ruler(struct builder *b);

#endif
