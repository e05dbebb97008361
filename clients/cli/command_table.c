#include "clients/cli/command_table.h"

#include "config/description_values.h"

#define NAMES_MOST 64

/* clang-format off */
const struct command *const table_commands[] = {
    &command_record, &command_replay, &command_debug, &command_attach,
    &command_predict, &command_confirm, &command_compare, &command_export, &command_show,
    &command_blocked, &command_states, &command_waits, &command_path,
    &command_calls, &command_source, &command_memory, &command_resources,
    &command_metrics, &command_watch, &command_report, &command_order,
    &command_dump, &command_stat, &command_check, &command_note,
    &command_ls, &command_rm, &command_runs, &command_import,
    &command_key, &command_merge, NULL};
/* clang-format on */

const struct table_program table_programs[] = {
    {"view", "poet-view", "open the viewer on a live server or a trace file", "[SOURCE]"},
    {"server", "poet-server", "run the trace server: receive events and order them", ""},
    {0}};

const char *command_table_nearest(const char *word)
{
    const char *names[NAMES_MOST + 1] = {"help"};
    size_t n = 1;
    for (size_t i = 0; table_programs[i].name && n < NAMES_MOST; i++)
        names[n++] = table_programs[i].name;
    for (size_t i = 0; table_commands[i] && n < NAMES_MOST; i++)
        names[n++] = table_commands[i]->name;
    return nearest_word(word, names);
}
