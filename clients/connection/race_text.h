/* Texts of data races (rows of the table `races`), in the words of ThreadSanitizer's reports. */
#ifndef CLIENTS_CONNECTION_RACE_TEXT_H
#define CLIENTS_CONNECTION_RACE_TEXT_H

#include "clients/connection/result_table.h"

/* Returns the memory that a race (a row of depth 0) is about, in new memory: "at count (global)",
 * "at offset 8 of a heap block", "on the stack of T:1". */
char *race_text_memory(const struct table_names *names, const struct result_table *table,
                       uint32_t row);
/* Returns what one access (a row of depth 1) did, in new memory: "write of 4 bytes by T:2 at f
 * (x.c:12)". */
char *race_text_access(const struct table_names *names, const struct result_table *table,
                       uint32_t row);
/* Returns the race in one sentence, without its kind, in new memory: the later access, and
 * the memory. */
char *race_text_summary(const struct table_names *names, const struct result_table *table,
                        uint32_t row);
/* Returns one of up to RACE_TEXT_MORE further sentences about a row, in new memory, or NULL. */
#define RACE_TEXT_MORE 3u
char *race_text_more(const struct table_names *names, const struct result_table *table,
                     uint32_t row, unsigned i);
/* Makes one race of those that are at the same source lines and about the same memory, as of
 * `count++`, which reads and writes: it keeps the place of the first, and the accesses of the one
 * with more writes. */
void race_text_merge(const struct table_names *names, struct result_table *table);
/* Writes all races, with their accesses. */
void race_text_write(struct text_table *sheet, const struct table_names *names,
                     const struct result_table *table);

#endif
