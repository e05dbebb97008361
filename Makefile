# Poet.  `make help` explains the targets; README.md the rest.
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

CC ?= cc
PREFIX ?= /usr/local
# Below PREFIX: lib, lib64 or, on Debian, lib/MULTIARCH.
LIBDIR ?= lib
B ?= build
# (a normalized name, since make identifies files by name)
override B := $(subst $(CURDIR)/,,$(abspath $(B)))
VERSION := $(shell sed -n 's/.*POET_VERSION "\(.*\)"/\1/p' clients/cli/version.h)

# Each step prints one short line: "  CC  server/run/run.c".  `make V=1` prints the commands.
V ?= 0
ifeq ($(V),0)
Q = @
quiet = $(findstring s,$(firstword -$(MAKEFLAGS)))
endif
step = @$(if $(Q),$(if $(quiet),,printf '  %-4s %s\n' $(1) $(2);)) mkdir -p $(@D)

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wformat=2 -Wpointer-arith \
           -Wwrite-strings -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
OPTIMISE ?= -O2 -g
COMPILER := $(shell $(CC) --version 2>/dev/null | sed 2q)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
SANITIZE ?=
# (-MT: with some ccache settings the target would be an absolute name)
BASE = -std=gnu17 $(WARNINGS) $(OPTIMISE) $(SANITIZE) -I. -MMD -MP -MT $@
PKG = $(shell pkg-config --silence-errors $(1) $(2) 2>/dev/null)
HAVE_GTK := $(shell pkg-config --exists gtk4 2>/dev/null && echo yes)
HAVE_NATS ?= $(shell pkg-config --exists libnats 2>/dev/null && echo yes)
HAVE_FAR ?= $(shell pkg-config --exists gnutls libzstd 2>/dev/null && echo yes)
# (messages to NATS are compressed by zstd)
ifneq ($(HAVE_FAR),yes)
override HAVE_NATS = no
endif

# ---- build commands ----
# $W/NAME contains the value of the variable NAME, a command with its flags and files, and the compiler's version.  It is
# rewritten only when that changes; what the command builds depends on it.
W = $(B)/made-with

# Targets may also be given by absolute names.
ifneq ($(abspath $(B)),$(B))
$(abspath $(B))/%: $(B)/% ;
endif

# ---- modules ----
WIRE    = $(wildcard wire/*.c)
CONFIG  = $(wildcard config/*.c)
TRACE   = $(wildcard clients/libpoet/*.c clients/libpoet/core/*.c clients/libpoet/interpose/*.c clients/libpoet/profile/*.c clients/libpoet/replay/*.c clients/libpoet/unwind/*.c) wire/message.c wire/program_messages.c wire/recorded_input.c wire/endpoint.c
MEMORY  = $(wildcard base/*.c)
ORDER   = $(wildcard server/order/*.c server/order/*/*.c)
STORE   = $(wildcard server/tracefile/*.c)
# (remote connections, or a stub that reports that they are not supported; poet-server has the stubs, and becomes
# poet-server-remote for connections to other hosts)
FAR     = server/transport/compression.c $(if $(filter yes,$(HAVE_FAR)),server/transport/tls_channel.c,server/transport/tls_stub.c)
# (files that use libnats; and files that are left out: those, or the stub for them)
USE_NATS = $(addprefix server/forwarding/,nats_destination.c nats_connection.c nats_clock.c nats_reader.c)
NATS    = $(if $(filter yes,$(HAVE_NATS)),server/forwarding/nats_stub.c,$(USE_NATS))
SERVER  = $(FAR) $(filter-out $(NATS),$(wildcard $(addprefix server/,$(addsuffix /*.c,eventloop forwarding run decode journal osmetrics checkpoint timing analysis cuts queries queries/tables connections)))) $(ORDER) $(STORE) $(MEMORY)
STUBS   = server/transport/tls_stub.c server/forwarding/nats_stub.c
LOCAL   = $(STUBS) $(filter-out $(STUBS) server/transport/tls_channel.c $(USE_NATS),$(SERVER))
RENDER  = $(wildcard render/*.c)
SITE    = $(wildcard clients/symbols/*.c) $(wildcard clients/metadata/*.c)
SOURCE  = $(wildcard clients/connection/*.c clients/sourcefile/*.c)
POET    = $(wildcard clients/cli/*.c clients/snapshot/*.c clients/cli/html/*.c clients/schedule/*.c)
VIEW    = $(wildcard clients/viewer/*.c clients/viewer/*/*.c)
MPI     = $(wildcard clients/libpoet/mpi/*.c)
PROCESS = $(wildcard clients/libpoet/ipc/*.c)
OMP     = $(wildcard clients/libpoet/openmp/*.c)
ATOMICS = $(wildcard clients/libpoet/atomics/*.c)
RACES   = $(wildcard clients/libpoet/races/*.c)
HEAP    = $(wildcard clients/libpoet/heap/*.c) clients/libpoet/unwind/unwind_rules.c

# The installed implementations of MPI; each has its own ABI.
MPIS := $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m) 2>/dev/null),$(m)))

objects = $(patsubst %.c,$(B)/o/%.o,$(1))
LIBS_FAR    := $(if $(filter yes,$(HAVE_FAR)),$(call PKG,--libs,gnutls))
LIBS_ZSTD   := $(if $(filter yes,$(HAVE_FAR)),$(call PKG,--libs,libzstd))
LIBS_NATS   := $(if $(filter yes,$(HAVE_NATS)),$(call PKG,--libs,libnats))
LIBS_LOCAL  := -lev $(call PKG,--libs,libconfig libxxhash libpcre2-8) $(LIBS_ZSTD) -lm
LIBS_SERVER := $(LIBS_LOCAL) $(LIBS_FAR) $(LIBS_NATS)
LIBS_RENDER := $(call PKG,--libs,cairo pangocairo libconfig) -lm
LIBS_CLIENT := $(LIBS_RENDER) $(call PKG,--libs,libdw) -lstdc++
LIBS_POET   := $(LIBS_CLIENT) $(call PKG,--libs,json-c libpcre2-8 libelf sqlite3)
LIBS_VIEW   := $(LIBS_CLIENT) $(call PKG,--libs,gtk4 json-c libpcre2-8)

CFLAGS_DRAWING := $(call PKG,--cflags,cairo pangocairo json-c libpcre2-8)
CFLAGS_VIEW    := $(call PKG,--cflags,gtk4) -Wno-pedantic -Wno-cast-qual
CFLAGS_PACK     = -O3
CFLAGS_ZSTD     = $(if $(filter yes,$(HAVE_FAR)),-DPOET_COMPRESSION)
CFLAGS_INSTALLED = -DPOET_MULTIARCH='"$(MULTIARCH)"'
COMPILE_modules   = $(CFLAGS_DRAWING) $(CFLAGS_VIEW) $(CFLAGS_PACK) $(CFLAGS_ZSTD) $(CFLAGS_INSTALLED)
CFLAGS_MODULE     = $(CFLAGS)
$(B)/o/render/%.o $(B)/o/clients/cli/%.o $(B)/o/tests/%.o: CFLAGS_MODULE += $(CFLAGS_DRAWING)
$(B)/o/clients/viewer/%.o: CFLAGS_MODULE += $(CFLAGS_VIEW)
$(B)/o/server/order/log/block_packing.o: CFLAGS_MODULE += $(CFLAGS_PACK)
$(B)/o/server/transport/compression.o: CFLAGS_MODULE += $(CFLAGS_ZSTD)
$(B)/o/clients/connection/install_paths.o: CFLAGS_MODULE += $(CFLAGS_INSTALLED)

# To be incremented when a program linked with an older libpoet cannot run with this one.
ABI = 0

# Sources of the adapter for uC++, which poetcc++ builds with the user's u++.
UCPP = $(wildcard clients/ucpp/*)

BIN = $(B)/bin/poet $(B)/bin/poetcc $(B)/bin/poetcc++ $(B)/libexec/poet/poet-server \
      $(B)/lib/libpoet.so.$(ABI) $(B)/lib/libpoet.so $(B)/lib/libpoet.a $(B)/lib/pkgconfig/poet.pc $(B)/lib/poet/libpoet-process.so $(B)/lib/poet/libpoet-omp.so $(B)/lib/poet/libpoet-atomics.so $(B)/lib/poet/libpoet-races.so $(B)/lib/poet/atomics.specs $(B)/lib/poet/libpoet-memory.so $(B)/include/poet.h $(B)/include/poet_coroutine.hpp $(B)/include/poet/redirect.h $(B)/include/poet/traced_calls.h $(B)/include/poet/atomics/stdatomic.h $(B)/include/poet/atomics/atomic \
      $(patsubst config/%,$(B)/share/poet/config/%,$(wildcard config/*.conf)) \
      $(patsubst clients/gdb/%,$(B)/share/poet/gdb/%,$(wildcard clients/gdb/*.py)) $(B)/share/poet/python/poet.py \
      $(patsubst clients/ucpp/%,$(B)/share/poet/ucpp/%,$(UCPP))
BIN += $(MPIS:%=$(B)/lib/poet/libpoet-mpi-%.so) $(MPIS:%=$(B)/lib/poet/libpoet-mpi-%.preload) $(B)/lib/poet/libpoet-process.preload $(B)/lib/poet/libpoet-omp.preload
PROGRAMS = $(B)/bin/poet $(B)/libexec/poet/poet-server
ifeq ($(HAVE_FAR),yes)
BIN += $(B)/libexec/poet/poet-server-remote
endif
ifeq ($(HAVE_GTK),yes)
BIN += $(B)/libexec/poet/poet-view
PROGRAMS += $(B)/libexec/poet/poet-view
endif
# Where each shell looks for installed completions.
COMPLETIONS = bash-completion/completions/poet zsh/site-functions/_poet fish/vendor_completions.d/poet.fish
BIN += $(COMPLETIONS:%=$(B)/share/%)

.PHONY: all
all: $(BIN)
ifneq ($(HAVE_GTK),yes)
	@echo "not built: poet view (GTK 4 not found; Debian: libgtk-4-dev)"
endif
ifneq ($(HAVE_FAR),yes)
	@echo "not built: remote connections, poet server --to, poet://, nats:// (GnuTLS or zstd not found; Debian: libgnutls28-dev libzstd-dev)"
else ifneq ($(HAVE_NATS),yes)
	@echo "not built: NATS, poet server --to nats://, --from (libnats not found; Debian: libnats-dev)"
endif

COMPILE_o = $(CC) $(BASE) $(CFLAGS_MODULE) -c $< -o $@
$(B)/o/%.o: %.c $W/COMPILE_o $W/COMPILE_modules
	$(call step,CC,$<)
	$(Q)$(COMPILE_o)

# (futexes.c defines syscall(), which libc_calls.h declares differently)
OWN_LIBC = $(if $(filter %/futexes.c,$<),,-include clients/libpoet/core/libc_calls.h)
# libpoet is position-independent, exports nothing by default, and unwinds through canceled waits.  Without _FORTIFY_SOURCE, since
# it defines functions that that would define, and must not abort the traced program.
COMPILE_pic = $(CC) $(BASE) $(CFLAGS) $(OWN_LIBC) -U_FORTIFY_SOURCE -fPIC -fvisibility=hidden -fexceptions -c $< -o $@
$(B)/pic/%.o: %.c $W/COMPILE_pic
	$(call step,PIC,$<)
	$(Q)$(COMPILE_pic)

$(B)/lib/libpoet.so: $(B)/lib/libpoet.so.$(ABI)
	$(call step,LINK,$@)
	$(Q)ln -sf $(<F) $@
# -Bsymbolic-functions: its calls of its own functions (such as syscall()) are not redirected to the program's
OBJECTS_libpoet = $(patsubst %.c,$(B)/pic/%.o,$(TRACE))
LINK_libpoet = $(CC) $(SANITIZE) -shared -Wl,-soname,libpoet.so.$(ABI) -Wl,--version-script=clients/libpoet/exports.map \
  -Wl,-Bsymbolic-functions -Wl,-z,now,-z,defs,-z,nodelete $(OBJECTS_libpoet) -o $@ $(LDFLAGS) -pthread -ldl
$(B)/lib/libpoet.so.$(ABI): $(OBJECTS_libpoet) clients/libpoet/exports.map $W/LINK_libpoet
	$(call step,LD,$@)
	$(Q)$(LINK_libpoet)

COMPILE_process = $(CC) $(BASE) -Wno-pedantic $(CFLAGS) -I$(B)/include -U_FORTIFY_SOURCE -fPIC -fvisibility=hidden -fexceptions -c $< -o $@
$(B)/pic/clients/libpoet/ipc/%.o: clients/libpoet/ipc/%.c $(B)/include/poet.h $W/COMPILE_process
	$(call step,PIC,$<)
	$(Q)$(COMPILE_process)

OBJECTS_process = $(patsubst %.c,$(B)/pic/%.o,$(PROCESS))
LINK_process = $(CC) $(SANITIZE) -shared -Wl,-soname,libpoet-process.so -Wl,-Bsymbolic-functions $(OBJECTS_process) -o $@ $(LDFLAGS) -L$(B)/lib -lpoet -ldl
$(B)/lib/poet/libpoet-process.so: $(OBJECTS_process) $(B)/lib/libpoet.so $W/LINK_process
	$(call step,LD,$@)
	$(Q)$(LINK_process)

# (-Wno-pedantic: it defines functions that compilers call, with reserved names)
COMPILE_omp = $(CC) $(BASE) -Wno-pedantic $(CFLAGS) -I$(B)/include -fPIC -fvisibility=hidden -fexceptions -c $< -o $@
$(B)/pic/clients/libpoet/openmp/%.o: clients/libpoet/openmp/%.c $(B)/include/poet.h $W/COMPILE_omp
	$(call step,PIC,$<)
	$(Q)$(COMPILE_omp)

OBJECTS_omp = $(patsubst %.c,$(B)/pic/%.o,$(OMP))
LINK_omp = $(CC) $(SANITIZE) -shared -Wl,-soname,libpoet-omp.so -Wl,-z,nodelete $(OBJECTS_omp) -o $@ $(LDFLAGS) -L$(B)/lib -lpoet -ldl
$(B)/lib/poet/libpoet-omp.so: $(OBJECTS_omp) $(B)/lib/libpoet.so $W/LINK_omp
	$(call step,LD,$@)
	$(Q)$(LINK_omp)

# (-Wno-pedantic: it defines functions that compilers call, with reserved names.)  With gcc, its short functions are optimized
# together.
ATOMICS_FLAGS := $(if $(findstring Free Software,$(COMPILER)),-flto=auto -ffat-lto-objects) -O2 $(if $(filter x86_64%,$(MULTIARCH)),-mcx16)
COMPILE_atomics = $(CC) $(BASE) -Wno-pedantic $(CFLAGS) $(ATOMICS_FLAGS) -I$(B)/include -U_FORTIFY_SOURCE -fPIC -fvisibility=hidden -fexceptions -c $< -o $@
$(B)/pic/clients/libpoet/atomics/%.o: clients/libpoet/atomics/%.c $(B)/include/poet.h $W/COMPILE_atomics
	$(call step,PIC,$<)
	$(Q)$(COMPILE_atomics)

OBJECTS_atomics = $(patsubst %.c,$(B)/pic/%.o,$(ATOMICS))
LINK_atomics = $(CC) $(SANITIZE) $(ATOMICS_FLAGS) -fPIC -shared -Wl,-soname,libpoet-atomics.so -Wl,-Bsymbolic-functions -Wl,-z,nodelete $(OBJECTS_atomics) -o $@ $(LDFLAGS) -L$(B)/lib -lpoet -ldl
$(B)/lib/poet/libpoet-atomics.so: $(OBJECTS_atomics) $(B)/lib/libpoet.so $W/LINK_atomics
	$(call step,LD,$@)
	$(Q)$(LINK_atomics)

# (-fno-builtin: it interposes the allocator.)
COMPILE_races = $(CC) $(BASE) -Wno-pedantic $(CFLAGS) $(ATOMICS_FLAGS) -fno-builtin-malloc -fno-builtin-calloc -I$(B)/include -U_FORTIFY_SOURCE -fPIC -fvisibility=hidden -fexceptions -c $< -o $@
$(B)/pic/clients/libpoet/races/%.o: clients/libpoet/races/%.c $(B)/include/poet.h $W/COMPILE_races
	$(call step,PIC,$<)
	$(Q)$(COMPILE_races)

OBJECTS_races = $(patsubst %.c,$(B)/pic/%.o,$(RACES))
LINK_races = $(CC) $(SANITIZE) $(ATOMICS_FLAGS) -fPIC -shared -Wl,-soname,libpoet-races.so -Wl,-Bsymbolic-functions -Wl,-z,nodelete $(OBJECTS_races) -o $@ $(LDFLAGS) -L$(B)/lib -lpoet -ldl
$(B)/lib/poet/libpoet-races.so: $(OBJECTS_races) $(B)/lib/libpoet.so $W/LINK_races
	$(call step,LD,$@)
	$(Q)$(LINK_races)

# It interposes the allocator: the compiler must not turn its own calls into calls of the allocator (-fno-builtin).  With gcc, its short
# functions are optimized together.
HEAP_FLAGS := $(if $(findstring Free Software,$(COMPILER)),-flto=auto) -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
COMPILE_heap = $(CC) $(BASE) -Wno-pedantic $(CFLAGS) -fno-builtin $(HEAP_FLAGS) -fno-plt -U_FORTIFY_SOURCE -fPIC -fvisibility=hidden -c $< -o $@
$(B)/pic/clients/libpoet/heap/%.o: clients/libpoet/heap/%.c $W/COMPILE_heap
	$(call step,PIC,$<)
	$(Q)$(COMPILE_heap)

OBJECTS_heap = $(patsubst %.c,$(B)/pic/%.o,$(HEAP))
LINK_heap = $(CC) $(SANITIZE) $(HEAP_FLAGS) -fPIC -shared -Wl,-soname,libpoet-memory.so $(OBJECTS_heap) -o $@ $(LDFLAGS) -L$(B)/lib -lpoet -ldl
$(B)/lib/poet/libpoet-memory.so: $(OBJECTS_heap) $(B)/lib/libpoet.so $W/LINK_heap
	$(call step,LD,$@)
	$(Q)$(LINK_heap)

$(B)/lib/poet/atomics.specs: clients/libpoet/atomics/atomics.specs
	$(call step,COPY,$@)
	$(Q)install -m 644 $< $@
$(B)/lib/poet/libpoet-mpi-%.preload: clients/libpoet/mpi/%.preload
	$(call step,COPY,$@)
	$(Q)install -m 644 $< $@
$(B)/lib/poet/libpoet-process.preload: clients/libpoet/ipc/process.preload
	$(call step,COPY,$@)
	$(Q)install -m 644 $< $@
$(B)/lib/poet/libpoet-omp.preload: clients/libpoet/openmp/omp.preload
	$(call step,COPY,$@)
	$(Q)install -m 644 $< $@

# It is also loaded into processes without MPI, such as mpirun: its undefined symbols are weak, and are resolved by the program
# that it is linked with or loaded into.
define MPI_RULES
COMPILE_mpi-$(1) = $$(CC) $$(BASE) -Wno-undef -Wno-pedantic -Wno-cast-qual -Wno-address $$(CFLAGS) -I$(B)/include \
	  $(filter -I%,$(shell mpicc.$(1) -show)) -fPIC -fvisibility=hidden -c $$< -o $$@
$(B)/mpi-$(1)/%.o: %.c $(B)/include/poet.h $W/COMPILE_mpi-$(1)
	$$(call step,PIC,$$<)
	$$(Q)$$(COMPILE_mpi-$(1))
OBJECTS_mpi-$(1) = $(MPI:%.c=$(B)/mpi-$(1)/%.o)
LINK_mpi-$(1) = $$(CC) $$(SANITIZE) -shared -Wl,-soname,libpoet-mpi-$(1).so $(B)/mpi-$(1)/all.o -o $$@ $$(LDFLAGS)
$(B)/lib/poet/libpoet-mpi-$(1).so: $$(OBJECTS_mpi-$(1)) $W/LINK_mpi-$(1)
	$$(call step,LD,$$@)
	$$(Q)$$(CC) -r -nostdlib $$(OBJECTS_mpi-$(1)) -o $(B)/mpi-$(1)/all.o && objcopy --weaken $(B)/mpi-$(1)/all.o
	$$(Q)$$(LINK_mpi-$(1))
endef
$(foreach m,$(MPIS),$(eval $(call MPI_RULES,$(m))))

# For static programs, where the linker redirects calls (--wrap).
COMPILE_static = $(CC) $(BASE) $(CFLAGS) $(OWN_LIBC) -U_FORTIFY_SOURCE -DPOET_STATIC -fPIC -fvisibility=hidden -fexceptions -c $< -o $@
$(B)/static/%.o: %.c $W/COMPILE_static
	$(call step,CC,$<)
	$(Q)$(COMPILE_static)

OBJECTS_static = $(patsubst %.c,$(B)/static/%.o,$(TRACE))
LINK_static = rm -f $@ && ar qcs $@ $(OBJECTS_static)
$(B)/lib/libpoet.a: $(OBJECTS_static) $W/LINK_static
	$(call step,AR,$@)
	$(Q)$(LINK_static)

OBJECTS_server = $(call objects,server/server_main.c server/server_options.c $(LOCAL) $(WIRE) $(CONFIG))
LINK_server = $(CC) $(SANITIZE) $(OBJECTS_server) -o $@ $(LDFLAGS) $(LIBS_LOCAL)
$(B)/libexec/poet/poet-server: $(OBJECTS_server) $W/LINK_server
	$(call step,LD,$@)
	$(Q)$(LINK_server)

OBJECTS_remote = $(call objects,server/server_main.c server/server_options.c $(SERVER) $(WIRE) $(CONFIG))
LINK_remote = $(CC) $(SANITIZE) $(OBJECTS_remote) -o $@ $(LDFLAGS) $(LIBS_SERVER)
$(B)/libexec/poet/poet-server-remote: $(OBJECTS_remote) $W/LINK_remote
	$(call step,LD,$@)
	$(Q)$(LINK_remote)

# (included by the assembler)
$(B)/o/clients/cli/html/html_page.o: clients/cli/html/page.js clients/cli/html/page.css

OBJECTS_poet = $(call objects,$(POET) $(SOURCE) $(SITE) $(RENDER) $(WIRE) $(CONFIG) $(MEMORY))
LINK_poet = $(CC) $(SANITIZE) $(OBJECTS_poet) -o $@ $(LDFLAGS) $(LIBS_POET)
$(B)/bin/poet: $(OBJECTS_poet) $W/LINK_poet
	$(call step,LD,$@)
	$(Q)$(LINK_poet)

OBJECTS_view = $(call objects,$(VIEW) $(SOURCE) $(SITE) $(RENDER) $(WIRE) $(CONFIG) $(MEMORY))
LINK_view = $(CC) $(SANITIZE) $(OBJECTS_view) -o $@ $(LDFLAGS) $(LIBS_VIEW)
$(B)/libexec/poet/poet-view: $(OBJECTS_view) $W/LINK_view
	$(call step,LD,$@)
	$(Q)$(LINK_view)

$(B)/bin/poetcc: clients/cli/poetcc
	$(call step,COPY,$@)
	$(Q)install -m 755 $< $@
$(B)/bin/poetcc++: $(B)/bin/poetcc
	$(call step,LINK,$@)
	$(Q)ln -sf poetcc $@
$(B)/include/poet.h $(B)/include/poet_coroutine.hpp: $(B)/include/%: clients/libpoet/%
	$(call step,COPY,$@)
	$(Q)install -m 644 $< $@
$(B)/include/poet/%.h: clients/libpoet/%.h
	$(call step,COPY,$@)
	$(Q)install -D -m 644 $< $@
$(B)/include/poet/atomics/atomic: clients/libpoet/atomics/atomic
	$(call step,COPY,$@)
	$(Q)install -D -m 644 $< $@
$(B)/share/poet/gdb/%: clients/gdb/%
	$(call step,COPY,$@)
	$(Q)install -m 644 $< $@
$(B)/share/poet/python/%: clients/python/%
	$(call step,COPY,$@)
	$(Q)install -m 644 $< $@
$(B)/share/poet/ucpp/%.sh: clients/ucpp/%.sh
	$(call step,COPY,$@)
	$(Q)install -D -m 755 $< $@
$(B)/share/poet/ucpp/%: clients/ucpp/%
	$(call step,COPY,$@)
	$(Q)install -D -m 644 $< $@
$(B)/share/poet/config/%: config/%
	$(call step,COPY,$@)
	$(Q)install -m 644 $< $@
pc = sed 's|@PREFIX@|$(1)|; s|@LIBDIR@|$(2)|; s|@VERSION@|$(VERSION)|' clients/libpoet/poet.pc.in
WRITE_pc = $(call pc,$(abspath $(B)),lib) >$@
$(B)/lib/pkgconfig/poet.pc: clients/libpoet/poet.pc.in $W/WRITE_pc
	$(call step,SED,$@)
	$(Q)$(WRITE_pc)

# Shell completions, printed by the program itself.
$(B)/share/bash-completion/completions/poet: $(PROGRAMS)
	$(call step,GEN,$@)
	$(Q)$< --completion bash >$@
$(B)/share/zsh/site-functions/_poet: $(PROGRAMS)
	$(call step,GEN,$@)
	$(Q)$< --completion zsh >$@
$(B)/share/fish/vendor_completions.d/poet.fish: $(PROGRAMS)
	$(call step,GEN,$@)
	$(Q)$< --completion fish >$@

# For editors and clang's tools: the compilation database.
.PHONY: compile_commands.json
COMPILED = s/\\/\\\\/g; s/"/\\"/g; \
  s|^.* -c \([^ ]*\.c\) -o \([^ ]*\)$$|{"directory": "$(CURDIR)", "file": "\1", "output": "\2",\n "command": "&"},|p
compile_commands.json:
	@{ echo '['; $(MAKE) --no-print-directory -Bnk V=1 all $(ALL_UNITS) $(B)/tests/scale $(B)/tests/waiting | sed -n '$(COMPILED)' | sed '$$s/,$$//'; \
	  echo ']'; } >$@.new && mv $@.new $@
	@echo "$@: $$(grep -c '"file"' $@) compilations"

# Formats everything by .clang-format (clang-format 16 or newer).
.PHONY: format
CLANG_FORMAT ?= $(or $(shell command -v clang-format-16),clang-format)
format:
	$(CLANG_FORMAT) -i $(shell git ls-files '*.c' '*.h' ':!examples')

-include $(shell find $(B)/o $(B)/pic $(B)/static $(MPIS:%=$(B)/mpi-%) -name '*.d' 2>/dev/null)

# ---- set-up ----
# If nothing is missing, nothing is installed and no password is requested.
.PHONY: deps deps-test demo check check-all check-loaded check-unit check-e2e check-dependencies bench install uninstall clean help
deps:
	@tests/deps.sh packages.txt build run
deps-test:
	@tests/deps.sh packages.txt build run test

demo: deps
	@$(MAKE) --no-print-directory all
	@B=$(B) tests/demo.sh

# Three hosts (network namespaces) with an agent each, and NATS; leaves cluster.poet and cluster.pdf.
.PHONY: demo-cluster
demo-cluster: all
	@B=$(B) tests/democluster.sh

# Draws the programs of examples/ucpp/ into one document.
.PHONY: gallery
gallery: all
	@B=$(B) docs/gallery.sh docs/gallery.pdf

# ---- tests ----
# make check               the unit tests, the end-to-end tests that take less than about 20 seconds each and a few
#                          longer ones, dependencies, cycles, file index and words
# make check-all           all end-to-end tests: also those with the line "# Runs in make check-all only."
# make check T=order       the unit test tests/unit/test_order.c (or the corpus of fuzz_order), no other
# make check E=13          the end-to-end test tests/e2e/13-*.t, no other; E="13 22" for two
# make check-quick         the unit tests but SLOW_UNITS, QUICK_E2E, words and file index
SLOW_UNITS = wait_attribution graph_layout rendezvous_saves order column_layout wait_release idle_lines journal_resume order_saves run_saves
QUICK_E2E = 01 06 08
UNITS = $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
FUZZERS = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_WITH = $(patsubst %,$(B)/o/tests/fuzz/%.o,run_requests changing_memory sample_run)
A = $(B)/asan
T =
E =
PROVE = prove --nocolor --failures --comments
SHORT_E2E = $(sort $(shell grep -L '^\# Runs in make check-all only' tests/e2e/*.t))
UNIT_PROGRAMS = $(if $(T),$(foreach t,$(T),$(filter %/test_$(t) %/replay_fuzz_$(t),$(ALL_UNITS))),$(ALL_UNITS))
ALL_UNITS = $(UNITS:%=$(B)/tests/%) $(FUZZERS:%=$(B)/tests/replay_%)
E2E = $(if $(E),$(foreach e,$(E),$(wildcard tests/e2e/$(e)-*.t)),$(sort $(wildcard tests/e2e/*.t)))

# Everything that unit tests test, as a library, so that each links only what it uses.
TESTED = $(SERVER) $(RENDER) $(WIRE) $(CONFIG) $(SITE) $(SOURCE) \
         $(patsubst %,clients/libpoet/profile/%.c,call_stack left_calls excluded_functions throttle context_tree activity cpu_gap calibration) $(patsubst %,clients/libpoet/core/%.c,tracer seccomp_allowed child_preload environment message_text) \
         $(patsubst %,clients/libpoet/replay/%.c,shared_schedule replay_stops cpu_time_used) clients/libpoet/heap/heap_blocks.c clients/libpoet/interpose/unchecked_waits.c clients/libpoet/unwind/unwind_rules.c \
         clients/libpoet/openmp/task_depends.c $(patsubst %,clients/libpoet/atomics/atomic_%.c,objects thread events order) $(patsubst %,clients/libpoet/races/%.c,access_shadow race_thread race_conflicts race_blocks) $(wildcard clients/snapshot/*.c) clients/schedule/schedule_builder.c clients/schedule/trace_alignment.c clients/schedule/order_predicates.c clients/schedule/lock_orders.c $(patsubst %,clients/cli/%.c,shiviz_log shiviz_clocks logtime kill_tree two_run_diagram number_sampler swap_events hold_points command narrow_table paper_size preload thread_slices) tests/bruteforce.c tests/bench/workload.c
ifeq ($(HAVE_GTK),yes) # the parts of the viewer that need no display
TESTED += $(patsubst %,clients/viewer/state/%.c,viewport history scene_cache viewer_addons viewer_settings request_slot highlights) clients/viewer/diagram/time_axis.c
$(B)/o/tests/unit/test_time_axis.o $(B)/o/tests/unit/test_viewer_settings.o $(B)/o/tests/unit/test_request_slot.o: CFLAGS_MODULE += $(CFLAGS_VIEW)
else
UNITS := $(filter-out test_request_slot test_time_axis test_viewport test_history test_viewer_settings,$(UNITS))
endif
ifneq ($(HAVE_FAR),yes)
UNITS := $(filter-out test_forwarding,$(UNITS))
endif
LIBS_TEST := -lm -lcmocka -lev $(LIBS_CLIENT) $(call PKG,--libs,json-c libpcre2-8 libelf) -lxxhash $(LIBS_ZSTD) $(LIBS_FAR) $(LIBS_NATS)
OBJECTS_tested = $(call objects,$(TESTED))
LINK_tested = rm -f $@ && ar qcs $@ $(OBJECTS_tested)
$(B)/tests/tested.a: $(OBJECTS_tested) $W/LINK_tested
	$(call step,AR,$@)
	$(Q)$(LINK_tested)

LINK_test = $(CC) $(SANITIZE) $(filter %.o %.a,$^) -o $@ $(LDFLAGS) $(LIBS_TEST)
$(B)/tests/test_%: $(B)/o/tests/unit/test_%.o $(B)/tests/tested.a $W/LINK_test
	$(call step,LD,$@)
	$(Q)$(LINK_test)

$(B)/tests/replay_%: $(B)/o/tests/fuzz/%.o $(B)/o/tests/fuzz/replay.o $(FUZZ_WITH) $(B)/tests/tested.a $W/LINK_test
	$(call step,LD,$@)
	$(Q)$(LINK_test)

.PHONY: run-units
run-units: $(UNIT_PROGRAMS)
	@$(if $^,,echo "there is no tests/unit/test_$(T).c"; exit 1)
	@$(PROVE) -j$(shell nproc) --exec tests/unit.sh $^
.SECONDARY:

# Unit tests and fuzz corpora run with AddressSanitizer and UndefinedBehaviorSanitizer, and with
# small blocks, nodes and regions, so that small traces have many.
SMALL = -DBLOCK_EVENTS=32u -DOPEN_BLOCKS=2u -DPOSITION_LIST_BITS=2u -DSUMMARY_LEAF_CHANGES=4u -DSUMMARY_TREE_FAN=3u -DSPILLED_CHUNK_BYTES=8192u -DSPILLED_MEMORY_BYTES=32768u -DREPORT_EVERY=300u -DREGION_BYTES=4096u -DPENDING_LIMIT=1000u -DTURN_EVENTS=4u \
        -DSKIP_AFTER=2u -DSHUT_AFTER=2u -DEARLY_EVENTS=100u -DGRADUAL_ROOM=64u -DPAGE_LINES=3u -DWAITING_MOST=5000u -DREST_BYTES=64u -DRENDEZVOUS_DONE_KEPT=16u \
        -DFORGET_LOOKS=2u -DSENT_BLOCKS=4u -DEVENTS_KEPT=16u -DCALL_ENTRIES_DEPTH_MAX=64u -DPASSING_BYTES=2048u
check-unit:
	@$(MAKE) --no-print-directory B=$(A) OPTIMISE="-O1 -g $(SMALL)" \
	  SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined" run-units

# At most two tests at a time: with more, some would exceed their time limits.  Each test has ten minutes.
# A python3 that is a script of a version manager (pyenv, asdf) takes longer to start than most helpers of the tests
# take to run; so its interpreter comes first.
PYTHON_FIRST = $(addsuffix :,$(filter-out /usr/bin,$(shell python3 -c 'import os, sys; print(os.path.dirname(sys.executable))')))
check-e2e: all $(B)/tests/scale $(B)/tests/waiting $(B)/tests/look $(B)/tests/agents
	@$(if $(E2E),,echo "there is no tests/e2e/$(E)-*.t"; exit 1)
	@B=$(abspath $(B)) CC="$(CC)" PATH="$(PYTHON_FIRST)$$PATH" $(PROVE) -j$(if $(filter 1,$(shell nproc)),1,2) --exec "timeout -k 9 600" $(E2E)

.PHONY: check-quick
check-quick: all
	@$(MAKE) --no-print-directory check-unit T="$(filter-out $(SLOW_UNITS),$(UNITS:test_%=%))"
	@$(MAKE) --no-print-directory check-e2e E="$(QUICK_E2E)"
	@$(PROVE) tests/file-index.pl tests/words.sh

check-dependencies: all
	@B=$(abspath $(B)) $(PROVE) tests/dependencies.sh tests/cycles.pl tests/globals.sh tests/file-index.pl tests/words.sh

# make check-all beside six busy loops, after building without them; TIMES times, up to the first failure:
# make check-loaded E="84 113" TIMES=20
check-loaded: TIMES = 1
check-loaded: all
	@tests/loaded.sh $(TIMES) $(MAKE) --no-print-directory $(if $(T)$(E),check,check-all)

# Sizes and names of the source; FIGURE=single lists each place.
FIGURE =
.PHONY: style-figures
style-figures:
	@tests/style.pl $(FIGURE)

# Builds and tests Poet without the libraries for remote connections, in separate directories.
.PHONY: check-without
check-without:
	@B=$(abspath $(B)) $(PROVE) tests/without.sh

ifneq ($(T)$(E),)
check: $(if $(T),check-unit) $(if $(E),check-e2e)
else
check check-all: deps-test
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory check-unit
	@$(MAKE) --no-print-directory check-e2e $(if $(filter check,$@),E2E='$(SHORT_E2E)')
	@$(MAKE) --no-print-directory check-dependencies
endif

OBJECTS_scale = $(call objects,tests/bench/scale.c tests/bench/workload.c $(ORDER) $(STORE) $(MEMORY) wire/message.c)
LINK_scale = $(CC) $(SANITIZE) $(OBJECTS_scale) -o $@ $(LDFLAGS) -lxxhash
$(B)/tests/scale: $(OBJECTS_scale) $W/LINK_scale
	$(call step,LD,$@)
	$(Q)$(LINK_scale)

OBJECTS_waiting = $(call objects,tests/bench/waiting.c $(wildcard server/analysis/*.c) \
		$(patsubst %,server/timing/%.c,intervals cpu_states cpu_state_index cpu_turns placements code_segments) $(ORDER) $(STORE) $(MEMORY) wire/message.c)
LINK_waiting = $(CC) $(SANITIZE) $(OBJECTS_waiting) -o $@ $(LDFLAGS) -lxxhash
$(B)/tests/waiting: $(OBJECTS_waiting) $W/LINK_waiting
	$(call step,LD,$@)
	$(Q)$(LINK_waiting)

OBJECTS_agents = $(call objects,tests/bench/agents.c $(SERVER) $(WIRE) $(CONFIG))
LINK_agents = $(CC) $(SANITIZE) $(OBJECTS_agents) -o $@ $(LDFLAGS) $(LIBS_SERVER)
$(B)/tests/agents: $(OBJECTS_agents) $W/LINK_agents
	$(call step,LD,$@)
	$(Q)$(LINK_agents)

OBJECTS_look = $(call objects,tests/bench/look.c $(SOURCE) $(SITE) $(WIRE) $(CONFIG) $(MEMORY))
LINK_look = $(CC) $(SANITIZE) $(OBJECTS_look) -o $@ $(LDFLAGS) $(LIBS_POET)
$(B)/tests/look: $(OBJECTS_look) $W/LINK_look
	$(call step,LD,$@)
	$(Q)$(LINK_look)

# make bench PARTS="pair burst"; tests/bench/bench.sh names the parts.  PARTS=huge takes 20 minutes
# and 9 GB of disk.
PARTS =
SIZE = 1
bench: all $(B)/tests/scale $(B)/tests/waiting $(B)/tests/look $(B)/tests/agents
	@B="$(B)" PARTS="$(PARTS)" SIZE="$(SIZE)" tests/bench/bench.sh

# Kills each part of a cluster N times, cuts CUTS connections, and compares the result with what was recorded.
N = 100
CUTS = 20
.PHONY: cluster-soak
cluster-soak: all
	@B=$(abspath $(B)) CC="$(CC)" tests/e2e/cluster-soak.sh $(N) $(CUTS)

# Compares pictures of N random runs, in files, a browser and the viewer, with the graphs of their order; SEED: the first run.
SEED = 1
.PHONY: pictures-soak
pictures-soak: all
	@B=$(abspath $(B)) tests/e2e/pictures-soak.sh $(N) $(SEED)

# Records 20 programs TIMES times, replays each trace as often, and compares the runs.
TIMES = 10
.PHONY: replayed
replayed: all
	@B="$(B)" tests/replayed.sh $(TIMES)

# Compares what Poet and other tools say of programs that hang, and writes docs/compared.md.
.PHONY: compare
compare: all
	@B=$(abspath $(B)) tests/compared.sh

# ---- installing ----
MANUALS = $(wildcard docs/man/*.1)
# Files of the viewer for the desktop; $(1): the command that copies a file to a path below share/.
DESKTOP = io.github.poet.View
define DESKTOP_FILES
	$(1) clients/viewer/$(DESKTOP).desktop $(2)/applications/$(DESKTOP).desktop
	$(1) clients/viewer/$(DESKTOP).xml $(2)/mime/packages/$(DESKTOP).xml
	$(1) clients/viewer/$(DESKTOP).svg $(2)/icons/hicolor/scalable/apps/$(DESKTOP).svg
endef
install: all
	install -d "$(DESTDIR)$(PREFIX)"/bin "$(DESTDIR)$(PREFIX)"/$(LIBDIR) "$(DESTDIR)$(PREFIX)"/libexec/poet \
	  "$(DESTDIR)$(PREFIX)"/include/poet "$(DESTDIR)$(PREFIX)"/share/poet/config \
	  "$(DESTDIR)$(PREFIX)"/share/man/man1
	install -m 755 $(B)/bin/poet $(B)/bin/poetcc "$(DESTDIR)$(PREFIX)"/bin
	ln -sf poetcc "$(DESTDIR)$(PREFIX)"/bin/poetcc++
	install -m 755 $(wildcard $(B)/libexec/poet/*) "$(DESTDIR)$(PREFIX)"/libexec/poet
	install -m 755 $(B)/lib/libpoet.so.$(ABI) "$(DESTDIR)$(PREFIX)"/$(LIBDIR)
	install -d "$(DESTDIR)$(PREFIX)"/$(LIBDIR)/poet
	install -m 755 $(B)/lib/poet/libpoet-process.so $(B)/lib/poet/libpoet-omp.so $(B)/lib/poet/libpoet-atomics.so $(B)/lib/poet/libpoet-races.so $(B)/lib/poet/libpoet-memory.so "$(DESTDIR)$(PREFIX)"/$(LIBDIR)/poet
	ln -sf libpoet.so.$(ABI) "$(DESTDIR)$(PREFIX)"/$(LIBDIR)/libpoet.so
	install -d "$(DESTDIR)$(PREFIX)"/$(LIBDIR)/pkgconfig
	$(call pc,$(PREFIX),$(LIBDIR)) >"$(DESTDIR)$(PREFIX)"/$(LIBDIR)/pkgconfig/poet.pc
	for f in $(COMPLETIONS); do install -D -m 644 $(B)/share/$$f "$(DESTDIR)$(PREFIX)"/share/$$f || exit 1; done
	for c in poetcc poetcc++; do ln -sf poet "$(DESTDIR)$(PREFIX)"/share/bash-completion/completions/$$c; done
	install -m 644 $(B)/lib/libpoet.a "$(DESTDIR)$(PREFIX)"/$(LIBDIR)
	install -m 644 $(B)/lib/poet/atomics.specs $(B)/lib/poet/libpoet-process.preload $(B)/lib/poet/libpoet-omp.preload $(MPIS:%=$(B)/lib/poet/libpoet-mpi-%.preload) "$(DESTDIR)$(PREFIX)"/$(LIBDIR)/poet
	for m in $(MPIS); do install -m 755 $(B)/lib/poet/libpoet-mpi-$$m.so "$(DESTDIR)$(PREFIX)"/$(LIBDIR)/poet || exit 1; done
	install -m 644 $(B)/include/poet.h $(B)/include/poet_coroutine.hpp "$(DESTDIR)$(PREFIX)"/include
	install -m 644 $(B)/include/poet/redirect.h $(B)/include/poet/traced_calls.h "$(DESTDIR)$(PREFIX)"/include/poet
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/include/poet/atomics $(B)/include/poet/atomics/stdatomic.h $(B)/include/poet/atomics/atomic
	install -m 644 config/*.conf "$(DESTDIR)$(PREFIX)"/share/poet/config
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/share/poet/gdb clients/gdb/*.py
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/share/poet/python clients/python/poet.py
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)"/share/poet/ucpp $(filter-out %.sh,$(UCPP))
	install -m 755 -t "$(DESTDIR)$(PREFIX)"/share/poet/ucpp $(filter %.sh,$(UCPP))
	install -m 644 $(MANUALS) "$(DESTDIR)$(PREFIX)"/share/man/man1
	ln -sf poetcc.1 "$(DESTDIR)$(PREFIX)"/share/man/man1/poetcc++.1
ifeq ($(HAVE_GTK),yes)
	$(call DESKTOP_FILES,install -D -m 644,"$(DESTDIR)$(PREFIX)"/share)
endif

INSTALLED = $(addprefix bin/,poet poetcc poetcc++) $(addprefix $(LIBDIR)/,libpoet.so libpoet.so.$(ABI) libpoet.a pkgconfig/poet.pc) include/poet.h include/poet_coroutine.hpp \
  $(addprefix share/,$(COMPLETIONS) $(addprefix bash-completion/completions/,poetcc poetcc++)) \
  $(addprefix share/man/man1/,$(notdir $(MANUALS)) poetcc++.1) \
  $(addprefix share/,applications/$(DESKTOP).desktop mime/packages/$(DESKTOP).xml icons/hicolor/scalable/apps/$(DESKTOP).svg)
# Empty directories are removed, except standard ones.
FOLDERS = $(sort $(dir $(INSTALLED)) libexec/)
REMOVE_FOLDERS = $(if $(filter /usr /usr/local,$(PREFIX)),rmdir $(filter-out bin/ lib/ $(LIBDIR)/ include/ libexec/ share/man/man1/,$(FOLDERS)),rmdir -p $(FOLDERS))
uninstall:
	[ ! -d "$(DESTDIR)$(PREFIX)" ] || { cd "$(DESTDIR)$(PREFIX)" && rm -f $(INSTALLED) && rm -rf libexec/poet $(LIBDIR)/poet include/poet share/poet; }
	@cd "$(DESTDIR)$(PREFIX)" 2>/dev/null && { $(REMOVE_FOLDERS) 2>/dev/null; cd / && rmdir "$(DESTDIR)$(PREFIX)" 2>/dev/null; } || true

# Builds Debian packages into $(B)/packages/, in the build directory DEB_B.
.PHONY: deb
DEB_B = $(B)/deb
deb:
	@command -v dh >/dev/null || { echo "make deb: debhelper not found; apt-get install debhelper" >&2; exit 1; }
	@rm -rf $(B)/packages && mkdir -p $(B)/packages
	@dh_clean && env -u MAKEFLAGS debian/rules binary B=$(abspath $(DEB_B)) DESTINATION=$(abspath $(B)/packages)
	@dh_clean
	@ls $(B)/packages/*.deb

clean:
	rm -rf $(B)

help:
	@echo "make              build everything into $(B)/"
	@echo "make demo         install missing packages, build, trace a program, write prodcons.pdf"
	@echo "make demo-cluster trace a program on three hosts (namespaces) connected by NATS, write cluster.pdf"
	@echo "make check-quick  run the unit tests and some end-to-end tests"
	@echo "make check        run all tests but long end-to-end tests; installs missing packages"
	@echo "make check-all    run all tests"
	@echo "make check T=order  one unit test, tests/unit/test_order.c;  E=13  one end-to-end test"
	@echo "make check-loaded all tests beside six busy loops; TIMES=20 repeats, with T= and E= as above"
	@echo "make bench        run benchmarks; PARTS=\"pair burst\" only these"
	@echo "make gallery      draw programs of tasks, monitors and coroutines into docs/gallery.pdf"
	@echo "make deps         install missing Debian packages for building and running (packages.txt)"
	@echo "make deps-test    and those for tests; no service is started or enabled"
	@echo "make format       format the source, with CLANG_FORMAT=$(CLANG_FORMAT)"
	@echo "make compile_commands.json  write the compilation database for editors"
	@echo "make install      PREFIX=$(PREFIX), LIBDIR=$(LIBDIR) below it, DESTDIR=$(DESTDIR)"
	@echo "make uninstall    remove the installed files"
	@echo "make deb          build Debian packages into $(B)/packages/ (needs debhelper)"
	@echo "make clean        remove $(B)/"
	@echo "Variables: CC (gcc or clang), CFLAGS, LDFLAGS, PREFIX, LIBDIR, DESTDIR, B (build directory), V=1 (show commands)."

# ---- fuzzing: make fuzz FUZZ=message SECONDS=60 (clang with libclang-rt) ----
FUZZ ?= message
SECONDS ?= 60
.PHONY: fuzz
fuzz:
	@$(MAKE) --no-print-directory B=$(B)/fuzz CC=clang OPTIMISE="-O1 -g $(SMALL) -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION" \
	  SANITIZE="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined" $(B)/fuzz/tests/fuzz_$(FUZZ)
	@mkdir -p $(B)/fuzz/corpus/$(FUZZ)
	LSAN_OPTIONS=suppressions=tests/fuzz/leaks.txt $(B)/fuzz/tests/fuzz_$(FUZZ) -artifact_prefix=$(B)/fuzz/ \
	  -max_total_time=$(SECONDS) -max_len=65536 -rss_limit_mb=3000 \
	  $(B)/fuzz/corpus/$(FUZZ) tests/fuzz/corpus/$(FUZZ)

LINK_fuzzer = $(CC) -fsanitize=address,undefined,fuzzer $(filter %.o %.a,$^) -o $@ $(LDFLAGS) $(LIBS_TEST)
$(B)/tests/fuzz_%: $(B)/o/tests/fuzz/fuzz_%.o $(FUZZ_WITH) $(B)/tests/tested.a $W/LINK_fuzzer
	$(call step,LD,$@)
	$(Q)$(LINK_fuzzer)

# ---- what was made with what (all variables are known here) ----
NOTED := $(filter COMPILE_% LINK_% WRITE_%,$(.VARIABLES))
$(foreach v,$(NOTED),$(eval NOTED_$v := $$(strip $$($v) $$(COMPILER))))
same = $(and $(findstring |$(1)|,|$(2)|),$(findstring |$(2)|,|$(1)|))
.PHONY: changed
$(foreach v,$(NOTED),$(if $(call same,$(NOTED_$v),$(strip $(file <$W/$v))),,$W/$v)): changed
$(NOTED:%=$W/%): $W/%:
	$(call step,NEW,$@)
	$(Q)printf '%s\n' '$(subst ','\'',$(NOTED_$*))' >$@
