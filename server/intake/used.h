/* USAGE: what the operating system said of a program and its threads, as its journal has it. */
#ifndef SERVER_INTAKE_USED_H
#define SERVER_INTAKE_USED_H

#include "server/intake/session.h"
#include "wire/message.h"

/* False, with in->error: it cannot be read.  Figures of threads that are not announced are left out, and so are meters
 * that are not known. */
bool used_read(struct session *session, struct in *in);

#endif
