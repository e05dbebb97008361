#define _GNU_SOURCE
#include "clients/trace/replay/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fits(uint64_t at, uint64_t count, uint64_t each, uint64_t bytes)
{
    return at <= bytes && count <= (bytes - at) / each;
}

/* What is wrong with it; NULL: nothing. */
static const char *look_at(const struct script_head *s, uint64_t bytes)
{
    if (bytes < sizeof *s || s->magic != SCRIPT_MAGIC || s->bytes != bytes)
        return "no script";
    if (s->version != SCRIPT_VERSION)
        return "made by another version of Poet";
    if (!fits(s->lines_at, s->line_count + 1ull, sizeof(struct script_line), bytes) ||
        !fits(s->events_at, s->event_count, sizeof(struct script_event), bytes) ||
        !fits(s->types_at, s->type_count, SCRIPT_NAME_BYTES, bytes) ||
        !fits(s->stops_at, s->line_count + 1ull, sizeof(struct script_stop), bytes) ||
        s->main > s->line_count || s->type_count >= SCRIPT_NO_TYPE || s->lines_at % 64 ||
        s->stops_at % 64 || s->events_at % 8)
        return "damaged";
    const struct script_line *lines = (const void *)((const char *)s + s->lines_at);
    for (uint32_t i = 0; i <= s->line_count; i++)
        if (!fits(lines[i].first, lines[i].count, 1, s->event_count))
            return "damaged";
    return NULL;
}

static struct script_head *map(const char *path, uint64_t *bytes)
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

struct script_head *reading_open(const char *path, const char **wrong)
{
    uint64_t bytes = 0;
    struct script_head *s = map(path, &bytes);
    *wrong = s ? look_at(s, bytes) : strerror(errno);
    if (s && *wrong)
        munmap(s, bytes);
    return *wrong ? NULL : s;
}
