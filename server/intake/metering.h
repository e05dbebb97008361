/* METER and CELLS: meters of a program's own, as its journal has them; or of nobody, told from outside. */
#ifndef SERVER_INTAKE_METERING_H
#define SERVER_INTAKE_METERING_H

#include "server/run/figures.h"
#include "server/run/metered.h"
#include "wire/message.h"

/* Of a session and its process, or of METERED_NOBODY and FIGURES_NOBODY.  False, with in->error: it cannot be read. */
bool metering_name(struct run *run, uint32_t session, uint32_t process, struct in *in);
bool metering_samples(struct run *run, uint32_t session, uint32_t process, struct in *in);

#endif
