#define _GNU_SOURCE
#include "clients/symbols/demangle.h"

#include "base/alloc.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- C++ ---- */

char *__cxa_demangle(const char *mangled, char *buffer, size_t *length,
                     int *status); /* libstdc++ */

static const char *demangle_strip_suffix(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0 ? text + n - k : NULL;
}

/* Cuts "(parameters)" and what follows, unless they belong to a lambda's name. */
static void cut_parameters(char *text)
{
    char *end = (char *)(uintptr_t)demangle_strip_suffix(text, " const");
    if (end)
        *end = 0;
    size_t n = strlen(text);
    if (!n || text[n - 1] != ')')
        return;
    int depth = 0;
    for (size_t i = n; i-- > 0;) {
        depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
        if (depth == 0) {
            text[i] = 0;
            return;
        }
    }
}

/* Reduces a name in place to the first argument of its std::tuple<...>; returns false if it has
 * none. */
static bool first_of_tuple(char *text)
{
    char *from = strstr(text, "std::tuple<");
    if (!from)
        return false;
    from += 11;
    int angles = 0, others = 0;
    size_t n = 0;
    for (; from[n]; n++) {
        char c = from[n];
        others += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
        if (others == 0 && angles == 0 && (c == ',' || c == '>'))
            break;
        angles += c == '<' ? 1 : c == '>' ? -1 : 0;
    }
    memmove(text, from, n);
    text[n] = 0;
    return n > 0;
}

/* Formats an OpenMP critical section: gcc's symbol for x is .gomp_critical_user_x, clang appends
 * .var. */
static bool critical_section(const char *symbol, char *text, size_t size)
{
    static const char before[] = ".gomp_critical_user_", behind[] = ".var";
    size_t n = strlen(symbol), first = sizeof before - 1, last = sizeof behind - 1;
    if (strncmp(symbol, before, first) != 0)
        return false;
    if (n >= first + last && strcmp(symbol + n - last, behind) == 0)
        n -= last;
    snprintf(text, size, "%.*s", n > first ? (int)(n - first) : 7,
             n > first ? symbol + first : "unnamed");
    return true;
}

/* Returns whether compilers added a part of a symbol between dots, as in f.isra.0, f.cold,
 * variable.0; f.actor and f.resume run the coroutine f. */
static bool is_added(const char *part, size_t length)
{
    static const char *const words[] = {"part", "isra",       "constprop", "cold",  "lto_priv",
                                        "llvm", "localalias", "actor",     "resume"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncmp(part, words[i], length) == 0)
            return true;
    return strspn(part, "0123456789") >= length;
}

/* Returns the length of a symbol without the parts that compilers added, and without its version
 * (@GLIBC_2.34). */
static size_t length_written(const char *symbol)
{
    size_t written = strcspn(symbol, "@");
    written = written ? written : strlen(symbol);
    for (size_t dot = written; dot-- > 1;)
        if (symbol[dot] == '.') {
            if (!is_added(symbol + dot + 1, written - dot - 1))
                break;
            written = dot;
        }
    return written;
}

const char *demangle_shorten(const char *symbol, char *text, size_t size)
{
    int status;
    if (critical_section(symbol, text, size))
        return text;
    size_t length = length_written(symbol);
    char *written = xstrndup(symbol, length),
         *name =
             strncmp(written, "_Z", 2) == 0 ? __cxa_demangle(written, NULL, NULL, &status) : NULL;
    if (!name) { /* a C symbol */
        snprintf(text, size, "%s", written);
        free(written);
        return text;
    }
    free(written);
    bool async = strstr(name, "::_Async_state_impl<") != NULL;
    if (!((async || strstr(name, "std::thread::_State_impl<")) && first_of_tuple(name))) {
        cut_parameters(name);
        char *call = (char *)(uintptr_t)demangle_strip_suffix(name, "::operator()");
        if (call && call != name)
            *call = 0;
        async = false;
    }
    /* (uC++ renames the function main.) */
    snprintf(text, size, "%s%s", async ? "async " : "",
             strcmp(name, "uCpp_main") == 0 ? "main" : name);
    free(name);
    return text;
}

/* ---- parts of variables ---- */

static bool is_at(Dwarf_Die *die, uint64_t address)
{
    Dwarf_Attribute attribute, indirect;
    Dwarf_Op *operations;
    Dwarf_Addr value;
    size_t count;
    if (dwarf_tag(die) != DW_TAG_variable ||
        dwarf_getlocation(dwarf_attr(die, DW_AT_location, &attribute), &operations, &count) != 0 ||
        count != 1)
        return false;
    if (operations->atom == DW_OP_addr)
        return operations->number == address;
    return operations->atom == DW_OP_addrx && /* index in .debug_addr */
           dwarf_getlocation_attr(&attribute, operations, &indirect) == 0 &&
           dwarf_formaddr(&indirect, &value) == 0 && value == address;
}

/* Finds the variable at an address in a scope and in its functions, blocks and namespaces. */
static bool find_variable(Dwarf_Die *scope, uint64_t address, int depth, Dwarf_Die *found)
{
    Dwarf_Die child;
    if (depth > 8 || dwarf_child(scope, &child) != 0)
        return false;
    do {
        int tag = dwarf_tag(&child);
        if (is_at(&child, address)) {
            *found = child;
            return true;
        }
        if ((tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace) &&
            find_variable(&child, address, depth + 1, found))
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) &&
           dwarf_peel_type(type, type) == 0;
}

static bool is_class(Dwarf_Die *type)
{
    return dwarf_tag(type) == DW_TAG_structure_type || dwarf_tag(type) == DW_TAG_class_type;
}

/* Returns whether its type is one of the traced synchronization objects. */
static bool is_followed(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    const char *name = dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type)
                           ? dwarf_diename(&type)
                           : NULL;
    static const char *const names[] = {
        "pthread_",           "sem_t",      "mtx_t",       "cnd_t",   "once_flag",  "mutex",
        "condition_variable", "recursive_", "timed_mutex", "shared_", "uOwnerLock", "uMutexLock",
        "uCondLock",          "uSemaphore"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Finds the member that contains an offset, and subtracts the member's offset. */
static bool member_at(Dwarf_Die *type, uint64_t *offset, Dwarf_Die *member)
{
    Dwarf_Die child;
    if (dwarf_child(type, &child) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word at = 0, bytes = 0;
        Dwarf_Die its;
        if (dwarf_tag(&child) != DW_TAG_member || !dwarf_diename(&child) ||
            dwarf_formudata(dwarf_attr(&child, DW_AT_data_member_location, &attribute), &at) != 0 ||
            !type_of(&child, &its) || dwarf_aggregate_size(&its, &bytes) != 0)
            continue;
        if (*offset >= at && *offset - at < bytes) {
            *offset -= at;
            *member = child;
            return true;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* Formats the indices of an element, such as "[1][2]"; returns the length. */
static size_t write_indices(Dwarf_Die *array, uint64_t element, char *text, size_t size)
{
    uint64_t counts[8], rest = 1;
    unsigned dimensions = 0;
    size_t used = 0;
    Dwarf_Die child;
    if (dwarf_child(array, &child) == 0)
        do {
            Dwarf_Attribute attribute;
            Dwarf_Word bound;
            if (dwarf_tag(&child) == DW_TAG_subrange_type && dimensions < 8)
                counts[dimensions++] =
                    dwarf_formudata(dwarf_attr(&child, DW_AT_count, &attribute), &bound) == 0
                        ? bound
                    : dwarf_formudata(dwarf_attr(&child, DW_AT_upper_bound, &attribute), &bound) ==
                            0
                        ? bound + 1
                        : 1;
        } while (dwarf_siblingof(&child, &child) == 0);
    for (unsigned i = 1; i < dimensions; i++)
        rest *= counts[i] ? counts[i] : 1;
    for (unsigned i = 0; i < dimensions || i == 0; i++) {
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "[%llu]",
                                     (unsigned long long)(element / rest));
        element %= rest;
        rest /= i + 1 < dimensions && counts[i + 1] ? counts[i + 1] : 1;
    }
    return used;
}

static void write_part(Dwarf_Die *variable, uint64_t offset, char *text, size_t size)
{
    Dwarf_Die die = *variable, type, element;
    size_t used = 0;
    *text = 0;
    for (int depth = 0; depth < 16 && used < size && !is_followed(&die) && type_of(&die, &type);
         depth++) {
        Dwarf_Word bytes;
        if (dwarf_tag(&type) == DW_TAG_array_type) {
            if (!type_of(&type, &element) || dwarf_aggregate_size(&element, &bytes) != 0 || !bytes)
                break;
            used += write_indices(&type, offset / bytes, text + used, size - used);
            offset %= bytes;
            die = type; /* its DW_AT_type is the type of elements */
        } else if (is_class(&type) && member_at(&type, &offset, &die)) {
            const char *name = dwarf_diename(&die);
            if (strncmp(name, "_M_", 3) != 0 &&
                strncmp(name, "__", 2) != 0) /* not the library's own */
                used += (size_t)snprintf(text + used, size - used, ".%s", name);
        } else {
            break;
        }
    }
    if (offset && used < size)
        snprintf(text + used, size - used, "+%llu", (unsigned long long)offset);
}

static bool demangle_find_entity(Dwfl_Module *module, uint64_t address, Dwarf_Die *variable)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = NULL;
    while ((unit = dwfl_module_nextcu(module, unit, &bias)) != NULL)
        if (find_variable(unit, address - bias, 0, variable))
            return true;
    return false;
}

bool demangle_part(struct demangle_last *last, Dwfl_Module *module, uint64_t variable,
                   uint64_t offset, char *text, size_t size)
{
    if (last->module != module || last->variable != variable) {
        *last = (struct demangle_last){.module = module, .variable = variable};
        last->found = demangle_find_entity(module, variable, &last->die);
    }
    if (last->found)
        write_part(&last->die, offset, text, size);
    return last->found;
}

/* Functions that wait for the word of any object are instances of templates: their arguments name
 * the function that calls them. */
static const char *demangle_object_of_argument(const char *function)
{
    static const struct {
        const char *part, *object;
    } parts[] = {{"latch::", "latch"},
                 {"tree_barrier<", "barrier"},
                 {"atomic_semaphore::", "semaphore"},
                 {"counting_semaphore<", "semaphore"},
                 {"atomic_base<", "atomic variable"}};
    const char *arguments = strstr(function, "atomic_wait_address");
    for (size_t i = 0; arguments && i < sizeof parts / sizeof *parts; i++)
        if (strstr(arguments, parts[i].part))
            return parts[i].object;
    return NULL;
}

const char *demangle_library_object(const char *function)
{
    static const struct {
        const char *function, *object; /* without std:: and underscores */
    } objects[] = {{"basic_future", "future"},
                   {"future", "future"},
                   {"shared_future", "future"},
                   {"atomic_futex_unsigned", "future"},
                   {"latch", "latch"},
                   {"barrier", "barrier"},
                   {"tree_barrier", "barrier"},
                   {"counting_semaphore", "semaphore"},
                   {"atomic_semaphore", "semaphore"},
                   {"semaphore", "semaphore"},
                   {"atomic_wait_address_v", "atomic variable"},
                   {"atomic_wait_address", "latch or atomic variable"},
                   {"atomic", "atomic variable"},
                   {"pthread_cond_destroy", "waiter to leave, to destroy"},
                   {"pthread_barrier_destroy", "participant to leave, to destroy"},
                   {"cxa_guard_acquire", "static variable being initialized"}};
    static const char *const before[] = {"void ", "bool ", "std::"};
    const char *of_argument = demangle_object_of_argument(function);
    if (of_argument)
        return of_argument;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        function += strncmp(function, before[i], strlen(before[i])) == 0 ? strlen(before[i]) : 0;
    function += strspn(function, "_");
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (strncmp(function, objects[i].function, strlen(objects[i].function)) == 0)
            return objects[i].object;
    return NULL;
}
