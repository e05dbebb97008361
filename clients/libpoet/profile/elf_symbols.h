/* The functions in the table of symbols of a file that is mapped, and what they are called. */
#ifndef CLIENTS_LIBPOET_PROFILE_ELF_SYMBOLS_H
#define CLIENTS_LIBPOET_PROFILE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define SYMBOL_BYTES 512u /* with its 0; what is longer is cut */

/* Each, with its address in memory; false: the file cannot be read. */
bool elf_symbols_read(const char *path, uintptr_t bias,
                      void (*take)(void *context, uint64_t address, const char *symbol),
                      void *context);

/* Without what a compiler adds to parts and copies of a function, as .part.0. */
void elf_symbol_is_plain(char plain[SYMBOL_BYTES], const char *symbol);
/* As the source of C++ has it, without arguments: ns::f, A::A, A::~A; of templates and operators
 * the symbol. */
void elf_symbol_demangle(char readable[SYMBOL_BYTES], const char *symbol);

#pragma GCC visibility pop
#endif
