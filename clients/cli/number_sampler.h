/* Sampling of numbers from files and from the output of commands. */
#ifndef CLIENTS_CLI_NUMBER_SAMPLER_H
#define CLIENTS_CLI_NUMBER_SAMPLER_H

#include "wire/endpoint.h"

#include <stdbool.h>

/* Gets the first number in a text, in thousandths; returns false if there is none, or it is out of
 * range. */
bool number_sampler_parse(const char *text, long long *thousandths);

/* Sample a file, and the standard output of a shell command, which must finish within a few
 * seconds. Return false with the reason in *error. The command is killed after that time, or when
 * *stopped is set. */
bool number_sampler_read_file(const char *path, long long *thousandths, struct error *error);
bool number_sampler_run_command(const char *command, long long *thousandths,
                                const volatile int *stopped, struct error *error);

#endif
