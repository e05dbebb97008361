/* Messages on standard error. */
#ifndef CLIENTS_LIBPOET_CORE_STDERR_LOG_H
#define CLIENTS_LIBPOET_CORE_STDERR_LOG_H

#pragma GCC visibility push(hidden)

/* Must be called before any other: finds out what standard error is. */
void stderr_log_begin(void);
void stderr_log_begun(void); /* From here on the environment belongs to the program. */
void stderr_log_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a message unless an ancestor process has printed it: for problems that concern all of them
 * alike. */
void stderr_log_print_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop
#endif
