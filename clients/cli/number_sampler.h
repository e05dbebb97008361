/* Numbers that files and commands print. */
#ifndef CLIENTS_CLI_NUMBER_SAMPLER_H
#define CLIENTS_CLI_NUMBER_SAMPLER_H

#include "wire/endpoint.h"

#include <stdbool.h>

/* The first number in a text, in thousandths; false: there is none, or none that can be told. */
bool number_sampler_parse(const char *text, long long *thousandths);

/* Of what a file has, and of what a shell's command writes to its standard output within some
 * seconds; false with a line in error.  The command is killed where it takes longer, or where
 * *stopped is set meanwhile. */
bool number_sampler_read_file(const char *path, long long *thousandths, struct error *error);
bool number_sampler_run_command(const char *command, long long *thousandths,
                                const volatile int *stopped, struct error *error);

#endif
