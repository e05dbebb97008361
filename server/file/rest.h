/* What has ended and nobody asks for takes no memory and no descriptors. */
#ifndef SERVER_FILE_REST_H
#define SERVER_FILE_REST_H

#include "server/file/runs.h"

/* Puts runs to rest, apart from those asked for last. */
void rest_finished(struct runs *runs);
/* A run of the server, read again if it was put to rest; NULL with a reason. */
struct run *rest_wake(struct runs *runs, size_t index, const char **why);

/* Says which files were deleted while they are written. */
void rest_look(struct runs *runs);

#endif
