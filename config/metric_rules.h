/* Meters of a description, or of a file of one's own: what is counted, or timed, over the events of
 * a run.
 *
 *     meters = (
 *         { name = "lock wait"; from = "petition"; to = "entered"; per = "line"; good = "low"; },
 *         { name = "meals"; count = ["entered"]; },
 *         { name = "wait a meal"; formula = "'lock wait' / meals"; unit = "ns"; }
 *     );
 *
 * `from` and `to`: the time from an event of the one type to the next one of the other, by the same
 * thread, and with per = "line" about the same object or on its line.  `count`: how many events
 * there are.  `formula` (formula.h): over the totals of meters before it.  `own = true`: a meter
 * that the program counts itself (poet.h), named so that formulas may speak of it. */
#ifndef CONFIG_METRIC_RULES_H
#define CONFIG_METRIC_RULES_H

#include "config/target.h"

#include <stdio.h>

enum metric_better { GOOD_NOT_SAID, GOOD_HIGH, GOOD_LOW };

struct target_metric {
    char *name, *unit; /* unit "": a number */
    struct target_names from, to, count; /* types of events */
    bool per_line;
    bool own; /* the program counts it itself: it is only named, for formulas */
    char *formula; /* or NULL */
    uint8_t good; /* an enum metric_better */
    int part; /* of the description, that spoke of it last */
};

/* Reads a file of meters.  Mistakes are written to `complaints` (NULL: nowhere) as `FILE:LINE: what
 * is wrong`; then false, and no meters.  The array is the caller's to free, its texts are in the
 * arena. */
bool metric_rules_read(const char *text, const char *file, FILE *complaints, struct arena *texts,
                       struct target_metric **meters, size_t *count);
/* As text that metric_rules_read reads; the caller's. */
char *metric_rules_write(const struct target_metric *meters, size_t count);

struct description_reader;
struct config_setting_t;
/* Of the list "meters" in a part of a description. */
void metric_rules_parse(struct description_reader *reader, const struct config_setting_t *root,
                        struct target_metric **meters, size_t *count);

#endif
