/* Untraced synchronization among the functions that the program imports. */
#ifndef CLIENTS_LIBPOET_CORE_UNTRACED_IMPORTS_H
#define CLIENTS_LIBPOET_CORE_UNTRACED_IMPORTS_H

#pragma GCC visibility push(hidden)

void untraced_imports_report(
    void); /* Reports the untraced functions that the program's files import. */

#pragma GCC visibility pop
#endif
