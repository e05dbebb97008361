#define _GNU_SOURCE
#include "server/osmetrics/proc_files.h"

#include <string.h>

struct proc_values {
    struct usage_figure *items;
    size_t count, room;
};

static void proc_add_value(struct proc_values *figures, enum usage_meter meter, uint64_t value)
{
    if (figures->count < figures->room)
        figures->items[figures->count++] =
            (struct usage_figure){.meter = (uint8_t)meter, .value = value};
}

/* A number at *at, and the blanks before it; false: there is none, or it is too large. */
static bool proc_parse_number(const char **at, const char *end, uint64_t *value)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    if (*at == end || **at < '0' || **at > '9')
        return false;
    for (*value = 0; *at < end && **at >= '0' && **at <= '9'; ++*at)
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
            return false;
    return true;
}

static void skip_word(const char **at, const char *end)
{
    while (*at < end && **at == ' ')
        ++*at;
    while (*at < end && **at != ' ')
        ++*at;
}

static bool proc_scale(uint64_t value, uint64_t unit, uint64_t *result)
{
    return !__builtin_mul_overflow(value, unit, result);
}

/* After the name, which may have anything in it, and its closing bracket come words; the state is
 * the third of all. */
size_t proc_stat(const char *text, size_t size, struct proc_units units, struct usage_figure *to,
                 size_t room)
{
    static const struct {
        unsigned field;
        enum usage_meter meter;
    } wanted[] = {{10, USAGE_FAULTS},     {12, USAGE_MAJOR_FAULTS}, {14, USAGE_CPU_USER},
                  {15, USAGE_CPU_SYSTEM}, {20, USAGE_THREADS},      {24, USAGE_RESIDENT}};
    struct proc_values figures = {to, 0, room};
    const char *end = text + size, *at = size ? memrchr(text, ')', size) : NULL;
    if (!at)
        return 0;
    at++;
    unsigned field = 3;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        uint64_t value;
        for (; field < wanted[i].field; field++)
            skip_word(&at, end);
        field++;
        if (!proc_parse_number(&at, end, &value))
            break;
        bool time = wanted[i].meter == USAGE_CPU_USER || wanted[i].meter == USAGE_CPU_SYSTEM;
        uint64_t unit = time                                ? units.tick_ns
                        : wanted[i].meter == USAGE_RESIDENT ? units.page_bytes
                                                            : 1;
        if (proc_scale(value, unit, &value))
            proc_add_value(&figures, wanted[i].meter, value);
    }
    return figures.count;
}

/* What is behind "NAME:" at the begin of a line, up to its end; NULL: it is not there. */
static const char *line_of(const char *text, size_t size, const char *name, const char **line_end)
{
    size_t length = strlen(name);
    const char *at = text, *end = text + size;
    while (at < end) {
        *line_end = memchr(at, '\n', (size_t)(end - at));
        *line_end = *line_end ? *line_end : end;
        if ((size_t)(*line_end - at) > length && memcmp(at, name, length) == 0 && at[length] == ':')
            return at + length + 1;
        at = *line_end < end ? *line_end + 1 : end;
    }
    return NULL;
}

/* The number there; false: there is none. */
static bool proc_find_number(const char *text, size_t size, const char *name, uint64_t *value)
{
    const char *end, *at = line_of(text, size, name, &end);
    return at && proc_parse_number(&at, end, value);
}

size_t proc_status(const char *text, size_t size, bool *filtered, struct usage_figure *to,
                   size_t room)
{
    struct proc_values figures = {to, 0, room};
    uint64_t value;
    *filtered = !proc_find_number(text, size, "Seccomp", &value) || value != 0;
    if (proc_find_number(text, size, "VmHWM", &value) && proc_scale(value, 1024, &value))
        proc_add_value(&figures, USAGE_PEAK, value);
    return figures.count;
}

bool proc_same_numbers(const char *text, size_t size)
{
    uint64_t outside, inside;
    const char *end, *at = line_of(text, size, "NSpid", &end);
    return at && end < text + size && proc_parse_number(&at, end, &outside) &&
           !proc_parse_number(&at, end, &inside);
}

size_t proc_io(const char *text, size_t size, struct usage_figure *to, size_t room)
{
    static const struct {
        const char *name;
        enum usage_meter meter;
    } wanted[] = {{"rchar", USAGE_READ},           {"wchar", USAGE_WRITTEN},
                  {"syscr", USAGE_READS},          {"syscw", USAGE_WRITES},
                  {"read_bytes", USAGE_DISK_READ}, {"write_bytes", USAGE_DISK_WRITTEN}};
    struct proc_values figures = {to, 0, room};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        uint64_t value;
        if (proc_find_number(text, size, wanted[i].name, &value))
            proc_add_value(&figures, wanted[i].meter, value);
    }
    return figures.count;
}

size_t proc_schedstat(const char *text, size_t size, struct usage_figure *to, size_t room)
{
    struct proc_values figures = {to, 0, room};
    const char *at = text, *end = text + size;
    uint64_t ran, ready;
    if (proc_parse_number(&at, end, &ran) && proc_parse_number(&at, end, &ready)) {
        proc_add_value(&figures, USAGE_CPU, ran);
        proc_add_value(&figures, USAGE_READY, ready);
    }
    return figures.count;
}
