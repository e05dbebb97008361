/* Who waits for what, as one object of JSON. */
#ifndef CLIENTS_POET_BLOCKED_H
#define CLIENTS_POET_BLOCKED_H

#include "clients/poet/subject.h"
#include "clients/source/waits.h"

struct json_object;

struct json_object *blocked_json(struct command_source *subject, const struct wait_list *waits);

#endif
