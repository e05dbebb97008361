/* Function symbols of a mapped ELF file, and their demangled names. */
#ifndef CLIENTS_LIBPOET_PROFILE_ELF_SYMBOLS_H
#define CLIENTS_LIBPOET_PROFILE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define SYMBOL_BYTES 512u /* with the terminating 0; longer names are truncated */

/* Calls back for each symbol, with its address in memory. Returns false if the file cannot be
 * read. */
bool elf_symbols_read(const char *path, uintptr_t bias,
                      void (*take)(void *context, uint64_t address, const char *symbol),
                      void *context);

/* Removes suffixes that a compiler adds to parts and copies of a function, such as .part.0. */
void elf_symbol_is_plain(char plain[SYMBOL_BYTES], const char *symbol);
/* Demangles a C++ symbol, without arguments: ns::f, A::A, A::~A; templates and operators keep their
 * symbol. */
void elf_symbol_demangle(char readable[SYMBOL_BYTES], const char *symbol);

#pragma GCC visibility pop
#endif
