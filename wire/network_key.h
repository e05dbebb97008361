/* The key that lets machines speak with each other: 256 bits in a file of the user's own, made by
 * `poet key`.
 *
 * The file has 64 hexadecimal digits and mode 0600; who can read it can join. */
#ifndef WIRE_NETWORK_KEY_H
#define WIRE_NETWORK_KEY_H

#include "wire/endpoint.h"

#include <stdint.h>

#define KEY_BYTES 32u

struct network_key {
    uint8_t bytes[KEY_BYTES];
};

/* $POET_KEY_FILE, else poet/key beside the user's configuration. */
bool network_key_path(char *path, size_t size, struct error *error);
/* The key of a file, NULL: the default one.  False: there is none, or others can read it; what to
 * do. */
bool network_key_read(const char *path, struct network_key *key, struct error *error);
/* Makes a file with a new one; false: it is there, or cannot be made. */
bool network_key_make(const char *path, struct error *error);

#endif
