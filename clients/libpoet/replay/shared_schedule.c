#define _GNU_SOURCE
#include "clients/libpoet/replay/shared_schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- validation ---- */

static bool shared_schedule_check_range(uint64_t at, uint64_t count, uint64_t each, uint64_t bytes)
{
    return at <= bytes && count <= (bytes - at) / each;
}

static bool shared_schedule_check_parts(const struct schedule_head *s)
{
    return shared_schedule_check_range(s->lines_at, s->line_count + 1ull,
                                       sizeof(struct schedule_line), s->bytes) &&
           shared_schedule_check_range(s->events_at, s->event_count, sizeof(struct schedule_event),
                                       s->bytes) &&
           shared_schedule_check_range(s->types_at, s->type_count, SCHEDULE_NAME_BYTES, s->bytes) &&
           shared_schedule_check_range(s->stops_at, s->line_count + 1ull,
                                       sizeof(struct schedule_breakpoint), s->bytes) &&
           shared_schedule_check_range(s->order_at, s->event_count, sizeof(uint32_t), s->bytes) &&
           s->order_at % 4 == 0 && s->lines_at % 64 == 0 && s->stops_at % 64 == 0 &&
           s->events_at % 8 == 0;
}

static bool shared_schedule_check_lines(const struct schedule_head *s)
{
    const struct schedule_line *lines = (const void *)((const char *)s + s->lines_at);
    for (uint64_t i = 0; i <= s->line_count; i++)
        if (!shared_schedule_check_range(lines[i].first, lines[i].count, 1, s->event_count))
            return false;
    return s->main <= s->line_count;
}

static bool shared_schedule_check_types(const struct schedule_head *s)
{
    const char *names = (const char *)s + s->types_at;
    for (uint32_t i = 0; i < s->type_count; i++)
        if (names[(i + 1ull) * SCHEDULE_NAME_BYTES - 1])
            return false;
    return s->type_count < SCRIPT_NO_TYPE;
}

const char *shared_schedule_validate(const struct schedule_head *s, uint64_t bytes)
{
    if (bytes < sizeof *s || s->magic != SCHEDULE_MAGIC || s->bytes != bytes)
        return "invalid schedule file";
    if (s->version != SCHEDULE_VERSION)
        return "created by a different version of Poet";
    return shared_schedule_check_parts(s) && shared_schedule_check_lines(s) &&
                   shared_schedule_check_types(s)
               ? NULL
               : "damaged";
}

/* ---- its file ---- */

static struct schedule_head *shared_schedule_map(const char *path, uint64_t *bytes)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    void *s = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        *bytes = (uint64_t)st.st_size;
        s = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    return s == MAP_FAILED ? NULL : s;
}

struct schedule_head *shared_schedule_open(const char *path, const char **why)
{
    uint64_t bytes = 0;
    struct schedule_head *s = shared_schedule_map(path, &bytes);
    *why = s ? shared_schedule_validate(s, bytes) : strerror(errno);
    if (s && *why)
        munmap(s, bytes);
    return *why ? NULL : s;
}
