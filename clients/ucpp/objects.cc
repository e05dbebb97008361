#include "objects.h"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

POET_RUNTIME("ucpp");

/* ---- memory ----
 *
 * Not from malloc, which is uC++'s and reports what was not freed. Blocks are reused, and never
 * returned. */

static void *memory_get(size_t bytes)
{
    enum { CHUNK_BYTES = 1 << 18 };
    static spinlock lock;
    static char *next, *end;
    bytes = (bytes + 15) & ~size_t(15);
    lock.acquire();
    if (bytes > size_t(end - next)) {
        void *chunk =
            mmap(nullptr, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        next = chunk == MAP_FAILED ? nullptr : static_cast<char *>(chunk);
        end = next ? next + CHUNK_BYTES : nullptr;
    }
    void *memory = next;
    if (next)
        next += bytes;
    lock.release();
    return memory;
}

/* Blocks of one type; a free one begins with the address of the next. */
template <typename T> class block_list
{
    void *free;
    spinlock lock;

  public:
    T *get()
    {
        lock.acquire();
        void *block = free;
        if (block)
            memcpy(&free, block, sizeof free);
        lock.release();
        if (!block)
            block = memory_get(sizeof(T));
        return block ? static_cast<T *>(memset(block, 0, sizeof(T))) : nullptr;
    }

    void put(T *block)
    {
        lock.acquire();
        memcpy(static_cast<void *>(block), &free, sizeof free);
        free = block;
        lock.release();
    }
};

/* ---- objects by address ---- */

struct object_entry {
    object_entry *next;
    const void *address;
    object *of;
};

enum { BUCKET_BITS = 14 };

static struct {
    spinlock lock;
    object_entry *first;
} buckets[1 << BUCKET_BITS];

static block_list<object> objects;
static block_list<object_entry> entries;
static block_list<visit> visits;
static block_list<raised_exception> raised_exceptions;

static auto &bucket_of(const void *address)
{
    return buckets[(uintptr_t(address) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - BUCKET_BITS)];
}

object *object_find(const void *address)
{
    auto &bucket = bucket_of(address);
    bucket.lock.acquire();
    const object_entry *e = bucket.first;
    while (e && e->address != address)
        e = e->next;
    object *o = e ? e->of : nullptr;
    bucket.lock.release();
    return o;
}

static void object_remove(const void *address)
{
    auto &bucket = bucket_of(address);
    bucket.lock.acquire();
    object_entry **at = &bucket.first;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    object_entry *e = *at;
    if (e)
        *at = e->next;
    bucket.lock.release();
    if (e)
        entries.put(e);
}

void object_add(const void *address, object *o)
{
    object_remove(address); /* of an object whose end was not seen */
    object_entry *e = entries.get();
    if (!e)
        return;
    e->address = address;
    e->of = o;
    auto &bucket = bucket_of(address);
    bucket.lock.acquire();
    e->next = bucket.first;
    bucket.first = e;
    bucket.lock.release();
}

object *object_new(object_kind kind, const void *address, const void *site)
{
    object *o = objects.get();
    if (!o)
        return nullptr;
    o->kind = kind;
    o->address = address;
    o->made_at = o->site = site;
    object_add(address, o);
    return o;
}

bool visit_begin(object *stack, object *in)
{
    visit *v = visits.get();
    if (!v)
        return false;
    v->outer = stack->innermost;
    v->in = in;
    stack->innermost = v;
    __atomic_fetch_add(&in->visited, 2, __ATOMIC_RELAXED);
    return true;
}

void visit_end(object *stack)
{
    visit *v = stack->innermost;
    object *in = v->in;
    stack->innermost = v->outer;
    visits.put(v);
    if (__atomic_sub_fetch(&in->visited, 2, __ATOMIC_ACQ_REL) == 1)
        objects.put(in);
}

raised_exception *raised_exception_new() { return raised_exceptions.get(); }
void raised_exception_free(raised_exception *raised) { raised_exceptions.put(raised); }

/* ---- events ---- */

static poet_type_t event_code(event_type type)
{
#define EVENT_NAME_OF(type, name) name,
    static const char *const names[TYPES] = {EVENT_TYPES(EVENT_NAME_OF)};
    static const char *const increases[] = {"increased", nullptr};
    static poet_type_t codes[TYPES];
    poet_type_t code = __atomic_load_n(&codes[type], __ATOMIC_RELAXED);
    if (!code) {
        code = poet_type(names[type], type == LOWERED ? increases : nullptr);
        __atomic_store_n(&codes[type], code, __ATOMIC_RELAXED);
    }
    return code;
}

void mark(object *self, poet_line_t line, event_type type, const void *site, const object *about,
          unsigned flags, poet_event_t after)
{
    poet_record_t r = {};
    uint64_t earlier = after.number;
    r.line = line;
    r.about = about ? about->line : 0;
    r.type = event_code(type);
    r.flags = flags;
    r.site = site;
    if (after.line) {
        r.flags |= POET_AFTER;
        r.high = after.line;
        r.low = &earlier;
        r.keys = 1;
    }
    self->last = poet_record(&r);
}

void pair(object *self, poet_line_t a, event_type type_a, poet_line_t b, event_type type_b,
          const void *site)
{
    self->last = poet_pair_at(a, event_code(type_a), b, event_code(type_b), nullptr, site);
}

/* ---- lines ---- */

void object_open(object *o, object *self)
{
    static const char *const kinds[] = {
        "monitor", "task", "coroutine", "coroutine-monitor", "lock", "condition lock", "semaphore"};
    if (o->line)
        return;
    if (o->kind == TASK)
        o->line = poet_task_at("task", o->name, o->address, o->site);
    else
        o->line = poet_line_at(kinds[o->kind], o->name, o->address,
                               o->kind == SEMAPHORE ? POET_SHARED : 0, o->site);
    if (o->kind == TASK && !self) { /* made by a task of the kernel: the task itself tells */
        poet_task_switch(o->line);
        mark(o, o->line, CREATE, o->made_at);
        poet_task_switch(0);
    } else if (o->kind <= COROUTINE_MONITOR) {
        mark(self, o->line, CREATE, o->made_at);
    }
}

object *object_of_lock(const void *address, object_kind kind, object *self, const void *site,
                       const char *name)
{
    object *o = object_find(address);
    if (!o) {
        o = object_new(kind, address, site);
        if (o)
            o->name = name;
    }
    if (o)
        object_open(o, self);
    return o;
}

object *object_of_mutex(const void *mutex, object *self)
{
    object *o = object_find(mutex);
    if (o)
        object_open(o, self);
    return o;
}

static object *newest_early;
static spinlock early_lock;

void object_add_early(object *o)
{
    early_lock.acquire();
    o->next_early = newest_early;
    newest_early = o;
    early_lock.release();
}

void object_free(object *o, const void *mutex)
{
    early_lock.acquire();
    object **at = &newest_early;
    while (*at && *at != o)
        at = &(*at)->next_early;
    if (*at)
        *at = o->next_early;
    early_lock.release();
    object_remove(o->address);
    if (mutex)
        object_remove(mutex);
    if (__atomic_or_fetch(&o->visited, 1, __ATOMIC_ACQ_REL) == 1) /* else the last visit does it */
        objects.put(o);
}

static bool name_is_of_library(const char *name)
{
    return name[0] == 'u' && name[1] >= 'A' && name[1] <= 'Z';
}

/* Those of the library, such as buffers of files, are opened when they are used. */
static bool object_is_of_library(const object *o)
{
    return o->of_class && name_is_of_library(o->of_class);
}

void object_open_early(object *self)
{
    early_lock.acquire();
    object *o = newest_early, *first = nullptr;
    newest_early = nullptr;
    early_lock.release();
    while (o) {
        object *older = o->next_early;
        o->next_early = first;
        first = o;
        o = older;
    }
    for (o = first; o; o = o->next_early)
        if (object_find(o->address) == o && !object_is_of_library(o))
            object_open(o, self);
}

/* ---- the running task ---- */

/* (Not inlined: after a call that may switch tasks, thread-local data are at another address.) */
OUT_OF_LINE unsliced::unsliced() { uKernelModule::uKernelModuleData::disableInterrupts(); }
OUT_OF_LINE unsliced::~unsliced() { uKernelModule::uKernelModuleData::enableInterrupts(); }

static OUT_OF_LINE uBaseTask *running_task() { return &uThisTask(); }

section::section(const void *constructing) : task(running_task()), self(object_find(task))
{
    if (self && self->waits_for_io)
        self = nullptr;
    object *pending = self ? self->pending : nullptr;
    if (!pending)
        return;
    self->pending = nullptr;
    if (pending->address != constructing)
        object_open(pending, self);
}

object *section::stack() const
{
    object *o = object_find(&task->getCoroutine());
    return o ? o : self;
}

const char *object_class(const void *address)
{
    unsliced part;
    const object *o = object_find(address);
    return o ? o->of_class : nullptr;
}

void object_forget_pending(const void *mutex)
{
    section s(mutex);
    object *o = object_find(mutex);
    if (o && !o->line)
        object_free(o, mutex);
}

/* ---- places in the code ---- */

struct code_place {
    const char *site, *of_class;
    bool is_code, is_main, is_pthread, is_library, is_inline;
};

/* Whether a symbol is that of a member of one of the library's classes, also an inline one. */
static bool code_symbol_is_of_library(const char *symbol)
{
    if (strncmp(symbol, "_ZN", 3) != 0)
        return false;
    const char *space = symbol + 3 + strspn(symbol + 3, "K");
    space += strncmp(space, "3UPP", 4) == 0 ? 4 : 0;
    return name_is_of_library(space + strspn(space, "0123456789"));
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

/* The places that were looked up last. */
enum { PLACE_BITS = 10 };
static code_place places[1 << PLACE_BITS];
static spinlock places_lock;

static code_place code_find(const char *site)
{
    unsliced part;
    places_lock.acquire();
    code_place place =
        places[(uintptr_t(site) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PLACE_BITS)];
    places_lock.release();
    return place;
}

static void code_remember(code_place &place)
{
    unsliced part;
    char *kept =
        place.of_class ? static_cast<char *>(memory_get(strlen(place.of_class) + 1)) : nullptr;
    place.of_class = kept ? strcpy(kept, place.of_class) : nullptr;
    places_lock.acquire();
    places[(uintptr_t(place.site) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PLACE_BITS)] = place;
    places_lock.release();
}

static code_place code_at(const char *site)
{
    code_place place = code_find(site);
    if (place.site == site)
        return place;
    place = {};
    place.site = site;
    Dl_info in;
    const ElfW(Sym) * symbol;
    char *function = nullptr;
    int status;
    place.is_code = dladdr1(site, &in, (void **)&symbol, RTLD_DL_SYMENT) != 0;
    bool known = place.is_code && in.dli_sname;
    place.is_pthread = known && strncmp(in.dli_sname, "pthread_", 8) == 0;
    place.is_library = place.is_pthread || (known && code_symbol_is_of_library(in.dli_sname));
    place.is_inline =
        !place.is_library || place.is_pthread || ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
    if (known)
        function = abi::__cxa_demangle(in.dli_sname, nullptr, nullptr, &status);
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

static bool code_is_member(const char *site, const char *of_class)
{
    code_place place = code_at(site);
    return !place.is_main && !place.is_library && place.of_class && of_class &&
           strcmp(place.of_class, of_class) == 0;
}

const char *code_call_of_member(const char *site, void *const *frame, const char *of_class)
{
    void *const *member = code_is_member(site, of_class) ? code_outer_frame(frame) : nullptr;
    return code_call_of_library(member ? static_cast<const char *>(member[1]) - 1 : site);
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
    if (!call->reached || code_at(site).is_library)
        return _URC_NO_REASON;
    call->outside = site;
    return _URC_END_OF_STACK;
}

/* Whether the running task may unwind its stack, which takes a lock: not a task of the kernel, nor
 * one that holds a spin lock. */
static OUT_OF_LINE bool code_may_unwind()
{
    const auto &kernel = uKernelModule::uKernelModuleBoot;
    return object_find(running_task()) && !kernel.disableInt && !kernel.disableIntSpin;
}

const char *code_call_of_library(const char *site)
{
    library_call call = {site, site, false};
    if (code_at(site).is_library && code_may_unwind())
        _Unwind_Backtrace(code_leave_library, &call);
    return call.outside;
}
