#include "server/eventloop/server_log.h"

#include "wire/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void server_log(const char *format, ...)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm tm;
    strftime(stamp, sizeof stamp, "%H:%M:%S", localtime_r(&now, &tm));
    char text[2048];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    text_mask(text); /* names of files and peers are in it */
    fprintf(stderr, "%s poet server: %s\n", stamp, text);
}
