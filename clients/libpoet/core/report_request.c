#define _GNU_SOURCE
#include "clients/libpoet/core/report_request.h"

#include "clients/libpoet/core/environment.h"
#include "wire/program_messages.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns NULL if none is wanted. */
static const char *report_request_get_path(void)
{
    const char *value = environment_get("POET_REPORT");
    return value && *value && strcmp(value, "0") != 0 ? value : NULL;
}

bool report_request_is_stderr(void)
{
    const char *value = report_request_get_path();
    return value && strcmp(value, "1") == 0;
}

const char *report_request_agent_message(void)
{
    if (!report_request_get_path())
        return NULL;
    environment_unset("POET_REPORT");
    return "POET_REPORT: an agent has only a part of the run; run poet report on the server's host";
}

/* The server may be in another directory. */
static bool report_request_absolute_path(const char *value, char *path, size_t size)
{
    /* once in a lifetime of the process, under the lock of its beginning */
    static char here[PATH_MAX];
    if (*value != '/' && !getcwd(here, sizeof here))
        return false;
    int n = *value == '/' ? snprintf(path, size, "%s", value)
                          : snprintf(path, size, "%s/%s", here, value);
    return n > 0 && (size_t)n < size;
}

const char *report_request_announce(struct encoder *out, bool own)
{
    static char path[LIMIT_TEXT_BYTES];
    const char *value = report_request_get_path();
    if (!value)
        return NULL;
    *path = 0;
    if (report_request_is_stderr() && !own)
        return "POET_REPORT=1: requires a private server; specify a file instead";
    if (!report_request_is_stderr() && !report_request_absolute_path(value, path, sizeof path))
        return "POET_REPORT: the name of the file is too long";
    encoder_begin_message(out, MESSAGE_REPORT);
    encode_report(out, &(struct report_message){text_view_of(path)});
    encoder_end_message(out);
    return NULL;
}
