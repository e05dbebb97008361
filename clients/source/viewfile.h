/* Places in files. */
#ifndef CLIENTS_SOURCE_VIEWFILE_H
#define CLIENTS_SOURCE_VIEWFILE_H

#include "clients/source/place.h"

#include <stdio.h>

/* Views in files.  Reading leaves lines that the book does not know out; a place in another run than that
 * of the file has its rows only. */
bool place_write(const struct place *place, const struct look *look, const struct book *book,
                 struct sites *sites, FILE *f);
bool place_read(struct place *place, struct look *look, const struct book *book,
                struct sites *sites, const char *file, struct error *error);

#endif
