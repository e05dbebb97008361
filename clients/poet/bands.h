/* A picture of states: how each line spent the run, where there is too much for a mark each. */
#ifndef CLIENTS_POET_BANDS_H
#define CLIENTS_POET_BANDS_H

#include "clients/poet/picture.h"
#include "clients/poet/subject.h"
#include "render/page.h"

/* Of the whole run, by time or by order as the picture is wanted; an exit status, with a complaint if it is not good. */
int bands_write(const struct command *command, const struct picture *picture,
                struct subject *subject, const struct page_options *page, const char *file);

#endif
