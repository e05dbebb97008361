#define _GNU_SOURCE
#include "clients/trace/core/report.h"

#include "clients/trace/core/environ.h"
#include "wire/told.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* NULL: none is wanted. */
static const char *wanted(void)
{
    const char *value = environment_get("POET_REPORT");
    return value && *value && strcmp(value, "0") != 0 ? value : NULL;
}

bool report_is_printed(void)
{
    const char *value = wanted();
    return value && strcmp(value, "1") == 0;
}

const char *report_by_agent(void)
{
    if (!wanted())
        return NULL;
    environment_unset("POET_REPORT");
    return "POET_REPORT: an agent makes no report, as it has a part of the run alone: when it has ended, poet report of "
           "the server's";
}

/* The server may be in another directory. */
static bool absolute(const char *value, char *path, size_t size)
{
    static char here[PATH_MAX]; /* once in a life of the process, under the lock of its beginning */
    if (*value != '/' && !getcwd(here, sizeof here))
        return false;
    int n = *value == '/' ? snprintf(path, size, "%s", value)
                          : snprintf(path, size, "%s/%s", here, value);
    return n > 0 && (size_t)n < size;
}

const char *report_announce(struct out *out, bool own)
{
    static char path[LIMIT_TEXT_BYTES];
    const char *value = wanted();
    if (!value)
        return NULL;
    *path = 0;
    if (report_is_printed() && !own)
        return "POET_REPORT=1 prints the report of a run with a server of its own: name a file "
               "instead";
    if (!report_is_printed() && !absolute(value, path, sizeof path))
        return "POET_REPORT: the name of the file is too long";
    out_begin(out, MESSAGE_REPORT);
    put_told_report(out, &(struct told_report){text_of(path)});
    out_end(out);
    return NULL;
}
