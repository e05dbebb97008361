/* Readable names of symbols: C++ functions without their parameters, the element or member of a
 * variable that contains an address. */
#ifndef CLIENTS_SYMBOLS_DEMANGLE_H
#define CLIENTS_SYMBOLS_DEMANGLE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Formats a symbol for display: demangled; for the start routine of std::thread, the callable.
 * Returns text. */
const char *demangle_shorten(const char *symbol, char *text, size_t size);

/* Cache of the variable that was looked up last, since arrays of locks repeat it. Zero it when a
 * module is unloaded. */
struct demangle_last {
    Dwfl_Module *module;
    uint64_t variable;
    bool found;
    Dwarf_Die die;
};

/* Formats which part of the variable at `variable` is at the offset, such as "[3].lock"; "" for the
 * whole variable. Returns false without DWARF information. */
bool demangle_part(struct demangle_last *last, Dwfl_Module *module, uint64_t variable,
                   uint64_t offset, char *text, size_t size);

/* Objects of the C and C++ libraries that a thread waits for without a traced call, by the function
 * in which it waits: futures, latches, barriers, semaphores and atomic variables. */

/* Returns "future", "latch", ... for the demangled name of a function of the library, such as
 * "std::__basic_future<int>::wait"; NULL: not known. */
const char *demangle_library_object(const char *function);

#endif
