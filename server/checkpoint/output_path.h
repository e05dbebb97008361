/* The file or directory that a server writes its runs to, prepared when it starts. */
#ifndef SERVER_CHECKPOINT_OUTPUT_PATH_H
#define SERVER_CHECKPOINT_OUTPUT_PATH_H

#include "wire/endpoint.h"

#include <stdbool.h>

/* Creates the directory DIR/, or makes way for FILE: an existing file must be a trace and is
 * overwritten.  If its server was killed and it holds data that no agent will resend, it is kept
 * under another name. output NULL: does nothing.  Returns false with the reason in *error. */
bool output_path_clear(const char *output, struct error *error);
/* Returns whether `output` is a trace file that its server did not complete and whose data came
 * from agents alone. */
bool output_path_holds_sent(const char *output);
bool output_path_is_written(const char *path); /* returns whether a server writes it now */
/* Renames a file; returns the new name (the caller frees it), or NULL with *error set. */
char *output_path_set_aside(const char *path, const char *reason, struct error *error);

#endif
