/* Snapshot of a process from outside: the state, registers and stack of each thread, the memory
 * around the futex at which it sleeps, and the mapped files. seized_process.c makes one of a
 * running process, core_file.c of a core file.
 *
 * All memory belongs to the snapshot. Not thread-safe. */
#ifndef CLIENTS_SNAPSHOT_SNAPSHOT_H
#define CLIENTS_SNAPSHOT_SNAPSHOT_H

#include "wire/trace_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- registers of a thread ----
 * They have their DWARF numbers, and are read, with the system call in which the thread is, from
 * the kernel's register sets of x86-64; elsewhere no register is known. */

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

/* ---- the snapshot ---- */

/* Limits of what is copied of a stack, and of all stacks: */
#define SNAPSHOT_STACK_BYTES (512u << 10)
#define SNAPSHOT_STACKS_BYTES (64u << 20)

/* Why a thread was not copied while it was stopped, but while it slept in a call, of which only the
 * stack pointer and the program counter may be known: */
enum snapshot_unstopped {
    UNSTOPPED_NOT, /* it was stopped */
    UNSTOPPED_CALL, /* a stop would end its system call early */
    UNSTOPPED_TRACED, /* another process traces it */
    UNSTOPPED_LATE, /* there was no time */
    UNSTOPPED_KINDS
};

struct snapshot_thread {
    uint32_t tid;
    uint32_t inner_tid; /* in the PID name space of its process, as glibc stores it */
    char name[32];
    char state; /* as in /proc/PID/stat; 0: unknown */
    bool in_kernel; /* asleep in the kernel, or the snapshot is of a core file */
    char wchan[48]; /* the kernel's function in which it sleeps; "": unknown */
    struct system_call call;
    struct registers registers;
    enum snapshot_unstopped unstopped;
    bool stack_cut; /* only a part of its stack was copied */
};

struct snapshot_memory {
    uint64_t start;
    size_t size;
    unsigned char *bytes; /* NULL: at `offset` of the core file */
    uint64_t offset;
};

struct snapshot_mapping {
    uint64_t start, end, offset;
    bool shared; /* with other processes; of a core file unknown */
    char *path; /* "": not a file */
};

struct snapshot {
    uint32_t pid;
    char *name; /* of its program */
    int core; /* the core file; -1: a running process */
    struct snapshot_thread *threads;
    size_t thread_count;
    struct snapshot_memory *memory; /* by address, without overlaps */
    size_t memory_count, memory_bytes;
    struct snapshot_mapping *mappings; /* by address */
    size_t mapping_count;
    uint64_t stopped_ns; /* for how long the process was stopped */
    bool cut; /* the core file is truncated */
};

/* Returns the number of bytes at an address that the snapshot has: at most `size`. */
size_t snapshot_read(const struct snapshot *snapshot, uint64_t address, void *to, size_t size);
bool snapshot_read_u32(const struct snapshot *snapshot, uint64_t address, uint32_t *value);
bool snapshot_read_u64(const struct snapshot *snapshot, uint64_t address, uint64_t *value);
/* Adds memory, as bytes that the snapshot frees, without what the snapshot has at its beginning and
 * from the next piece on. */
void snapshot_add_memory(struct snapshot *snapshot, struct snapshot_memory memory);
const struct snapshot_mapping *snapshot_mapping_at(const struct snapshot *snapshot,
                                                   uint64_t address);
/* Returns the thread with this number in the PID name space of the process; NULL: it has none. */
const struct snapshot_thread *snapshot_thread_of(const struct snapshot *snapshot,
                                                 uint32_t inner_tid);
/* Returns the thread with this thread pointer (pthread_t); NULL: none. */
const struct snapshot_thread *snapshot_thread_at(const struct snapshot *snapshot,
                                                 uint64_t thread_pointer);
void snapshot_free(struct snapshot *snapshot);

/* The ELF files that a process has mapped, where each is loaded, and whether the file is the one
 * that was mapped, by its build-id. */

/* Fills the modules of a process, which process_info_free() frees. Modules with a file that is
 * missing or of another build have a path without a directory, so that it is not opened. The files
 * of a process with another root directory are found below that. */
void loaded_modules_list(const struct snapshot *snapshot, struct process_info *process);

#endif
