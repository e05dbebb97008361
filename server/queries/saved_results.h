/* Saved results: results of requests about a run that has ended, as they were computed before, in a
 * file beside its trace (server/queries/result_file.h).
 *
 * They answer the same request again in a few milliseconds, in this server or a later one.  A
 * result counts only for the same trace, unchanged, and the same build of the server.  Results
 * about short runs, which are computed as fast, and about damaged ones are not saved. */
#ifndef SERVER_QUERIES_SAVED_RESULTS_H
#define SERVER_QUERIES_SAVED_RESULTS_H

#include "server/run/run.h"
#include "wire/message.h"
#include "wire/request.h"

/* Returns whether results about the run are saved: it is long, and is in its file, undamaged, as it
 * remains. */
bool saved_results_apply(const struct run *run);
/* Returns the saved result of a request, given as its type and its encoded body, in new memory, and
 * sets *size; NULL if there is none. */
uint8_t *saved_result_read(const struct run *run, enum request_type type,
                           const struct encoder *request, size_t *size);
/* Saves the complete result of a request, if possible. */
void saved_result_write(const struct run *run, enum request_type type,
                        const struct encoder *request, const struct encoder *result);

#endif
