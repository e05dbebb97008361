/* Logs with vector clocks, as ShiViz reads them.
 *
 * An expression with the named groups `host`, `clock` and `event` is matched again and again
 * through the text; other named groups are kept as fields.  A clock is a JSON object: host ->
 * number.  The group `timestamp`, or else `time` behind `date`, if there is one, is the time of
 * the event.
 *
 * The rules of the clocks (Fidge 1988, Mattern 1989): each host counts its own events 1, 2, 3,
 * ...; a clock counts its own host; nothing in it is larger than what there is; it never goes back
 * along a host; and it includes the clock of every event that it names.
 *
 * A host that counts 1 again has begun again: it is another line from there on.  Its clock jumps
 * to what others know of the earlier one, and theirs keep the larger count, so that they may be
 * after it without saying so: such events are doubtful. */
#ifndef CLIENTS_CLI_SHIVIZ_LOG_H
#define CLIENTS_CLI_SHIVIZ_LOG_H

#include "clients/cli/logtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shiviz_entry { /* of a clock */
    uint32_t host;
    uint64_t number;
};

struct shiviz_event {
    uint32_t host;
    uint64_t number; /* on its line, from 1 */
    uint64_t value; /* its host's clock value: the number, unless the host began again */
    struct shiviz_entry *clock; /* by host */
    uint32_t entries;
    struct shiviz_entry *causes; /* on other hosts, only those that no other implies */
    uint32_t cause_count;
    bool is_cause;
    bool doubtful; /* more may be before it than its clock tells */
    char *text;
    char **fields; /* "name: value" */
    uint32_t field_count;
    const char *file;
    uint64_t line;   /* of the file, from 1 */
    struct logtime time;
};

struct shiviz_log { /* one execution */
    char *name; /* NULL: it has none */
    char **hosts; /* also those that began again, each time */
    uint32_t host_count, clock_count; /* clock_count: those that clocks name come first */
    struct shiviz_again {
        uint32_t of; /* the host in clocks */
        bool has; /* of these: it began again */
        uint32_t next; /* the host that it is after it began again; 0: none */
    } *again; /* by host */
    size_t restarted; /* the first event of a host that began again; event_count: there is none */
    struct shiviz_event *events; /* in the order of the log */
    size_t event_count;
    size_t **by_host; /* [host][number - 1]: index of an event */
    uint64_t *numbers;  /* events of each host */
    bool has_times; /* some event has one in its text */
    size_t untimed; /* the first event without one that can be read; event_count: all have one */
};

#define SHIVIZ_PARSER "(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})"
/* As the logs of GoVector are, and those of which each line has its time. */
#define SHIVIZ_PARSER_CLOCK_FIRST "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)"
#define SHIVIZ_PARSER_TIME_FIRST "(?<timestamp>\\d+) (?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)"

struct shiviz_text {
    const char *file; /* as complaints call it */
    const char *text; /* with a 0 behind it */
    size_t size;
    /* Expressions.  NULL: those that stand in the first two lines of the log; where there are
     * none, the one of those above that matches its first line, and it is one execution. */
    const char *parser, *split;
    const struct shiviz_text *next; /* another log of the same execution, or NULL */
};

/* Reads all executions of the texts.  False with a line in `error` that names file and line. */
bool shiviz_read(const struct shiviz_text *text, struct shiviz_log **logs, size_t *count,
                 char *error, size_t error_size);
/* The times of its events in ns since 1970, by index, in new memory: numbers in that unit, 0
 * whatever makes dates of them.  NULL: not all have one. */
uint64_t *shiviz_times(const struct shiviz_log *log, uint64_t unit);
void shiviz_free(struct shiviz_log *logs, size_t count);

#endif
