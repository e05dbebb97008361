/* Rows of the table of metrics for the metrics that programs maintain themselves
 * (server/run/metrics.h). */
#ifndef SERVER_QUERIES_TABLES_PROGRAM_METRIC_ROWS_H
#define SERVER_QUERIES_TABLES_PROGRAM_METRIC_ROWS_H

#include "server/queries/tables/table_query.h"

enum metric_column {
    METER_NAME,
    METER_THREAD,
    METER_AMOUNT,
    METER_TIMES,
    METER_EACH,
    METER_GREATEST,
    METER_UNIT,
    METER_TOTAL,
    METER_LAST,
    METER_LEAST,
    METER_MOST,
    METER_MEAN,
    METER_KIND,
    METER_GOOD, /* "high" or "low", if a description says so */
    METER_P50_AMOUNT, /* only if there are distributions: as texts, and as numbers */
    METER_P90_AMOUNT,
    METER_P99_AMOUNT,
    METER_P50,
    METER_P90,
    METER_P99
};

/* Returns a number with its unit, formatted for reading. */
struct table_cell metric_rows_amount(const char *unit, double value);

bool metric_rows_any(const struct run *run);
/* Adds the columns of distributions, if there are any. */
void metric_rows_columns(const struct run *run, struct result_table *table);
/* Adds a row for each metric, or for each metric and thread that counted in it; and notes. */
void metric_rows_fill(const struct table_view *view, bool by_thread, struct result_table *table);
/* Sets the value that a formula uses for a metric's name, over all threads.  Returns false if there
 * is no such metric or it has no value. */
bool metric_rows_value(const struct run *run, const char *name, double *value);

#endif
