/* Why an order may be there that is not told, for a web page: the words of the reasons, and which
 * of them each event has. */
#ifndef CLIENTS_POET_WEBREASONS_H
#define CLIENTS_POET_WEBREASONS_H

#include "clients/poet/command.h"
#include "clients/poet/webscene.h"

#include <stdbool.h>

bool html_reasons_write(const struct command *command, struct html_scene *w);

#endif
