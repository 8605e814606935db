# kinst: everything that one does with the tree.
#
#   make demo    the main job, on a real kernel
#   make test    every test, on this machine's kernel and in virtual machines
#
# Both install what they need from Debian's (or Ubuntu's) packages and keep
# kernel images in kinst's cache.

GO       ?= go
KERNELS  ?= 6.1 6.12
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
OUT      := out
export CGO_ENABLED = 0

# The packages that provide each command which a target runs.
DEMO_COMMANDS := qemu-system-x86_64:qemu-system-x86 busybox:busybox-static
TEST_COMMANDS := $(DEMO_COMMANDS) gcc:gcc objdump:binutils gdb:gdb

.PHONY: all setup setup-demo kernels build demo test bench lint clean

all: build

build:
	$(GO) build -trimpath -ldflags '-s -w -X kinst/internal/cli.version=$(VERSION)' -o kinst ./cmd/kinst

setup-demo:
	@scripts/install $(DEMO_COMMANDS)

setup:
	@scripts/install $(TEST_COMMANDS)

kernels: build
	@./kinst vm fetch $(KERNELS)

demo: setup-demo build
	@scripts/demo

test: setup build kernels lint
	$(GO) test -timeout 30m ./...

bench: setup build kernels
	bench/run

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

clean:
	rm -rf kinst $(OUT)
