/* Saved views: view states in files. */
#ifndef CLIENTS_CONNECTION_VIEW_FILE_H
#define CLIENTS_CONNECTION_VIEW_FILE_H

#include "clients/connection/view_state.h"

#include <stdio.h>

/* Write and read a view. Reading omits lines that do not exist; a view of another run gets only its
 * rows. */
bool view_file_write(const struct view_state *place, const struct view_style *look,
                     const struct trace_metadata *book, struct symbolizer *sites, FILE *f);
bool view_file_read(struct view_state *place, struct view_style *look,
                    const struct trace_metadata *book, struct symbolizer *sites, const char *file,
                    struct error *error);

#endif
