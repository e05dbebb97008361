/* What a server's runs are written to, when it starts. */
#ifndef SERVER_CHECKPOINT_OUTPUT_PATH_H
#define SERVER_CHECKPOINT_OUTPUT_PATH_H

#include "wire/endpoint.h"

#include <stdbool.h>

/* Makes the directory DIR/, or makes way for FILE: one that is there must be a trace, and is
 * written anew.  Where its server was killed and it holds what no agent sends again it is kept
 * under another name.  NULL: neither.  False: *error says why. */
bool output_path_clear(const char *output, struct error *error);
/* Is it a trace file that its server did not end, and that agents alone told? */
bool output_path_holds_sent(const char *output);
bool output_path_is_written(const char *path); /* by a server, now */
/* Keeps a file under another name, which it returns (caller frees); NULL: it cannot, and *error
 * says why. */
char *output_path_set_aside(const char *path, const char *reason, struct error *error);

#endif
