/* Places in the code: which function an address is in, and where the program called the library.
 *
 * No lock of the dynamic linker is taken, as dladdr() does: a task whose time slice ends while it
 * holds one keeps it, and another one may come here with a spin lock. */
#include "objects.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

/* ---- functions of the program ---- */

/* Executable memory of the program and its libraries, as it was when this was first asked. */
struct code_range {
    uintptr_t from, to;
};

enum { RANGES = 256 };

static struct {
    code_range ranges[RANGES];
    unsigned range_count;
    uintptr_t bias;            /* of the program's symbols */
    const ElfW(Sym) * symbols; /* of its dynamic symbol table: u++ exports all of them */
    const char *names;
    uint32_t *functions; /* its functions in that, by address */
    size_t function_count;
    bool known;
    spinlock lock;
} code;

/* The number of entries of a symbol table, from its hash table (the GNU one). */
static size_t code_count_symbols(const uint32_t *hash)
{
    uint32_t bucket_count = hash[0], first = hash[1], bloom_words = hash[2], last = 0;
    const uint32_t *buckets = hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chains = buckets + bucket_count;
    for (uint32_t i = 0; i < bucket_count; i++)
        last = std::max(last, buckets[i]);
    if (last < first)
        return first;
    while (!(chains[last - first] & 1))
        last++;
    return last + 1;
}

static bool code_is_function(const ElfW(Sym) & symbol)
{
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value && symbol.st_size;
}

static void code_list_functions(size_t symbol_count)
{
    void *list = mmap(nullptr, symbol_count * sizeof *code.functions + 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (list == MAP_FAILED)
        return;
    code.functions = static_cast<uint32_t *>(list);
    for (size_t i = 0; i < symbol_count; i++)
        if (code_is_function(code.symbols[i]))
            code.functions[code.function_count++] = uint32_t(i);
    std::sort(code.functions, code.functions + code.function_count, [](uint32_t a, uint32_t b) {
        return code.symbols[a].st_value < code.symbols[b].st_value;
    });
}

/* The program is the first module. (The dynamic linker has made its addresses absolute.) */
static void code_read_program(const ElfW(Dyn) * entry)
{
    const uint32_t *hash = nullptr;
    for (; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SYMTAB)
            code.symbols = reinterpret_cast<const ElfW(Sym) *>(entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            code.names = reinterpret_cast<const char *>(entry->d_un.d_ptr);
        else if (entry->d_tag == DT_GNU_HASH)
            hash = reinterpret_cast<const uint32_t *>(entry->d_un.d_ptr);
    if (code.symbols && code.names && hash)
        code_list_functions(code_count_symbols(hash));
}

static int code_read_module(struct dl_phdr_info *module, size_t, void *first)
{
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = module->dlpi_phdr[i];
        uintptr_t at = module->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X) && code.range_count < RANGES)
            code.ranges[code.range_count++] = {at, at + part.p_memsz};
        if (part.p_type == PT_DYNAMIC && *static_cast<bool *>(first)) {
            code.bias = module->dlpi_addr;
            code_read_program(reinterpret_cast<const ElfW(Dyn) *>(at));
        }
    }
    *static_cast<bool *>(first) = false;
    return 0;
}

/* (First called by the task that boots the kernel, alone.) */
static void code_read()
{
    unsliced part;
    code.lock.acquire();
    if (!code.known && UPP::RealRtn::dl_iterate_phdr) { /* (uC++'s own calls that one) */
        bool first = true;
        dl_iterate_phdr(code_read_module, &first);
        code.known = true;
    }
    code.lock.release();
}

static bool code_is_executable(uintptr_t address)
{
    return std::any_of(code.ranges, code.ranges + code.range_count, [address](const code_range &r) {
        return address >= r.from && address < r.to;
    });
}

/* Returns the first of the program's functions that begins behind an address. */
static const uint32_t *code_function_behind(uintptr_t address)
{
    return std::upper_bound(code.functions, code.functions + code.function_count,
                            address - code.bias, [](uintptr_t at, uint32_t symbol) {
                                return at < code.symbols[symbol].st_value;
                            });
}

/* Returns the symbol of the program's function at an address; nullptr: none. */
static const ElfW(Sym) * code_symbol_at(uintptr_t address)
{
    const uint32_t *behind = code_function_behind(address);
    if (behind == code.functions)
        return nullptr;
    const ElfW(Sym) *symbol = &code.symbols[behind[-1]];
    return address - code.bias < symbol->st_value + symbol->st_size ? symbol : nullptr;
}

/* ---- places ---- */

struct code_place {
    const char *site, *of_class;
    bool is_code, is_main, is_pthread, is_library, is_inline;
    bool is_deleting; /* the destructor that also frees the object */
};

/* Whether a symbol is that of a member of one of the library's classes, also an inline one. */
static bool code_symbol_is_of_library(const char *symbol)
{
    static const char osacquire[] = "_ZNSt13basic_acquire"; /* of a stream, in its own ostream.h */
    if (strncmp(symbol, osacquire, sizeof osacquire - 1) == 0)
        return true;
    if (strncmp(symbol, "_ZN", 3) != 0)
        return false;
    const char *space = symbol + 3 + strspn(symbol + 3, "K");
    space += strncmp(space, "3UPP", 4) == 0 ? 4 : 0;
    return name_is_of_library(space + strspn(space, "0123456789"));
}

static bool code_function_is_of_kernel(uint32_t function)
{
    const ElfW(Sym) &symbol = code.symbols[function];
    return ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
           code_symbol_is_of_library(code.names + symbol.st_name);
}

/* Whether an address that is in no function with a symbol is in a static one, or a part of one, of
 * the library: between two of its functions. */
static bool code_gap_is_of_library(uintptr_t address)
{
    const uint32_t *behind = code_function_behind(address);
    return behind != code.functions && behind != code.functions + code.function_count &&
           code_function_is_of_kernel(behind[-1]) && code_function_is_of_kernel(*behind);
}

/* Cuts the class out of a demangled name: "N::Buffer<int>::insert(int)" becomes "Buffer<int>". */
static const char *code_cut_class(char *function, bool *is_main)
{
    char *name = function, *member = nullptr;
    int depth = 0;
    for (char *c = function; *c && (depth || *c != '('); c++)
        if (*c == '<') {
            depth++;
        } else if (*c == '>' && depth) {
            depth--;
        } else if (!depth && *c == ' ') { /* behind a type */
            name = c + 1;
            member = nullptr;
        } else if (!depth && c[0] == ':' && c[1] == ':') {
            name = member ? member : name;
            member = ++c + 1;
        }
    if (!member)
        return nullptr;
    *is_main = strncmp(member, "main(", 5) == 0;
    member[-2] = '\0';
    return name;
}

/* The places that were looked up last. Readers take no lock, as each event has several: they notice
 * by `version` whether a place changed meanwhile, also by a task that was given a time slice. */
enum { PLACE_BITS = 10 };
static struct remembered_place {
    unsigned version; /* odd: it is being written */
    code_place place;
} places[1 << PLACE_BITS];
static data_lock places_lock;

static remembered_place &code_remembered(const char *site)
{
    return places[(uintptr_t(site) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PLACE_BITS)];
}

/* Returns what is remembered of a place; one of another `site`: nothing. */
static code_place code_find(const char *site)
{
    const remembered_place &r = code_remembered(site);
    unsigned version = __atomic_load_n(&r.version, __ATOMIC_ACQUIRE);
    code_place place = r.place;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (version & 1 || __atomic_load_n(&r.version, __ATOMIC_RELAXED) != version)
        place.site = nullptr;
    return place;
}

static void code_remember(code_place &place)
{
    unsliced part;
    char *kept =
        place.of_class ? static_cast<char *>(memory_get(strlen(place.of_class) + 1)) : nullptr;
    place.of_class = kept ? strcpy(kept, place.of_class) : nullptr;
    remembered_place &r = code_remembered(place.site);
    if (!places_lock.acquire())
        return;
    __atomic_store_n(&r.version, r.version + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    r.place = place;
    __atomic_store_n(&r.version, r.version + 1, __ATOMIC_RELEASE);
    places_lock.release();
}

static code_place code_at(const char *site)
{
    code_place place = code_find(site);
    if (place.site == site)
        return place;
    place = {};
    place.site = site;
    if (!code.known)
        code_read();
    if (!code.known) /* the kernel has not begun */
        return place;
    place.is_code = code_is_executable(uintptr_t(site));
    const ElfW(Sym) *symbol = code_symbol_at(uintptr_t(site));
    const char *name = symbol ? code.names + symbol->st_name : "";
    /* A function of the library that ends with a call (a tail call) returns to the adapter's. */
    bool wraps = strncmp(name, "__wrap_", 7) == 0;
    name += wraps ? 7 : 0;
    int status;
    place.is_pthread = strncmp(name, "pthread_", 8) == 0;
    place.is_library = symbol ? wraps || place.is_pthread || code_symbol_is_of_library(name)
                              : code_gap_is_of_library(uintptr_t(site));
    place.is_inline = !place.is_library || place.is_pthread ||
                      (symbol && ELF64_ST_BIND(symbol->st_info) == STB_WEAK);
    place.is_deleting = strlen(name) > 4 && strcmp(name + strlen(name) - 4, "D0Ev") == 0;
    char *function = symbol ? abi::__cxa_demangle(name, nullptr, nullptr, &status) : nullptr;
    if (function)
        place.of_class = code_cut_class(function, &place.is_main);
    code_remember(place);
    free(function);
    return place;
}

const char *code_class(const char *site) { return code_at(site).of_class; }
bool code_is_pthread(const char *site) { return code_at(site).is_pthread; }
bool code_is_inline(const char *site) { return code_at(site).is_inline; }

/* Returns the frame of the function that called the one with this frame; nullptr: unknown, as it
 * may have none. */
static void *const *code_outer_frame(void *const *frame)
{
    void *const *outer = static_cast<void *const *>(frame[0]);
    bool known =
        outer > frame && outer < uThisCoroutine().base_ && uintptr_t(outer) % sizeof *outer == 0;
    return known && code_at(static_cast<const char *>(outer[1]) - 1).is_code ? outer : nullptr;
}

/* (u++ names the tasks and coroutines of a template without its arguments.) */
static bool code_is_member(const char *site, const char *of_class)
{
    code_place place = code_at(site);
    size_t length = of_class ? strlen(of_class) : 0;
    return !place.is_main && !place.is_library && place.of_class && length &&
           strncmp(place.of_class, of_class, length) == 0 &&
           (!place.of_class[length] || place.of_class[length] == '<');
}

const char *code_call_of_member(const char *site, void *const *frame, const char *of_class)
{
    void *const *member = code_is_member(site, of_class) ? code_outer_frame(frame) : nullptr;
    if (member) {
        site = static_cast<const char *>(member[1]) - 1;
        if (code_at(site).is_deleting) /* it called that destructor */
            member = code_outer_frame(member);
    }
    return code_call_of_library(member ? static_cast<const char *>(member[1]) - 1 : site);
}

const char *code_call_of_inline(const char *site, void *const *frame)
{
    enum { NESTED_MOST = 4 };
    for (unsigned nested = 0; nested < NESTED_MOST; nested++) {
        code_place place = code_at(site);
        bool out_of_line = place.is_library && place.is_inline && !place.is_pthread;
        frame = out_of_line ? code_outer_frame(frame) : nullptr;
        if (!frame)
            break;
        site = static_cast<const char *>(frame[1]) - 1;
    }
    return site;
}

/* (Not in the unwind.h of uC++.) */
extern "C" _Unwind_Reason_Code
_Unwind_Backtrace(_Unwind_Reason_Code (*)(struct _Unwind_Context *, void *), void *);

/* The search for the first frame outside of the library that is around `site`. */
struct library_call {
    const char *site, *outside;
    bool reached;
};

static _Unwind_Reason_Code code_leave_library(struct _Unwind_Context *frame, void *of)
{
    library_call *call = static_cast<library_call *>(of);
    const char *site = reinterpret_cast<const char *>(_Unwind_GetIP(frame)) - 1;
    call->reached = call->reached || site == call->site;
    if (!call->reached)
        return _URC_NO_REASON;
    code_place place = code_at(site); /* (the end of a task's stack is in no code) */
    if (!place.is_code || place.is_library)
        return _URC_NO_REASON;
    call->outside = site;
    return _URC_END_OF_STACK;
}

/* Whether the running task may unwind its stack, which takes a lock: not a task of the kernel, nor
 * one that holds a spin lock. */
static OUT_OF_LINE bool code_may_unwind()
{
    const auto &kernel = uKernelModule::uKernelModuleBoot;
    return object_find(&uThisTask()) && !kernel.disableInt && !kernel.disableIntSpin;
}

const char *code_call_of_library(const char *site)
{
    library_call call = {site, site, false};
    if (code_at(site).is_library && code_may_unwind())
        _Unwind_Backtrace(code_leave_library, &call);
    return call.outside;
}
