/* Registers of a thread by their DWARF numbers, and the system call in which it is, from the
 * kernel's register sets of x86-64; elsewhere no register is known. */
#ifndef CLIENTS_SNAPSHOT_REGISTERS_H
#define CLIENTS_SNAPSHOT_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of registers, and those with a meaning of their own. */
enum { REGISTER_COUNT = 17, REGISTER_STACK = 7, REGISTER_PROGRAM = 16 };

struct registers {
    uint64_t values[REGISTER_COUNT];
    uint32_t known; /* a bit for each */
    uint64_t thread_pointer; /* of glibc's struct pthread; 0: unknown */
};

struct system_call {
    int64_t number; /* -1: in none */
    uint64_t arguments[6];
};

/* Reads the general register set of ptrace(2) and NT_PRSTATUS. Returns false if it has another
 * size. */
bool registers_read(const void *set, size_t size, struct registers *registers,
                    struct system_call *call);
/* Sets what /proc/PID/task/TID/syscall has. */
void registers_set_position(struct registers *registers, uint64_t stack, uint64_t program);
/* Returns whether a register keeps its value across calls. */
bool register_is_preserved(unsigned number);

#endif
