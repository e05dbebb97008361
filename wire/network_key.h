/* The shared key for connections between hosts: 256 bits in a file of the user, created by `poet
 * key`.
 *
 * The file has 64 hexadecimal digits and mode 0600; any user that can read it can connect. */
#ifndef WIRE_NETWORK_KEY_H
#define WIRE_NETWORK_KEY_H

#include "wire/endpoint.h"

#include <stdint.h>

#define KEY_BYTES 32u

struct network_key {
    uint8_t bytes[KEY_BYTES];
};

/* Gets the path: $POET_KEY_FILE, else poet/key in the user's configuration directory. */
bool network_key_path(char *path, size_t size, struct error *error);
/* Reads the key of a file (NULL: the default one). Returns false with the reason in *error, and
 * advice, if there is none or others can read it. */
bool network_key_read(const char *path, struct network_key *key, struct error *error);
/* Creates a file with a new key. Returns false if it exists or cannot be created. */
bool network_key_make(const char *path, struct error *error);

#endif
