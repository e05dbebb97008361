/* What a server's runs are written to, when it starts. */
#ifndef SERVER_FILE_OUTPUT_H
#define SERVER_FILE_OUTPUT_H

#include <stdbool.h>

/* Makes the directory DIR/, or makes way for FILE: one that is there must be a trace, and is written anew.  Where its server was
 * killed and it holds what no agent sends again it is kept under another name.  NULL: neither.  False, and said why. */
bool output_clear(const char *output);

#endif
