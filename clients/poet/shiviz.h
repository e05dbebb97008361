/* Logs with vector clocks, as ShiViz reads them.
 *
 * An expression with the named groups `host`, `clock` and `event` is matched again and again through the
 * text; other named groups are kept as fields.  A clock is a JSON object: host -> number.
 *
 * The rules of the clocks (Fidge 1988, Mattern 1989): each host counts its own events 1, 2, 3, ...;
 * a clock counts its own host; nothing in it is larger than what there is; it never goes back
 * along a host; and it includes the clock of every event that it names. */
#ifndef CLIENTS_POET_SHIVIZ_H
#define CLIENTS_POET_SHIVIZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shiviz_entry { /* of a clock */
    uint32_t host;
    uint64_t number;
};

struct shiviz_event {
    uint32_t host;
    uint64_t number; /* its host's clock value */
    struct shiviz_entry *clock; /* by host */
    uint32_t entries;
    struct shiviz_entry *causes; /* on other hosts, only those that no other implies */
    uint32_t cause_count;
    bool is_cause;
    char *text;
    char **fields; /* "name: value" */
    uint32_t field_count;
    const char *file;
    uint64_t line;   /* of the file, from 1 */
};

struct shiviz_log { /* one execution */
    char *name; /* NULL: it has none */
    char **hosts;
    uint32_t host_count;
    struct shiviz_event *events; /* in the order of the log */
    size_t event_count;
    size_t **by_host; /* [host][number - 1]: index of an event */
    uint64_t *numbers;  /* events of each host */
};

#define SHIVIZ_PARSER "(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})"
/* As the logs of GoVector are. */
#define SHIVIZ_PARSER_CLOCK_FIRST "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)"

struct shiviz_text {
    const char *file; /* as complaints call it */
    const char *text; /* with a 0 behind it */
    size_t size;
    /* Expressions.  NULL: those that stand in the first two lines of the log; where there are none, the one of the two above
     * that matches its first line, and it is one execution. */
    const char *parser, *split;
    const struct shiviz_text *next; /* another log of the same execution, or NULL */
};

/* Reads all executions of the texts.  False with a line in `error` that names file and line. */
bool shiviz_read(const struct shiviz_text *text, struct shiviz_log **logs, size_t *count,
                 char *error, size_t error_size);
void shiviz_free(struct shiviz_log *logs, size_t count);

#endif
