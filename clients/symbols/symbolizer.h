/* Names and call sites from ELF and DWARF, looked up when they are shown, never
 * while recording.  A module whose file is gone or has another build-id gives
 * nothing; then a site is shown as module+0xOFFSET. */
#ifndef CLIENTS_SYMBOLS_SYMBOLIZER_H
#define CLIENTS_SYMBOLS_SYMBOLIZER_H

#include "wire/trace_view.h"

struct symbolizer;

struct symbolizer *symbolizer_new(void);
void symbolizer_free(struct symbolizer *sites);
/* Makes a program known under its index; telling it again replaces it. */
void symbolizer_process(struct symbolizer *sites, uint32_t index,
                        const struct process_info *process);

/* `function`: the one that the source line lies in, the innermost that was inlined there; ""
 * unknown.  place: "file:line", else "module+0xOFFSET", else "0xADDRESS".  path: full path of
 * the source file, "" unknown.  Valid until the next call. */
struct symbol_location {
    const char *function, *place, *path;
    int line;
};
struct symbol_location symbolize(struct symbolizer *sites, uint32_t process, uint64_t address);
/* The same of the function that all that was inlined there was inlined in, with the line of the
 * call in it. */
struct symbol_location symbolize_outer(struct symbolizer *sites, uint32_t process,
                                       uint64_t address);

/* How many functions are at an address, 1 where none was inlined there; and one of them: 0 is
 * that of symbolize, the next the one that it was inlined in, with the line of the call. */
uint32_t symbolizer_frames(struct symbolizer *sites, uint32_t process, uint64_t address);
struct symbol_location symbolizer_frame(struct symbolizer *sites, uint32_t process,
                                        uint64_t address, uint32_t frame);

/* The text that lies at an address of the program's file, as far as it can be shown; NULL if there
 * is none.  Valid until the next call. */
const char *symbolizer_location_text(struct symbolizer *sites, uint32_t process, uint64_t address);

/* The symbol that an address lies in, as "buffer" or "buffer+16"; NULL if none.
 * Valid until the next call. */
const char *symbolizer_symbol(struct symbolizer *sites, uint32_t process, uint64_t address);

#endif
