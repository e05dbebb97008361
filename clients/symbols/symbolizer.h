/* Symbolizer: names and call sites from ELF and DWARF, looked up when they are shown, never while
 * recording. If the file of a module is missing or has another build-id, there is no symbol; a site
 * is then shown as module+0xOFFSET. */
#ifndef CLIENTS_SYMBOLS_SYMBOLIZER_H
#define CLIENTS_SYMBOLS_SYMBOLIZER_H

#include "wire/trace_view.h"

struct Dwfl; /* elfutils/libdwfl.h */
struct symbolizer;

struct symbolizer *symbolizer_new(void);
void symbolizer_free(struct symbolizer *sites);
/* Adds a program under its index; adding it again replaces it. */
void symbolizer_process(struct symbolizer *sites, uint32_t index,
                        const struct process_info *process);

/* Returns the opened files of a program, for unwinding, which belong to the symbolizer; NULL:
 * none. */
struct Dwfl *symbolizer_modules(struct symbolizer *sites, uint32_t process);

/* Returns the modules of a program, by which its addresses are named. */
const struct module_info *symbolizer_module_list(const struct symbolizer *sites, uint32_t process,
                                                 uint32_t *count);

/* `function`: the innermost function, possibly inlined, that contains the source line; of a call by
 * which a member of uC++ begins, the function that calls the member, if it was inlined there. "":
 * unknown.
 * place: "file:line", else "module+0xOFFSET", else "0xADDRESS". path: full path of the source file,
 * "": unknown. Valid until the next call. */
struct symbol_location {
    const char *function, *place, *path;
    int line;
};
struct symbol_location symbolize(struct symbolizer *sites, uint32_t process, uint64_t address);
/* Does this for the outermost function, into which all others were inlined, with the line of the
 * call in it. */
struct symbol_location symbolize_outer(struct symbolizer *sites, uint32_t process,
                                       uint64_t address);

/* Return the number of functions at an address, 1 if none was inlined; and one of them: 0 is the
 * innermost, the next the one into which it was inlined, with the line of the call. */
uint32_t symbolizer_frames(struct symbolizer *sites, uint32_t process, uint64_t address);
struct symbol_location symbolizer_frame(struct symbolizer *sites, uint32_t process,
                                        uint64_t address, uint32_t frame);

/* Returns the first argument of the call at an address as its source has it (call_argument.h); NULL
 * if it is not known. Valid until the next call. */
const char *symbolizer_argument(struct symbolizer *sites, uint32_t process, uint64_t address);

/* Returns the text at an address of the program's file, as far as it is printable; NULL if there is
 * none. Valid until the next call. */
const char *symbolizer_location_text(struct symbolizer *sites, uint32_t process, uint64_t address);

/* Returns the symbol that contains an address, as "buffer" or "buffer+16"; NULL if none. Valid
 * until the next call. */
const char *symbolizer_symbol(struct symbolizer *sites, uint32_t process, uint64_t address);

#endif
