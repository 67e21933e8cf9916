# `make` alone prints this list; every target works from a fresh clone. Needs Swift 6.3 and GNU make.

PREFIX ?= /usr/local
DESTDIR ?=
# More flags for the release build.
SWIFTFLAGS ?=
# The program starts without a Swift toolchain, looks for libraries nowhere but where the system keeps them, and binds
# every call before it runs: lazy binding leaves registers, which may hold a secret, on the stack.
LINKFLAGS := --static-swift-stdlib --disable-local-rpath -Xlinker -z -Xlinker now -Xlinker -z -Xlinker relro -Xlinker -s

# What is to be installed, laid out as below PREFIX, so that `sudo make install` after `make build` only copies.
STAGE := .build/stage
PROGRAM := bin/kcbackup
BINARIES := $(PROGRAM) bin/security
MANUAL := share/man/man1/kcbackup.1
COMPLETIONS := share/bash-completion/completions/kcbackup share/zsh/site-functions/_kcbackup \
	share/fish/vendor_completions.d/kcbackup.fish
# Installed as it is.
RECOVERY := share/kcbackup/recover.sh
SOURCES := Package.swift $(shell find Sources -type f)

.PHONY: help build test faults demo install uninstall format clean packages-build packages-test
# Half a file must not look up to date.
.DELETE_ON_ERROR:

help:
	@echo 'make build      release binaries, manual page and shell completions, in $(STAGE)'
	@echo 'make test       build, check the format, run all tests'
	@echo 'make faults     kill and disturb the program at every system call that changes a file'
	@echo 'make demo       backup and restore of the sample keychain, in a temporary folder'
	@echo 'make install    install below PREFIX=$(PREFIX) (and DESTDIR=)'
	@echo 'make uninstall  remove what install put there'
	@echo 'make format     rewrite the sources in the format that `make test` expects'
	@echo 'make clean      remove all that was built'

build: $(addprefix $(STAGE)/,$(BINARIES) $(MANUAL) $(COMPLETIONS))

test: packages-test
	swift build --build-tests
	swift format lint --strict --recursive Sources Tests Package.swift
	.ci/run-tests

# Every fault of the harness of which `make test` takes a sample; most of an hour.
faults: packages-test
	swift build --build-tests
	FAULTS=all SWIFT_BACKTRACE=enable=no swift test --skip-build --filter FaultTests

demo: packages-test $(STAGE)/$(PROGRAM)
	KCBACKUP=$(abspath $(STAGE)/$(PROGRAM)) Samples/demo.sh

install: build
	for file in $(BINARIES); do \
		install -D -m 755 $(STAGE)/$$file $(DESTDIR)$(PREFIX)/$$file || exit 1; \
	done
	for file in $(MANUAL) $(COMPLETIONS); do \
		install -D -m 644 $(STAGE)/$$file $(DESTDIR)$(PREFIX)/$$file || exit 1; \
	done
	install -D -m 755 docs/recover.sh $(DESTDIR)$(PREFIX)/$(RECOVERY)

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(BINARIES) $(MANUAL) $(COMPLETIONS) $(RECOVERY))

format:
	swift format --in-place --recursive Sources Tests Package.swift

clean:
	rm -rf .build

packages-build:
	@.ci/install-packages build

packages-test:
	@.ci/install-packages test

# The packages are order-only: looking for them must not make a binary look old.
$(addprefix $(STAGE)/,$(BINARIES)): $(SOURCES) | packages-build
	swift build --configuration release --product $(@F) $(LINKFLAGS) $(SWIFTFLAGS)
	.ci/check-binary .build/release/$(@F)
	install -D -m 755 .build/release/$(@F) $@

# The plugin of swift-argument-parser writes the page from the same declarations as --help.
$(STAGE)/$(MANUAL): $(STAGE)/$(PROGRAM)
	swift package plugin generate-manual
	install -D -m 644 .build/plugins/GenerateManual/outputs/kcbackup/kcbackup.1 $@

$(STAGE)/share/bash-completion/%: shell = bash
$(STAGE)/share/zsh/%: shell = zsh
$(STAGE)/share/fish/%: shell = fish
$(addprefix $(STAGE)/,$(COMPLETIONS)): $(STAGE)/$(PROGRAM)
	@mkdir -p $(@D)
	$(STAGE)/$(PROGRAM) --generate-completion-script $(shell) > $@
