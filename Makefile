# Poet.  `make help` explains the targets; README.md the rest.
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

CC ?= cc
PREFIX ?= /usr/local
B ?= build
VERSION := $(shell sed -n 's/.*POET_VERSION "\(.*\)"/\1/p' clients/poet/version.h)

# One strict set for gcc and clang.
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wformat=2 -Wpointer-arith \
           -Wwrite-strings -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
OPTIMISE ?= -O2 -g
SANITIZE ?=
BASE = -std=gnu17 $(WARNINGS) $(OPTIMISE) $(SANITIZE) -I. -MMD -MP
PKG = $(shell pkg-config --silence-errors $(1) $(2))
HAVE_GTK := $(shell pkg-config --exists gtk4 2>/dev/null && echo yes)

# ---- rooms ----
WIRE    = wire/message.c wire/text.c wire/endpoint.c wire/shown.c wire/asked.c wire/unseen.c
CONFIG  = $(wildcard config/*.c)
TRACE   = $(wildcard clients/trace/core/*.c clients/trace/calls/*.c) wire/message.c wire/endpoint.c
MEMORY  = $(wildcard memory/*.c)
ORDER   = $(wildcard server/order/*.c server/order/*/*.c)
STORE   = $(wildcard server/store/*.c)
SERVER  = $(wildcard $(addprefix server/,$(addsuffix /*.c,loop run intake taking file answer peers))) $(ORDER) $(STORE) $(MEMORY)
RENDER  = $(wildcard render/*.c)
SITE    = $(wildcard clients/site/*.c) $(wildcard clients/book/*.c)
SOURCE  = $(wildcard clients/source/*.c)
POET    = $(wildcard clients/poet/*.c)
VIEW    = $(wildcard clients/view/*.c)
MPI     = $(wildcard clients/trace/mpi/*.c)
PROCESS = $(wildcard clients/trace/process/*.c)

# The implementations of MPI that are there; each has its own binary interface.
MPIS := $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m) 2>/dev/null),$(m)))

objects = $(patsubst %.c,$(B)/o/%.o,$(1))
LIBS_SERVER = -lev $(call PKG,--libs,libconfig libxxhash libpcre2-8) -lm
LIBS_RENDER = $(call PKG,--libs,cairo pangocairo libconfig) -lm
LIBS_CLIENT = $(LIBS_RENDER) $(call PKG,--libs,libdw) -lstdc++
LIBS_POET   = $(LIBS_CLIENT) $(call PKG,--libs,json-c libpcre2-8 libelf)
LIBS_VIEW   = $(LIBS_CLIENT) $(call PKG,--libs,gtk4 libpcre2-8)

CFLAGS_ROOM = $(CFLAGS)
$(B)/o/render/%.o $(B)/o/clients/poet/%.o: CFLAGS_ROOM += $(call PKG,--cflags,cairo pangocairo json-c libpcre2-8)
$(B)/o/clients/view/%.o: CFLAGS_ROOM += $(call PKG,--cflags,gtk4) -Wno-pedantic -Wno-cast-qual
$(B)/o/tests/%.o: CFLAGS_ROOM += $(call PKG,--cflags,cairo pangocairo)

BIN = $(B)/bin/poet $(B)/bin/poetcc $(B)/bin/poetcc++ $(B)/libexec/poet/poet-server \
      $(B)/lib/libpoet.so $(B)/lib/libpoet.a $(B)/lib/libpoet-process.so $(B)/include/poet.h $(B)/include/poet/redirect.h $(B)/include/poet/calls.h \
      $(patsubst config/%,$(B)/share/poet/config/%,$(wildcard config/*.conf))
BIN += $(MPIS:%=$(B)/lib/libpoet-mpi-%.so) $(MPIS:%=$(B)/lib/libpoet-mpi-%.preload) $(B)/lib/libpoet-process.preload
ifeq ($(HAVE_GTK),yes)
BIN += $(B)/libexec/poet/poet-view
endif

.PHONY: all
all: $(BIN)
ifneq ($(HAVE_GTK),yes)
	@echo "left out: poet view, since GTK 4 was not found (Debian: libgtk-4-dev)"
endif

$(B)/o/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS_ROOM) -c $< -o $@

# (futex.c defines syscall(), which that header declares in another way)
OWN_LIBC = $(if $(filter %/futex.c,$<),,-include clients/trace/core/libc.h)
# libpoet is position-independent, hides everything, and unwinds through cancelled waits.
$(B)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS) $(OWN_LIBC) -fPIC -fvisibility=hidden -fexceptions -c $< -o $@

$(B)/lib/libpoet.so: $(patsubst %.c,$(B)/pic/%.o,$(TRACE)) clients/trace/exports.map
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -shared -Wl,-soname,libpoet.so -Wl,--version-script=clients/trace/exports.map \
	  -Wl,-z,now,-z,defs,-z,nodelete $(filter %.o,$^) -o $@ $(LDFLAGS) -pthread -ldl

$(B)/pic/clients/trace/process/%.o: clients/trace/process/%.c $(B)/include/poet.h
	@mkdir -p $(@D)
	$(CC) $(BASE) -Wno-pedantic $(CFLAGS) -I$(B)/include -U_FORTIFY_SOURCE -fPIC -fvisibility=hidden -fexceptions -c $< -o $@

$(B)/lib/libpoet-process.so: $(patsubst %.c,$(B)/pic/%.o,$(PROCESS)) $(B)/lib/libpoet.so
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -shared -Wl,-soname,$(@F) $(filter %.o,$^) -o $@ $(LDFLAGS) -L$(B)/lib -lpoet -ldl

$(B)/lib/libpoet-mpi-%.preload: clients/trace/mpi/%.preload
	@mkdir -p $(@D)
	install -m 644 $< $@
$(B)/lib/libpoet-process.preload: clients/trace/process/process.preload
	@mkdir -p $(@D)
	install -m 644 $< $@

# It is loaded into processes without MPI, too, such as mpirun: what it calls is weak, and found in the
# program that it is linked with or loaded into.
$(B)/lib/libpoet-mpi-%.so: $(MPI) clients/trace/mpi/inside.h $(B)/include/poet.h
	@mkdir -p $(@D) $(B)/pic/clients/trace
	$(CC) -std=gnu17 $(WARNINGS) -Wno-undef -Wno-pedantic -Wno-cast-qual -Wno-address $(OPTIMISE) $(CFLAGS) -I. \
	  -I$(B)/include $(filter -I%,$(shell mpicc.$* -show)) -fPIC -fvisibility=hidden -r -nostdlib $(MPI) \
	  -o $(B)/pic/clients/trace/mpi-$*.o
	objcopy --weaken $(B)/pic/clients/trace/mpi-$*.o
	$(CC) -shared -Wl,-soname,$(@F) $(B)/pic/clients/trace/mpi-$*.o -o $@ $(LDFLAGS)

# For static programs, where the linker lets us stand before the calls.
$(B)/static/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS) $(OWN_LIBC) -DPOET_STATIC -fPIC -fvisibility=hidden -fexceptions -c $< -o $@

$(B)/lib/libpoet.a: $(patsubst %.c,$(B)/static/%.o,$(TRACE))
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^

$(B)/libexec/poet/poet-server: $(call objects,server/main.c $(SERVER) $(WIRE) $(CONFIG))
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $^ -o $@ $(LDFLAGS) $(LIBS_SERVER)

$(B)/bin/poet: $(call objects,$(POET) $(SOURCE) $(SITE) $(RENDER) $(WIRE) $(CONFIG))
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $^ -o $@ $(LDFLAGS) $(LIBS_POET)

$(B)/libexec/poet/poet-view: $(call objects,$(VIEW) $(SOURCE) $(SITE) $(RENDER) $(WIRE) $(CONFIG))
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $^ -o $@ $(LDFLAGS) $(LIBS_VIEW)

$(B)/bin/poetcc: clients/poet/poetcc
	@mkdir -p $(@D)
	install -m 755 $< $@
$(B)/bin/poetcc++: $(B)/bin/poetcc
	ln -sf poetcc $@
$(B)/include/poet.h: clients/trace/poet.h
	@mkdir -p $(@D)
	install -m 644 $< $@
$(B)/include/poet/%.h: clients/trace/%.h
	@mkdir -p $(@D)
	install -m 644 $< $@
$(B)/share/poet/config/%: config/%
	@mkdir -p $(@D)
	install -m 644 $< $@

-include $(shell find $(B)/o $(B)/pic $(B)/static -name '*.d' 2>/dev/null)

# ---- set-up ----
.PHONY: deps demo check check-unit check-e2e check-fuzz bench install uninstall clean help
deps:
	@tests/deps.sh packages.txt

demo: deps
	@$(MAKE) --no-print-directory all
	@B=$(B) tests/demo.sh

# The pictures of examples/ucpp/ in one document.
.PHONY: gallery
gallery: all
	@B=$(B) docs/gallery.sh docs/gallery.pdf

# ---- tests ----
UNITS = $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
FUZZERS = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
A = $(B)/asan
TEST_OBJECTS = $(patsubst %.c,$(1)/o/%.o,$(SERVER) $(RENDER) $(WIRE) $(CONFIG) $(SITE) $(SOURCE) clients/poet/shiviz.c tests/bruteforce.c tests/bench/workload.c)
LIBS_TEST = -lm -lcmocka -lev $(LIBS_CLIENT) $(call PKG,--libs,json-c libpcre2-8 libelf) -lxxhash

$(B)/tests/test_%: $(B)/o/tests/unit/test_%.o $(call TEST_OBJECTS,$(B))
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $^ -o $@ $(LDFLAGS) $(LIBS_TEST)

$(B)/tests/replay_%: $(B)/o/tests/fuzz/%.o $(B)/o/tests/fuzz/replay.o $(call TEST_OBJECTS,$(B))
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $^ -o $@ $(LDFLAGS) $(LIBS_TEST)

.PHONY: unit-programs
unit-programs: $(UNITS:%=$(B)/tests/%) $(FUZZERS:%=$(B)/tests/replay_%)
.SECONDARY:

# Unit tests and the fuzz corpora run with AddressSanitizer and UndefinedBehaviorSanitizer, and with
# blocks, nodes and regions so small that small traces have many.
SMALL = -DBLOCK_EVENTS=32u -DOPEN_BLOCKS=2u -DSERIES_BITS=2u -DREGION_BYTES=4096u -DPENDING_LIMIT=1000u -DTURN_EVENTS=4u -DLEAP_AFTER=2u -DGRADUAL_ROOM=64u
check-unit:
	@$(MAKE) --no-print-directory B=$(A) OPTIMISE="-O1 -g $(SMALL)" \
	  SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined" unit-programs
	@tests/units.sh $(A)/tests

check-e2e: all
	@B=$(abspath $(B)) CC="$(CC)" prove --nocolor --failures --comments tests/e2e/*.t

check: deps
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory check-unit
	@$(MAKE) --no-print-directory check-e2e
	@tests/rooms.sh

$(B)/tests/scale: $(call objects,tests/bench/scale.c tests/bench/workload.c $(ORDER) $(STORE) $(MEMORY) wire/message.c)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $^ -o $@ $(LDFLAGS) -lxxhash

# EVENTS=100000000 make bench takes a quarter of an hour and 3 GB of disk.
bench: all $(B)/tests/scale
	@B=$(B) VIEW=$(VIEW) tests/bench/bench.sh

# ---- installing ----
MANUALS = $(wildcard docs/man/*.1)
# What a desktop wants to know of the viewer; $(1): the command that puts a file into a folder under share/.
DESKTOP = io.github.poet.View
define DESKTOP_FILES
	$(1) clients/view/$(DESKTOP).desktop $(2)/applications/$(DESKTOP).desktop
	$(1) clients/view/$(DESKTOP).xml $(2)/mime/packages/$(DESKTOP).xml
	$(1) clients/view/$(DESKTOP).svg $(2)/icons/hicolor/scalable/apps/$(DESKTOP).svg
endef
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/libexec/poet \
	  $(DESTDIR)$(PREFIX)/include/poet $(DESTDIR)$(PREFIX)/share/poet/config \
	  $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(B)/bin/poet $(B)/bin/poetcc $(DESTDIR)$(PREFIX)/bin
	ln -sf poetcc $(DESTDIR)$(PREFIX)/bin/poetcc++
	install -m 755 $(wildcard $(B)/libexec/poet/*) $(DESTDIR)$(PREFIX)/libexec/poet
	install -m 755 $(B)/lib/libpoet.so $(B)/lib/libpoet-process.so $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(B)/lib/libpoet.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(wildcard $(B)/lib/*.preload) $(DESTDIR)$(PREFIX)/lib
	for m in $(MPIS); do install -m 755 $(B)/lib/libpoet-mpi-$$m.so $(DESTDIR)$(PREFIX)/lib || exit 1; done
	install -m 644 $(B)/include/poet.h $(DESTDIR)$(PREFIX)/include
	install -m 644 $(B)/include/poet/redirect.h $(B)/include/poet/calls.h $(DESTDIR)$(PREFIX)/include/poet
	install -m 644 config/*.conf $(DESTDIR)$(PREFIX)/share/poet/config
	install -m 644 $(MANUALS) $(DESTDIR)$(PREFIX)/share/man/man1
ifeq ($(HAVE_GTK),yes)
	$(call DESKTOP_FILES,install -D -m 644,$(DESTDIR)$(PREFIX)/share)
endif

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,poet poetcc poetcc++)
	rm -f $(DESTDIR)$(PREFIX)/lib/libpoet.so $(DESTDIR)$(PREFIX)/lib/libpoet.a $(DESTDIR)$(PREFIX)/include/poet.h
	rm -f $(foreach l,process mpi-openmpi mpi-mpich,$(addprefix $(DESTDIR)$(PREFIX)/lib/libpoet-$(l),.so .preload))
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/,libexec/poet include/poet share/poet)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man1/,$(notdir $(MANUALS)))
	rm -f $(DESTDIR)$(PREFIX)/share/applications/$(DESKTOP).desktop \
	  $(DESTDIR)$(PREFIX)/share/mime/packages/$(DESKTOP).xml \
	  $(DESTDIR)$(PREFIX)/share/icons/hicolor/scalable/apps/$(DESKTOP).svg

clean:
	rm -rf $(B)

help:
	@echo "make              build everything into $(B)/"
	@echo "make demo         install what is missing, build, trace a program, leave prodcons.pdf"
	@echo "make check        install what is missing, build, run all tests"
	@echo "make gallery      draw the programs of examples/ucpp/ into docs/gallery.pdf"
	@echo "make deps         install the Debian packages of packages.txt that are missing"
	@echo "make bench        print figures"
	@echo "make install      PREFIX=$(PREFIX), DESTDIR=$(DESTDIR)"
	@echo "make uninstall    remove what install put there"
	@echo "make clean        remove $(B)/"
	@echo "Variables: CC (gcc or clang), CFLAGS, LDFLAGS, PREFIX, DESTDIR, B (build directory)."

# ---- fuzzing: make fuzz FUZZ=message SECONDS=60 (clang with libclang-rt) ----
FUZZ ?= message
SECONDS ?= 60
.PHONY: fuzz
fuzz:
	@$(MAKE) --no-print-directory B=$(B)/fuzz CC=clang OPTIMISE="-O1 -g $(SMALL) -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION" \
	  SANITIZE="-fsanitize=address,undefined,fuzzer-no-link" $(B)/fuzz/tests/fuzz_$(FUZZ)
	@mkdir -p $(B)/fuzz/corpus/$(FUZZ)
	LSAN_OPTIONS=suppressions=tests/fuzz/leaks.txt $(B)/fuzz/tests/fuzz_$(FUZZ) -artifact_prefix=$(B)/fuzz/ \
	  -max_total_time=$(SECONDS) -max_len=65536 -rss_limit_mb=3000 \
	  $(B)/fuzz/corpus/$(FUZZ) tests/fuzz/corpus/$(FUZZ)

$(B)/tests/fuzz_%: $(B)/o/tests/fuzz/fuzz_%.o $(call TEST_OBJECTS,$(B))
	@mkdir -p $(@D)
	$(CC) -fsanitize=address,undefined,fuzzer $^ -o $@ $(LDFLAGS) $(LIBS_TEST)
