# kinst: everything that one does with the tree.
#
#   make demo                   the main job, on a real kernel
#   make test                   every test, on this machine's kernel and in
#                               virtual machines
#   make sweep                  every instruction of 1,500 functions of the kernel
#   make bench                  what things cost, beside what they cost others
#   make install PREFIX=/usr    the command, manual pages, completion
#   make dist                   archives and a Debian package, in out/
#
# What needs more than Go installs it from Debian's (or Ubuntu's) packages and
# keeps kernel images in kinst's cache.

GO       ?= go
PREFIX   ?= /usr/local
KERNELS  ?= 6.1 6.12
FUNCTIONS ?= 1500
SEED     ?= 1
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
export CGO_ENABLED = 0
export VERSION

LDFLAGS := -s -w -buildid= -X kinst/internal/cli.version=$(VERSION)

# The packages that provide each command which a target runs.
DEMO_COMMANDS := qemu-system-x86_64:qemu-system-x86 busybox:busybox-static
BENCH_COMMANDS := $(DEMO_COMMANDS) bpftrace:bpftrace
TEST_COMMANDS := $(DEMO_COMMANDS) gcc:gcc g++:g++ cpp:cpp objdump:binutils gdb:gdb mandoc:mandoc

.PHONY: all setup setup-demo kernels build demo test sweep bench lint install install-dtrace dist clean

all: build

build:
	$(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o kinst ./cmd/kinst

setup-demo:
	@scripts/install $(DEMO_COMMANDS)

setup:
	@scripts/install $(TEST_COMMANDS)

kernels: setup-demo build
	@./kinst vm fetch $(KERNELS)

demo: setup-demo build
	@scripts/demo

test: setup build kernels lint
	$(GO) test -timeout 30m ./...

# Trace each instruction of many of the kernel's functions, and see that it
# stays well: half an hour or more for each kernel.
sweep: setup kernels
	$(GO) test -timeout 12h -v ./tests/sweep -args -functions $(FUNCTIONS) -seed $(SEED)

bench: build kernels
	@scripts/install $(BENCH_COMMANDS)
	bench/run

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@! command -v mandoc >/dev/null || mandoc -T lint -W warning man/*.[0-9]

install: build
	scripts/install-tree '$(DESTDIR)' '$(PREFIX)'

# Under its other name the command is dtrace(1). The package systemtap-sdt-dev
# has a dtrace of its own, in /usr/bin.
install-dtrace: install
	ln -sf kinst '$(DESTDIR)$(PREFIX)/sbin/dtrace'
	ln -sf kinst.1 '$(DESTDIR)$(PREFIX)/share/man/man1/dtrace.1'

dist: build
	scripts/dist out

clean:
	rm -rf kinst out
