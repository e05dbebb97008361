/* Table of commands, in the groups of `poet help`. */
#include "clients/cli/command.h"

#include "config/description_values.h"

#include <string.h>

#define NAMES_MOST 64

/* ---- commands that are other programs, and help, which main() runs ---- */

static const struct command command_view = {.name = "view",
                                            .summary =
                                                "open the viewer on a live server or a trace file",
                                            .program = "poet-view",
                                            .operands = "[SOURCE]"};
static const struct command command_server = {
    .name = "server",
    .summary = "run the trace server: receive events and order them",
    .program = "poet-server",
    .operands = ""};
static const struct command command_help = {.name = "help", .summary = "show help for a command"};

/* clang-format off */
const struct command_group command_groups[] = {
    {"Record", {&command_record, &command_server, &command_watch, &command_measure}},
    {"Inspect", {&command_view, &command_show, &command_export, &command_order, &command_find,
                 &command_state, &command_cut, &command_query, &command_mcp, &command_dump,
                 &command_stat, &command_note}},
    {"Find bugs", {&command_blocked, &command_attach, &command_predict, &command_races,
                   &command_confirm, &command_suspect, &command_replay, &command_debug,
                   &command_compare}},
    {"Performance", {&command_report, &command_states, &command_waits, &command_locks,
                     &command_path, &command_calls, &command_source, &command_memory,
                     &command_resources, &command_metrics}},
    {"Manage runs", {&command_ls, &command_rm, &command_runs, &command_merge, &command_import,
                     &command_key, &command_check, &command_help}},
    {0}};
/* clang-format on */

const struct command *command_table_at(size_t i)
{
    for (const struct command_group *g = command_groups; g->title; g++)
        for (size_t k = 0; g->commands[k]; k++)
            if (i-- == 0)
                return g->commands[k];
    return NULL;
}

const struct command *command_table_find(const char *name)
{
    const struct command *c;
    for (size_t i = 0; (c = command_table_at(i)) != NULL; i++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const char *command_table_nearest(const char *word)
{
    const char *names[NAMES_MOST + 1] = {0};
    const struct command *c;
    for (size_t i = 0; i < NAMES_MOST && (c = command_table_at(i)) != NULL; i++)
        names[i] = c->name;
    return nearest_word(word, names);
}
