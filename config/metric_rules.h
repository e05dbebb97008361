/* Metrics that a description or a user's file defines: what is counted or timed over the events of
 * a run.
 *
 *     metrics = (
 *         { name = "lock wait"; start = "acquire"; end = "acquired"; per = "line";
 *           better = "low"; },
 *         { name = "meals"; count = ["acquired"]; },
 *         { name = "wait a meal"; formula = "'lock wait' / meals"; unit = "ns"; }
 *     );
 *
 * `start` and `end`: the time from an event of one type to the next event of the other, by the same
 * thread, and with per = "line" about the same object or on its line. `count`: the number of
 * events. `formula`: over the totals of preceding metrics. `from_program = true`: a metric that
 * the program maintains itself (poet.h), named so that formulas can refer to it. */
#ifndef CONFIG_METRIC_RULES_H
#define CONFIG_METRIC_RULES_H

#include "config/target.h"

#include <stdbool.h>
#include <stdio.h>

enum metric_better { METRIC_BETTER_UNKNOWN, GOOD_HIGH, GOOD_LOW };

struct target_metric {
    char *name, *unit; /* unit "": a plain number */
    struct target_names from, to, count; /* types of events */
    bool per_line;
    bool own; /* maintained by the program; only named here, for formulas */
    char *formula; /* or NULL */
    uint8_t good; /* an enum metric_better */
    int part; /* the last part of the description that mentions it */
};

/* Reads a file of metrics. Errors are written to `complaints` (may be NULL) as `FILE:LINE:
 * PROBLEM`; the result is then false, without metrics. The caller frees the array; its texts are in
 * the arena. */
bool metric_rules_read(const char *text, const char *file, FILE *complaints, struct arena *texts,
                       struct target_metric **meters, size_t *count);
/* Returns the metrics as text for metric_rules_read(); the caller frees it. */
char *metric_rules_write(const struct target_metric *meters, size_t count);

struct description_reader;
struct config_setting_t;
/* Reads the list "metrics" in a part of a description. */
void metric_rules_parse(struct description_reader *reader, const struct config_setting_t *root,
                        struct target_metric **meters, size_t *count);

/* ---- formulas ---- */

/* A formula over metrics consists of sums, differences, products and quotients of numbers and
 * names. A name consists of letters, digits and _ (not a digit first), or of any characters in
 * 'quotes'. The value of a division by zero is unknown. */

/* Looks up the value of a name; returns false if it is unknown. */
typedef bool formula_name(void *context, const char *name, double *value);

enum formula_result {
    FORMULA_GOOD,
    FORMULA_UNKNOWN /* the value of a name is unknown */,
    FORMULA_WRONG
};

/* Evaluates a formula. With FORMULA_WRONG, *wrong is the offset of the syntax error in the text. */
enum formula_result formula_value(const char *text, formula_name *name, void *context,
                                  double *value, unsigned *wrong);

#endif
