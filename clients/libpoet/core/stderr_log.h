/* What is said on standard error. */
#ifndef CLIENTS_LIBPOET_CORE_STDERR_LOG_H
#define CLIENTS_LIBPOET_CORE_STDERR_LOG_H

#pragma GCC visibility push(hidden)

void stderr_log_begin(void); /* before any other: what standard error is */
void stderr_log_begun(void); /* from here on the environment is the program's */
void stderr_log_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, unless a process that this one comes from said it: what is wrong for all of them
 * alike. */
void stderr_log_print_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop
#endif
