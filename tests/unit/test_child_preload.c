/* LD_PRELOAD of the programs that a traced program executes: Poet's libraries are left out, and a
 * sanitizer is put in front, where the program's file requires it. */
#define _GNU_SOURCE
#include "clients/libpoet/core/child_preload.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *tracer_arena_alloc(size_t bytes)
{
    static char memory[1 << 16];
    static size_t used;
    char *p = memory + used;
    used += (bytes + 15) & ~(size_t)15;
    return used <= sizeof memory ? p : NULL;
}

/* ---- files ---- */

static char directory[] = "/tmp/children.XXXXXX", path[64], other[64];

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/program", directory);
    snprintf(other, sizeof other, "%s/other", directory);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(directory);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(name, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fchmod(fileno(f), 0700), 0);
    assert_int_equal(fclose(f), 0);
}

struct program {
    ElfW(Ehdr) head;
    ElfW(Phdr) parts[3];
    ElfW(Dyn) dynamic[4];
    char text[128];
};

/* Makes the file of a program for this machine, with its interpreter (NULL: static) and the
 * library that it needs. */
static struct program make_program(const char *interpreter, const char *library)
{
    struct program p = {.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                                             sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32},
                                 .e_phoff = offsetof(struct program, parts),
                                 .e_phnum = 3}};
    const ElfW(Addr) base = 0x10000, text = base + offsetof(struct program, text);
    ElfW(Ehdr) own;
    FILE *f = fopen("/proc/self/exe", "re");
    assert_non_null(f);
    assert_int_equal(fread(&own, sizeof own, 1, f), 1);
    fclose(f);
    p.head.e_machine = own.e_machine;
    p.parts[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_vaddr = base, .p_filesz = sizeof p};
    if (interpreter) {
        p.parts[1] = (ElfW(Phdr)){.p_type = PT_INTERP, .p_vaddr = text, .p_filesz = 32};
        snprintf(p.text, 64, "%s", interpreter);
    }
    p.parts[2] = (ElfW(Phdr)){.p_type = PT_DYNAMIC,
                              .p_offset = offsetof(struct program, dynamic),
                              .p_filesz = sizeof p.dynamic};
    p.dynamic[0] = (ElfW(Dyn)){.d_tag = DT_NEEDED, .d_un.d_val = 64};
    p.dynamic[1] = (ElfW(Dyn)){.d_tag = DT_STRTAB, .d_un.d_ptr = text};
    snprintf(p.text + 64, 64, "%s", library);
    return p;
}

static void write_program(const char *interpreter, const char *library)
{
    struct program p = make_program(interpreter, library);
    write_file(path, &p, sizeof p);
}

#define LOADER "/lib/ld-linux.so.2"

/* ---- the variable ---- */

/* Expects the LD_PRELOAD with which the program is executed; "": none; NULL: unchanged. */
static void becomes(const char *program, const char *list, const char *wanted)
{
    char variable[512];
    char *environment[] = {(char *)(uintptr_t) "A=1", variable, (char *)(uintptr_t) "B=2", NULL};
    struct child_preload_change change;
    snprintf(variable, sizeof variable, "LD_PRELOAD=%s", list);
    errno = 77;
    bool changes = child_preload_check(program, environment, &change);
    assert_int_equal(errno, 77);
    assert_int_equal(changes, wanted != NULL);
    if (!changes)
        return;
    void *room = malloc(change.bytes);
    assert_non_null(room);
    char **is = child_preload_write(&change, room);
    assert_string_equal(*is++, "A=1");
    if (*wanted) {
        assert_int_equal(strncmp(*is, "LD_PRELOAD=", 11), 0);
        assert_string_equal(*is++ + 11, wanted);
    }
    assert_string_equal(*is++, "B=2");
    assert_null(*is);
    free(room);
}

static void a_program_with_the_c_library_keeps_it(void **state)
{
    (void)state;
    write_program(LOADER, "libc.so.6");
    becomes(path, "libpoet.so.0", NULL);
    becomes(path, "libother.so libpoet.so.0", NULL);
}

static void a_program_without_it_loses_poets_libraries_only(void **state)
{
    (void)state;
    write_program(NULL, "libc.so.6");
    becomes(path, "libpoet.so.0", "");
    becomes(path, "libone.so:libpoet.so.0 libpoet-process.so  libtwo.so:", "libone.so libtwo.so");
    becomes(path, "libone.so libtwo.so", NULL); /* it is not traced */
    becomes(path, "libasan.so.8 libpoet.so.0", "");
    becomes(path, "", NULL);
    write_program("/lib/ld-musl-x86_64.so.1", "libc.so");
    becomes(path, "libpoet.so.0", "");
    write_program(LOADER, "libtsan.so.2");
    becomes(path, "libpoet.so.0", "");
}

static void a_library_is_poets_by_the_name_of_its_file(void **state)
{
    (void)state;
    write_program(NULL, "libc.so.6");
    becomes(path, "/libpoet/libone.so", NULL);
    becomes(path, "/libpoet/libone.so libpoet-omp.so", "/libpoet/libone.so");
    becomes(path, "libpoe.so", NULL);
    becomes(path, "mylibpoet.so", NULL);
}

static void a_sanitizer_comes_first(void **state)
{
    (void)state;
    write_program(LOADER, "libasan.so.8");
    becomes(path, "libpoet.so.0", "libasan.so.8 libpoet.so.0");
    becomes(path, "libone.so:libpoet.so.0", "libasan.so.8 libone.so libpoet.so.0");
    becomes(path, "libasan.so.8 libpoet.so.0", NULL);
    becomes(path, "liblsan.so.0 libpoet.so.0", "libasan.so.8 libpoet.so.0");
    becomes(path, "libasan.so.80 libpoet.so.0", "libasan.so.8 libpoet.so.0");
    becomes(path, "libpoet.so.0 libasan.so.8", "libasan.so.8 libpoet.so.0 libasan.so.8");
    write_program(LOADER, "libc.so.6"); /* it was added for the program before */
    becomes(path, "libasan.so.8 libpoet.so.0", "libpoet.so.0");
}

/* Elsewhere it may have been another root. */
static void libraries_that_are_not_there_are_left_out(void **state)
{
    char list[128];
    (void)state;
    write_program(LOADER, "libc.so.6");
    becomes(path, "/nowhere/libpoet.so.0 libone.so", "libone.so");
    snprintf(list, sizeof list, "%s/libpoet.so.0", directory);
    becomes(path, list, "");
    becomes(path, "/nowhere/libone.so libpoet.so.0", NULL);
}

static void a_script_is_its_interpreter(void **state)
{
    char line[128];
    (void)state;
    write_program(NULL, "libc.so.6");
    snprintf(line, sizeof line, "#! \t%s -x\necho\n", path);
    write_file(other, line, strlen(line));
    becomes(other, "libpoet.so.0", "");
    write_program(LOADER, "libc.so.6");
    becomes(other, "libpoet.so.0", NULL);
    snprintf(line, sizeof line, "#!%s", other); /* its own */
    write_file(other, line, strlen(line));
    becomes(other, "libpoet.so.0", NULL);
}

static void what_is_not_read_is_assumed_to_bear_it(void **state)
{
    struct program p = make_program(NULL, "libc.so.6");
    (void)state;
    becomes("/nowhere/program", "libpoet.so.0", NULL);
    becomes(directory, "libpoet.so.0", NULL);
    write_file(path, "", 0);
    becomes(path, "libpoet.so.0", NULL);
    write_file(path, "#!", 2);
    becomes(path, "libpoet.so.0", NULL);
    write_file(path, &p, sizeof p.head); /* without program headers */
    becomes(path, "libpoet.so.0", NULL);
    p.head.e_phnum = 25; /* more than are read */
    write_file(path, &p, sizeof p);
    becomes(path, "libpoet.so.0", NULL);
    p.head.e_phnum = 3;
    p.head.e_machine ^= 1; /* another machine's */
    write_file(path, &p, sizeof p);
    becomes(path, "libpoet.so.0", "");
}

static void malformed_files_are_read_without_faults(void **state)
{
    unsigned random = 5;
    char *environment[] = {(char *)(uintptr_t) "LD_PRELOAD=libpoet.so.0", NULL};
    (void)state;
    for (unsigned round = 0; round < 500; round++) {
        struct program p = make_program(LOADER, "libasan.so.8");
        struct child_preload_change change;
        for (unsigned i = 1 + execution_random(&random, 12); i > 0; i--)
            ((unsigned char *)&p)[EI_NIDENT + execution_random(&random, sizeof p - EI_NIDENT)] =
                (unsigned char)execution_random(&random, 256);
        write_file(path, &p, 1 + execution_random(&random, sizeof p));
        if (child_preload_check(path, environment, &change))
            assert_true(strlen(change.sanitizer) < sizeof change.sanitizer);
    }
}

static void a_name_without_slash_is_searched_in_path(void **state)
{
    char *environment[] = {(char *)(uintptr_t) "LD_PRELOAD=libpoet.so.0", NULL};
    char list[256], slash[64], *before = strdup(getenv("PATH") ? getenv("PATH") : "");
    struct child_preload_change change;
    (void)state;
    write_program(NULL, "libc.so.6");
    snprintf(list, sizeof list, "/nowhere:%s:/bin", directory);
    setenv("PATH", list, 1);
    assert_true(child_preload_check_in_path("program", environment, &change));
    assert_false(child_preload_check_in_path("absent", environment, &change));
    snprintf(slash, sizeof slash, "%s/program", directory);
    setenv("PATH", "/nowhere", 1);
    assert_false(child_preload_check_in_path("program", environment, &change));
    assert_true(child_preload_check_in_path(slash, environment, &change));
    setenv("PATH", list, 1);
    chmod(path, 0600); /* it cannot be executed */
    assert_false(child_preload_check_in_path("program", environment, &change));
    assert_false(child_preload_check_in_path(NULL, environment, &change));
    setenv("PATH", before, 1);
    free(before);
}

/* A directory of that name is not executed: the search continues. */
static void a_directory_of_that_name_is_passed_over(void **state)
{
    char *environment[] = {(char *)(uintptr_t) "LD_PRELOAD=libpoet.so.0", NULL};
    char list[256], *before = strdup(getenv("PATH") ? getenv("PATH") : "");
    struct child_preload_change change;
    (void)state;
    write_program(NULL, "libc.so.6");
    unlink(other);
    assert_int_equal(mkdir(other, 0700), 0);
    snprintf(list, sizeof list, "%s/program", other);
    assert_int_equal(mkdir(list, 0700), 0);
    snprintf(list, sizeof list, "%s:%s", other, directory);
    setenv("PATH", list, 1);
    bool changes = child_preload_check_in_path("program", environment, &change);
    setenv("PATH", before, 1);
    free(before);
    snprintf(list, sizeof list, "%s/program", other);
    rmdir(list);
    rmdir(other);
    assert_true(changes);
}

static void an_empty_directory_of_path_is_the_current_one(void **state)
{
    static const char *const lists[] = {"", ":", "/nowhere:", ":/nowhere", "/nowhere::/nowhere"};
    char *environment[] = {(char *)(uintptr_t) "LD_PRELOAD=libpoet.so.0", NULL};
    char *before = strdup(getenv("PATH") ? getenv("PATH") : "");
    int here = open(".", O_RDONLY | O_CLOEXEC);
    unsigned found = 0;
    (void)state;
    write_program(NULL, "libc.so.6");
    assert_int_equal(chdir(directory), 0);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct child_preload_change change;
        setenv("PATH", lists[i], 1);
        found += child_preload_check_in_path("program", environment, &change);
    }
    assert_int_equal(fchdir(here), 0);
    close(here);
    setenv("PATH", before, 1);
    free(before);
    assert_int_equal(found, sizeof lists / sizeof *lists);
}

static void a_process_that_may_not_open_files_changes_nothing(void **state)
{
    (void)state;
    write_program(NULL, "libc.so.6");
    tracer.seccomp.denied = 1u << ALLOWED_PROGRAMS;
    becomes(path, "libpoet.so.0", NULL);
    tracer.seccomp.denied = 0;
}

static void what_was_preloaded_for_this_program_is_removed(void **state)
{
    static const char *const all[][2] = {
        {"libasan.so.8 libpoet.so.0", "libpoet.so.0"},
        {"libasan.so.8:/a/liblsan.so:libpoet.so.0 libone.so",
         "/a/liblsan.so libpoet.so.0 libone.so"},
        {"libpoet.so.0 libasan.so.8", "libpoet.so.0 libasan.so.8"},
        {"libone.so libasan.so.8 libpoet.so.0", "libone.so libasan.so.8 libpoet.so.0"},
        {"libasan.so.8", "libasan.so.8"},
        {"", ""}};
    char *before = getenv("LD_PRELOAD") ? strdup(getenv("LD_PRELOAD")) : NULL;
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        setenv("LD_PRELOAD", all[i][0], 1);
        child_preload_begin();
        assert_string_equal(getenv("LD_PRELOAD"), all[i][1]);
    }
    unsetenv("LD_PRELOAD");
    child_preload_begin();
    assert_null(getenv("LD_PRELOAD"));
    if (before)
        setenv("LD_PRELOAD", before, 1);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_with_the_c_library_keeps_it),
        cmocka_unit_test(a_program_without_it_loses_poets_libraries_only),
        cmocka_unit_test(a_library_is_poets_by_the_name_of_its_file),
        cmocka_unit_test(a_sanitizer_comes_first),
        cmocka_unit_test(libraries_that_are_not_there_are_left_out),
        cmocka_unit_test(a_script_is_its_interpreter),
        cmocka_unit_test(what_is_not_read_is_assumed_to_bear_it),
        cmocka_unit_test(malformed_files_are_read_without_faults),
        cmocka_unit_test(a_name_without_slash_is_searched_in_path),
        cmocka_unit_test(a_directory_of_that_name_is_passed_over),
        cmocka_unit_test(an_empty_directory_of_path_is_the_current_one),
        cmocka_unit_test(a_process_that_may_not_open_files_changes_nothing),
        cmocka_unit_test(what_was_preloaded_for_this_program_is_removed),
    };
    return cmocka_run_group_tests_name("children", tests, begin, end);
}
