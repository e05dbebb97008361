/* poet races: data races of a recorded run, as text. */
#include "clients/cli/command.h"
#include "clients/cli/run_findings.h"
#include "clients/cli/table_options.h"
#include "clients/connection/race_text.h"
#include "config/options.h"
#include "wire/finding_kinds.h"

struct races_options {
    struct table_settings tables;
};

static const struct option_row races_rows[] = {OPTION_CHILD_INPUT(struct races_options, tables),
                                               {0}};

static error_t races_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(races_rows, key, value, state);
}

static int races_run(const struct command *command, int argc, char **argv)
{
    struct races_options w = {.tables = {.command = command, .findings = FINDINGS_OF_RACES}};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    struct table_section section = {.make = races_request, .words = race_text_write};
    return table_output_command(&w.tables, argc, argv, first, &section, 1);
}

static const struct argp argp = {
    .parser = races_parse_option,
    .args_doc = "[SOURCE]",
    .doc = "Report data races: two threads accessed the same memory, at least one of them by a "
           "write, and no recorded synchronization orders the two accesses. The program must be "
           "compiled by poetcc -trace=races. Each race names both accesses, the memory, the locks "
           "held, and the events between which the two threads are not ordered.\vA race is found "
           "however far apart in time the two accesses are. It is reported as possible, with the "
           "reason, if synchronization that is not traced may order them.",
    .children = tables_finding_children};

const struct command command_races = {.name = "races",
                                      .summary = "report data races of a program compiled with "
                                                 "-trace=races",
                                      .run = races_run,
                                      .argp = &argp};
