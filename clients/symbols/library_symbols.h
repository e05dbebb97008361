/* Names of functions of libraries as measured code calls them. One function may have several names
 * (strchr and index, read and __read): the one that a measured module imports is meant. */
#ifndef CLIENTS_SYMBOLS_LIBRARY_SYMBOLS_H
#define CLIENTS_SYMBOLS_LIBRARY_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

struct library_symbols;

/* Reads the symbols of all modules of a program. */
struct library_symbols *library_symbols_new(Dwfl *modules);
/* Returns the name of the function at an address; NULL: no measured module imports it. Valid until
 * the symbols are freed. */
const char *library_symbols_name(const struct library_symbols *symbols, uint64_t address);
void library_symbols_free(struct library_symbols *symbols); /* NULL: no effect */

#endif
