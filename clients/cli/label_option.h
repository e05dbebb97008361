/* The option --labels: how a command labels lines. */
#ifndef CLIENTS_CLI_LABEL_OPTION_H
#define CLIENTS_CLI_LABEL_OPTION_H

#include "clients/connection/line_labels.h"

#include <argp.h>
#include <stdbool.h>

/* For commands that print text, a child of their options. */
extern const struct argp labels_options;
/* Returns the requested labels, else `otherwise`. */
enum labels label_option_selected(enum labels otherwise);
/* Parses "name", "id" or "address". Returns false if it is none of them. */
bool label_option_by_name(const char *word, enum labels *labels);

#endif
