#define _GNU_SOURCE
#include "clients/cli/logtime.h"
#include "base/units.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000u
#define LONGEST 63u /* maximum length of a time */

/* Parses the digits after a point or comma, if any; returns them in 1e-9, and moves *at behind
 * them. */
static uint32_t logtime_fraction(const char **at)
{
    uint32_t fraction = 0, unit = SECOND_NS;
    if ((**at != '.' && **at != ',') || !isdigit((unsigned char)(*at)[1]))
        return 0;
    for (++*at; isdigit((unsigned char)**at); ++*at) {
        unit /= 10;
        fraction += unit * (uint32_t)(**at - '0');
    }
    return fraction;
}

static struct logtime logtime_number(const char *text)
{
    struct logtime time = {.kind = LOGTIME_NUMBER};
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++) {
        if (at - text >= 19)
            return (struct logtime){0};
        time.whole = 10 * time.whole + (uint64_t)(*at - '0');
    }
    time.fraction = logtime_fraction(&at);
    return *at || at == text ? (struct logtime){0} : time;
}

/* Parses Z, UTC, +hh:mm, +hhmm, +hh, or nothing; returns false for anything else. */
static bool logtime_zone(const char *at, int64_t *seconds)
{
    *seconds = 0;
    while (*at == ' ')
        at++;
    if (!*at || strcmp(at, "Z") == 0 || strcmp(at, "UTC") == 0)
        return true;
    if ((*at != '+' && *at != '-') || strspn(at + 1, "0123456789") < 2)
        return false;
    int64_t hours = 10 * (at[1] - '0') + at[2] - '0', minutes = 0;
    const char *rest = at + 3 + (at[3] == ':');
    if (strspn(rest, "0123456789") == 2) {
        minutes = 10 * (rest[0] - '0') + rest[1] - '0';
        rest += 2;
    }
    *seconds = (*at == '-' ? -60 : 60) * (60 * hours + minutes);
    return !*rest && hours < 24 && minutes < 60;
}

static struct logtime logtime_date(const char *text)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
                                        "%Y/%m/%d %H:%M:%S", "%d/%b/%Y:%H:%M:%S", "%H:%M:%S"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm parts = {.tm_year = 70, .tm_mday = 1};
        const char *at = strptime(text, forms[i], &parts);
        int64_t zone, seconds = at ? (int64_t)timegm(&parts) : -1;
        if (!at)
            continue;
        uint32_t fraction = logtime_fraction(&at);
        if (!logtime_zone(at, &zone) || seconds < zone)
            return (struct logtime){0};
        return (struct logtime){LOGTIME_DATE, fraction, (uint64_t)(seconds - zone)};
    }
    return (struct logtime){0};
}

struct logtime logtime_read(const char *text, size_t size)
{
    char copy[LONGEST + 1];
    while (size && strchr(" \t\r[", *text))
        text++, size--;
    while (size && strchr(" \t\r]", text[size - 1]))
        size--;
    if (!size || size > LONGEST)
        return (struct logtime){0};
    memcpy(copy, text, size);
    copy[size] = 0;
    struct logtime time = logtime_number(copy);
    return time.kind ? time : logtime_date(copy);
}

uint64_t logtime_unit(uint64_t largest)
{
    return largest >= 100000000000000000u ? 1
           : largest >= 100000000000000u  ? 1000
           : largest >= 100000000000u     ? 1000000
                                          : SECOND_NS;
}

uint64_t logtime_unit_named(const char *name) { return (uint64_t)time_unit_named_ns(name); }

uint64_t logtime_ns(struct logtime time, uint64_t unit)
{
    uint64_t whole, ns;
    unit = time.kind == LOGTIME_DATE ? SECOND_NS : unit;
    if (__builtin_mul_overflow(time.whole, unit, &whole) ||
        __builtin_add_overflow(whole, time.fraction * unit / SECOND_NS, &ns))
        return 0;
    return ns > INT64_MAX / 2 ? 0 : ns;
}
