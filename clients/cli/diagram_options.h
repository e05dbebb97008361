/* Options for the contents and appearance of a diagram. */
#ifndef CLIENTS_CLI_DIAGRAM_OPTIONS_H
#define CLIENTS_CLI_DIAGRAM_OPTIONS_H

#include <argp.h>

/* The options that `export` and `show` share, a child of their tables; its input is a struct
 * event_diagram. */
extern const struct argp picture_options;

#endif
