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
WIRE    = wire/message.c wire/endpoint.c wire/shown.c
CONFIG  = config/target.c
TRACE   = $(wildcard clients/trace/*.c) wire/message.c wire/endpoint.c
ORDER   = $(wildcard server/order/*.c)
STORE   = $(wildcard server/store/*.c)
SERVER  = $(filter-out server/main.c,$(wildcard server/*.c)) $(ORDER) $(STORE)
RENDER  = $(wildcard render/*.c)
SITE    = $(wildcard clients/site/*.c)
SOURCE  = $(wildcard clients/source/*.c)
POET    = $(wildcard clients/poet/*.c)
VIEW    = $(wildcard clients/view/*.c)

objects = $(patsubst %.c,$(B)/o/%.o,$(1))
LIBS_SERVER = -lev $(call PKG,--libs,libconfig zlib)
LIBS_RENDER = $(call PKG,--libs,cairo pangocairo libconfig) -lm
LIBS_CLIENT = $(LIBS_RENDER) $(call PKG,--libs,libdw)
LIBS_POET   = $(LIBS_CLIENT) $(call PKG,--libs,json-c)
LIBS_VIEW   = $(LIBS_CLIENT) $(call PKG,--libs,gtk4)

CFLAGS_ROOM = $(CFLAGS)
$(B)/o/render/%.o $(B)/o/clients/poet/%.o: CFLAGS_ROOM += $(call PKG,--cflags,cairo pangocairo json-c)
$(B)/o/clients/view/%.o: CFLAGS_ROOM += $(call PKG,--cflags,gtk4) -Wno-pedantic -Wno-cast-qual
$(B)/o/tests/%.o: CFLAGS_ROOM += $(call PKG,--cflags,cairo pangocairo)

BIN = $(B)/bin/poet $(B)/bin/poetcc $(B)/bin/poetcc++ $(B)/libexec/poet/poet-server \
      $(B)/lib/libpoet.so $(B)/include/poet.h $(B)/include/poet/redirect.h $(B)/include/poet/calls.h \
      $(patsubst config/%,$(B)/share/poet/config/%,$(wildcard config/*.conf))
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

# libpoet is position-independent, hides everything, and unwinds through cancelled waits.
$(B)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS) -fPIC -fvisibility=hidden -fexceptions -c $< -o $@

$(B)/lib/libpoet.so: $(patsubst %.c,$(B)/pic/%.o,$(TRACE)) clients/trace/exports.map
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -shared -Wl,-soname,libpoet.so -Wl,--version-script=clients/trace/exports.map \
	  -Wl,-z,now $(filter %.o,$^) -o $@ $(LDFLAGS) -pthread -ldl

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

-include $(shell find $(B)/o $(B)/pic -name '*.d' 2>/dev/null)
