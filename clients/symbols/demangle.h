/* Names as people write them: C++ functions without their parameters, the element or member of a
 * variable that an address lies in. */
#ifndef CLIENTS_SYMBOLS_DEMANGLE_H
#define CLIENTS_SYMBOLS_DEMANGLE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes how a symbol is shown: demangled; of what std::thread runs, the callable.  Returns
 * text. */
const char *demangle_shorten(const char *symbol, char *text, size_t size);

/* The variable that was looked up last: arrays of locks ask for one again and again.  Zero it when
 * a module goes. */
struct demangle_last {
    Dwfl_Module *module;
    uint64_t variable;
    bool found;
    Dwarf_Die die;
};

/* Writes what of the variable at `variable` lies at the offset, as "[3].lock"; "" if it is the
 * whole of it.  False if there is no DWARF to tell. */
bool demangle_part(struct demangle_last *last, Dwfl_Module *module, uint64_t variable,
                   uint64_t offset, char *text, size_t size);

#endif
