#include "clients/cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void command_print_error(const struct command *command, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));

static void command_print_error(const struct command *command, const char *format, va_list ap)
{
    fprintf(stderr, "poet %s: ", command->name);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
}

int command_fail(const struct command *command, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    command_print_error(command, format, ap);
    va_end(ap);
    return EXIT_FAILED;
}

int command_usage(const struct command *command, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    command_print_error(command, format, ap);
    va_end(ap);
    fprintf(stderr, "see: poet help %s\n", command->name);
    return EXIT_USAGE;
}

int command_read(const struct command *command, int argc, char **argv, void *input, int *first)
{
    struct options options = {command->name, command->argp, command->program_follows};
    return options_read(&options, argc, argv, input, first);
}

bool command_number(const char *text, unsigned most, unsigned *number)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || !*text || *text == '-' || !n || n > most)
        return false;
    *number = (unsigned)n;
    return true;
}

const char *plural_suffix(uint64_t count) { return count == 1 ? "" : "s"; }

error_t command_parse_json(int key, char *value, struct argp_state *state)
{
    bool *json = state->input;
    (void)value;
    if (key != 'j')
        return ARGP_ERR_UNKNOWN;
    *json = true;
    return 0;
}
