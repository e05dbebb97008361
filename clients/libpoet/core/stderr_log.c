/* Messages on standard error, printed once in a tree of processes. */
#define _GNU_SOURCE
#include "clients/libpoet/core/stderr_log.h"

#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/environment.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What standard error was at the start: later the number may belong to another file. */
static struct stat error_output;
static bool has_error_output;
/* The program has not begun: the environment is not its own yet. */
static bool beginning;

void stderr_log_begin(void)
{
    has_error_output = fstat(STDERR_FILENO, &error_output) == 0;
    beginning = true;
}

void stderr_log_begun(void) { beginning = false; }

static bool stderr_log_allowed(void)
{
    struct stat st;
    return seccomp_allows(ALLOWED_SAYING) && has_error_output && fstat(STDERR_FILENO, &st) == 0 &&
           st.st_dev == error_output.st_dev && st.st_ino == error_output.st_ino &&
           !environment_get("POET_QUIET");
}

#define STDERR_LOG_BYTES 768

/* Returns the size of the formatted line, with room for its end; 0: none. */
static size_t stderr_log_format(char line[STDERR_LOG_BYTES], const char *format, va_list ap)
{
    memcpy(line, "poet: ", 7);
    return vsnprintf(line + 6, STDERR_LOG_BYTES - 8, format, ap) < 0 ? 0 : strlen(line);
}

static void stderr_log_write(char line[STDERR_LOG_BYTES], size_t size)
{
    line[size++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, size);
    (void)ignored;
}

/* ---- once in a tree of processes ---- */

#define STDERR_LOG_PRINTED "POET_SAID"
/* of one sentence: a hash in hexadecimal, and a comma */
#define STDERR_LOG_MARK_BYTES 9
#define STDERR_LOG_MARKS 16

static void stderr_log_mark(const char *line, char mark[STDERR_LOG_MARK_BYTES + 1])
{
    uint32_t hash = 2166136261u;
    for (const char *p = line; *p; p++)
        hash = (hash ^ (uint8_t)*p) * 16777619u;
    snprintf(mark, STDERR_LOG_MARK_BYTES + 1, "%08x,", hash);
}

/* Returns whether this process or an ancestor has printed it; marks it for those that this one
 * starts. */
static bool stderr_log_was_printed(const char *line)
{
    char mark[STDERR_LOG_MARK_BYTES + 1], marks[STDERR_LOG_MARK_BYTES * STDERR_LOG_MARKS + 1];
    const char *printed = environment_get(STDERR_LOG_PRINTED);
    stderr_log_mark(line, mark);
    if (printed && strstr(printed, mark))
        return true;
    size_t size = printed ? strlen(printed) : 0;
    if (!beginning || size + sizeof mark > sizeof marks)
        return false;
    snprintf(marks, sizeof marks, "%s%s", printed ? printed : "", mark);
    environment_set(STDERR_LOG_PRINTED, marks);
    return false;
}

/* ---- printing ---- */

static void stderr_log_print_list(bool once, const char *format, va_list ap)
{
    char line[STDERR_LOG_BYTES];
    size_t size = stderr_log_allowed() ? stderr_log_format(line, format, ap) : 0;
    if (size && !(once && stderr_log_was_printed(line)))
        stderr_log_write(line, size);
}

void stderr_log_print(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    stderr_log_print_list(false, format, ap);
    va_end(ap);
}

void stderr_log_print_once(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    stderr_log_print_list(true, format, ap);
    va_end(ap);
}
