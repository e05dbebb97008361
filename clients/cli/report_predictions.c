#include "clients/cli/report_predictions.h"

#include "base/alloc.h"
#include "clients/cli/run_findings.h"
#include "clients/cli/report_page.h"
#include "clients/connection/finding_text.h"
#include "clients/connection/race_text.h"

#include <stdlib.h>

#define EVENTS_MOST 1000000u /* of a longer run it takes seconds */
#define RACES_SHOWN 3u

/* Returns the kinds of the potential bugs of a group, "lock-order-inversion (2), lost-wakeup", in
 * new memory; NULL if there are none. */
static char *report_predictions_kinds(const struct result_table *t, unsigned group)
{
    unsigned counts[FINDING_KIND_COUNT] = {0};
    char *text = NULL;
    for (uint32_t i = 0; i < t->row_count; i++) {
        enum finding_kind kind = t->rows[i].depth ? FINDING_KIND_COUNT : finding_text_kind(t, i);
        if (kind != FINDING_KIND_COUNT && finding_kinds[kind].group == group)
            counts[kind]++;
    }
    for (unsigned kind = 0; kind < FINDING_KIND_COUNT; kind++) {
        if (!counts[kind])
            continue;
        char *before = text,
             *number = counts[kind] > 1 ? xasprintf(" (%u)", counts[kind]) : xstrdup("");
        text = xasprintf("%s%s%s%s", before ? before : "", before ? ", " : "",
                         finding_kinds[kind].name, number);
        free(number);
        free(before);
    }
    return text;
}

#define PARTICIPANTS 2 /* lines about the first finding */

/* Writes what the threads of the first finding of a group did, and where. */
static void report_predictions_write_first(FILE *f, const struct table_names *names,
                                           const struct result_table *t, unsigned group)
{
    uint32_t row = 0;
    while (row < t->row_count &&
           (t->rows[row].depth || finding_text_kind(t, row) == FINDING_KIND_COUNT ||
            finding_kinds[finding_text_kind(t, row)].group != group))
        row++;
    if (row >= t->row_count)
        return;
    enum finding_kind kind = finding_text_kind(t, row);
    for (uint32_t i = row + 1; i < t->row_count && t->rows[i].depth && i <= row + PARTICIPANTS; i++)
        report_line_indent(f, 4, finding_text_participant(names, t, i, kind));
}

/* Returns whether the report is about a part of the run, for which no predictions are made. */
static bool report_predictions_excluded(const struct table_settings *settings)
{
    return settings->from.is || settings->to.is || settings->past_of.line;
}

void report_races_write(FILE *f, const struct table_settings *settings,
                        struct command_source *subject, const char *source)
{
    struct result_table t = {0};
    struct table_names names = {&subject->source.book, subject->sites};
    uint32_t count = 0, shown = 0;
    if (report_predictions_excluded(settings) || races_request(settings, subject, &t) != EXIT_DONE)
        return;
    for (uint32_t i = 0; i < t.row_count; i++)
        count += !t.rows[i].depth;
    if (count)
        report_line_title(f, "Data races", count > RACES_SHOWN ? count - RACES_SHOWN : 0, "races",
                          source);
    for (uint32_t i = 0; i < t.row_count && shown < RACES_SHOWN; i++) {
        if (t.rows[i].depth)
            continue;
        report_line_indent(f, 2, race_text_summary(&names, &t, i));
        shown++;
    }
    result_table_free(&t);
}

void report_predictions_write(FILE *f, const struct table_settings *settings,
                              struct command_source *subject, const char *source)
{
    char key[] = "kinds", all[] = "all";
    struct table_option chosen[] = {{key, all}, {0}};
    struct table_section section = {.what = "predict", .options = chosen};
    struct result_table t = {0};
    if (report_predictions_excluded(settings) || subject->source.book.run.events > EVENTS_MOST ||
        table_request_run(settings, &section, subject, &t) != EXIT_DONE)
        return;
    char *bugs = report_predictions_kinds(&t, FINDINGS_OF_PREDICTION),
         *orders = bugs ? NULL : report_predictions_kinds(&t, FINDINGS_OF_ORDERS);
    if (bugs)
        report_line_title(f, "Potential bugs in other schedules", 0, "predict", source);
    else if (orders)
        report_line_title(f, "Orders not enforced by synchronization", 0, "predict --all", source);
    if (bugs || orders)
        report_line_indent(f, 2, xstrdup(bugs ? bugs : orders));
    if (bugs || orders)
        report_predictions_write_first(f,
                                       &(struct table_names){&subject->source.book, subject->sites},
                                       &t, bugs ? FINDINGS_OF_PREDICTION : FINDINGS_OF_ORDERS);
    free(bugs);
    free(orders);
    result_table_free(&t);
}
