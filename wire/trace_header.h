/* Fields of the trace file header that are read without opening the file (docs/tracefile.md). */
#ifndef WIRE_TRACE_HEADER_H
#define WIRE_TRACE_HEADER_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TRACEHEAD_MAGIC "POETFILE"
#define TRACEHEAD_FORMER_MAGIC "POETRACE" /* of traces that can only be deleted or replaced */
#define TRACEHEAD_MAGIC_BYTES 8u
#define TRACEHEAD_BYTES 128u
/* u64: start of the run, in ns since 1970, and its complement; or zeros: unknown */
#define TRACEHEAD_BEGUN_AT 98u
#define TRACEHEAD_BEGUN_BYTES 16u

/* Returns why a file with these TRACEHEAD_MAGIC_BYTES cannot be read, or NULL. */
static inline const char *tracehead_error(const void *head)
{
    return memcmp(head, TRACEHEAD_MAGIC, TRACEHEAD_MAGIC_BYTES) == 0 ? NULL
           : memcmp(head, TRACEHEAD_FORMER_MAGIC, TRACEHEAD_MAGIC_BYTES) == 0
               ? "written by an older version of Poet"
               : "not a Poet trace file";
}

/* Returns whether it is a trace, possibly of an older version. */
static inline bool tracehead_is_trace(const void *head)
{
    return memcmp(head, TRACEHEAD_MAGIC, TRACEHEAD_MAGIC_BYTES) == 0 ||
           memcmp(head, TRACEHEAD_FORMER_MAGIC, TRACEHEAD_MAGIC_BYTES) == 0;
}

/* Files that belong to a trace, and lie beside it. */
#define TRACEHEAD_NOTES "notes" /* clients/connection/note_file.h */
#define TRACEHEAD_RESULTS "results" /* server/queries/result_file.h */
#define TRACEHEAD_BESIDE_BYTES 16u /* maximum by which their paths are longer, with the NUL */

/* Writes the path of one of these files: "x.poet-notes" for x.poet, "trace.poet-notes" for
 * trace. */
static inline void tracehead_beside(char *path, size_t size, const char *trace, const char *what)
{
    size_t n = strlen(trace);
    bool named = n > 5 && strcmp(trace + n - 5, ".poet") == 0;
    snprintf(path, size, "%s%s-%s", trace, named ? "" : ".poet", what);
}

#endif
