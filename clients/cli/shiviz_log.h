/* Parser for logs with vector clocks in the format of ShiViz.
 *
 * An expression with the named groups `host`, `clock` and `event` is matched repeatedly through the
 * text; other named groups are kept as fields. A clock is a JSON object: host -> number. The group
 * `timestamp`, or else `date` and `time`, is the time of the event. shiviz_clocks.c checks
 * the clocks. */
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
    uint64_t value; /* its host's clock value: the number, unless the host restarted */
    struct shiviz_entry *clock; /* by host */
    uint32_t entries;
    struct shiviz_entry *causes; /* on other hosts, only those not implied by another */
    uint32_t cause_count;
    bool is_cause;
    bool doubtful; /* it may have more predecessors than its clock shows */
    char *text;
    char **fields; /* "name: value" */
    uint32_t field_count;
    const char *file;
    uint64_t line;   /* of the file, from 1 */
    struct logtime time;
};

struct shiviz_log { /* one execution */
    char *name; /* NULL: none */
    char **hosts; /* each restart of a host is another host */
    uint32_t host_count, clock_count; /* clock_count: those that occur in clocks come first */
    struct shiviz_again {
        uint32_t of; /* the host in clocks */
        bool has; /* it restarted */
        uint32_t next; /* the host that it is after its restart; 0: none */
    } *again; /* by host */
    size_t restarted; /* the first event after a restart; event_count: none */
    struct shiviz_event *events; /* in the order of the log */
    size_t event_count;
    size_t **by_host; /* [host][number - 1]: index of an event */
    uint64_t *numbers;  /* events of each host */
    bool has_times; /* some event has a time in its text */
    size_t untimed; /* the first event without a valid time; event_count: all have one */
};

#define SHIVIZ_PARSER "(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})"
/* The format of GoVector logs, and that of logs with a time in each line. */
#define SHIVIZ_PARSER_CLOCK_FIRST "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)"
#define SHIVIZ_PARSER_TIME_FIRST "(?<timestamp>\\d+) (?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)"

struct shiviz_text {
    const char *file; /* its name in error messages */
    const char *text; /* NUL-terminated */
    size_t size;
    /* Expressions. NULL: those in the first two lines of the log; if there are none, the one of
     * those above that matches its first line, and a single execution. */
    const char *parser, *split;
    const struct shiviz_text *next; /* another log of the same execution, or NULL */
};

/* Reads all executions of the texts. Returns false with the reason in *error that names
 * file and line. */
bool shiviz_read(const struct shiviz_text *text, struct shiviz_log **logs, size_t *count,
                 char *error, size_t error_size);
/* Returns the times of its events in ns since 1970, by index, in new memory; `unit`: of numbers, 0:
 * chosen so that they are dates. NULL: not all events have a time. */
uint64_t *shiviz_times(const struct shiviz_log *log, uint64_t unit);
void shiviz_free(struct shiviz_log *logs, size_t count);
void shiviz_free_log(struct shiviz_log *log); /* what it owns, not itself */

/* ---- shiviz clocks ---- */

/* Returns the number of a host in the clock of an event; 0: it has none. */
uint64_t shiviz_clock_of(const struct shiviz_event *event, uint32_t host);
/* Numbers the events of one execution, splits the hosts that restarted, and finds the causes of
 * each event. Returns false with the reason in *error, with file and line, if a rule is
 * broken. */
bool shiviz_clocks_check(struct shiviz_log *log, char *error, size_t error_size);

#endif
