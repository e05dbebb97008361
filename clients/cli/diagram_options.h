/* The options that say what a picture shows, and how. */
#ifndef CLIENTS_CLI_DIAGRAM_OPTIONS_H
#define CLIENTS_CLI_DIAGRAM_OPTIONS_H

#include <argp.h>

/* The options that `export` and `show` share, a child of their tables; its input is a struct
 * picture. */
extern const struct argp picture_options;

#endif
