/* The option --labels: how lines are called where a command speaks of them. */
#ifndef CLIENTS_CLI_LABEL_OPTION_H
#define CLIENTS_CLI_LABEL_OPTION_H

#include "clients/connection/line_labels.h"

#include <argp.h>
#include <stdbool.h>

/* For commands that print words, a child of their options. */
extern const struct argp labels_options;
/* What was asked for by it, else `otherwise`. */
enum labels label_option_selected(enum labels otherwise);
/* "name", "id", "address".  False: it is none of them. */
bool label_option_by_name(const char *word, enum labels *labels);

#endif
