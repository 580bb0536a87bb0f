# berth's front door: `make help` lists what there is. Meson does the building.
#
# Variables, all optional:
#   CC       gcc (default) or clang          J        jobs at a time
#   B        build folder (default: build)   WERROR   true or false
#   T        more words for `meson test`, such as the names of the tests to run
#   SECONDS  length of a torture test or of a benchmark run
#   ARGS     more words for `berth bench`
#   OPTIONS  more words for `meson setup`
#   PREFIX, DESTDIR                          where `make install` puts things

ifeq ($(origin CC),default)
CC := gcc
endif
B ?= build
J ?= $(shell nproc)

# A torture test lasts this long within `make check`.
BERTH_TORTURE_SECONDS ?= 1

export CC WERROR DESTDIR BERTH_TORTURE_SECONDS

# What a sanitizer build differs in; undefined symbols are the runtime's then.
# It is about the library: the historical designs are left out.
sanitized = -Db_sanitize=$(1) -Db_lundef=false -Ddebug_checks=true \
	    -Dlineage=false
asan      = B=build-asan WERROR=false \
	    OPTIONS='$(call sanitized,address$(comma)undefined)'
tsan      = B=build-tsan WERROR=false OPTIONS='$(call sanitized,thread)'
valgrind  = B=build-valgrind WERROR=false DEPS=valgrind \
	    OPTIONS='-Dvalgrind=true -Dlineage=false'
# Without its own fork(), after which gcov would begin anew in the child.
coverage  = B=build-coverage WERROR=false DEPS=coverage \
	    CFLAGS='-fprofile-update=atomic -fno-builtin-fork' \
	    OPTIONS='-Db_coverage=true -Doptimization=0 -Dlineage=false'
comma     = ,

# How a valgrind tool runs the tests; it makes one processor of all, and slow.
under = tools/run-tests build-valgrind --no-suite lint \
	--wrapper '$(CURDIR)/tools/under-valgrind $(1)' -t 10

# ThreadSanitizer needs an address space that is not laid out at random.
fixed_addresses = $$(setarch -R true 2>/dev/null && echo setarch -R)

.PHONY: deps build demo check check-asan check-tsan check-valgrind \
	check-helgrind check-fallbacks check-kref-hashed coverage torture \
	mutants model conflicts bench lint install clean help
.DEFAULT_GOAL := build

deps:  ## install the Debian packages that are missing, if any
	@tools/deps $(DEPS) $(CC)

build: deps  ## build everything; the program is build/berth
	@tools/configure $(B) $(if $(PREFIX),--prefix=$(PREFIX)) $(OPTIONS)
	@ninja -C $(B) -j $(J)

demo: build  ## show it at work, in under two minutes: mount, use, compare
	@BERTH=$(B)/berth tools/demo

check: build  ## run all tests, the quick way
	@tools/run-tests $(B) $(T)

check-asan:  ## the same with AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) --no-print-directory build $(asan)
	@ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	tools/run-tests build-asan --no-suite lint -t 4 $(T)

check-tsan:  ## the same with ThreadSanitizer
	@$(MAKE) --no-print-directory build $(tsan)
	@TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
	$(fixed_addresses) tools/run-tests build-tsan --no-suite lint -t 8 $(T)

check-valgrind:  ## the same under valgrind: memory and leaks
	@$(MAKE) --no-print-directory build $(valgrind)
	@$(call under,memcheck) $(T)

check-helgrind:  ## the same with its helgrind: races and the order of locks
	@$(MAKE) --no-print-directory build $(valgrind)
	@$(call under,helgrind) --no-suite program --no-suite docs $(T)

coverage:  ## the same, and what no test reaches: see tests/unreached
	@$(MAKE) --no-print-directory build $(coverage)
	@find build-coverage -name '*.gcda' -delete
	@tools/run-tests build-coverage --no-suite lint --no-suite suite -t 4
	@tools/coverage build-coverage || { echo 'The races again:'; \
	tools/run-tests build-coverage --suite torture -t 8 && \
	BERTH_TORTURE_SECONDS=3 tools/run-tests build-coverage \
	--suite torture -t 8 && tools/coverage build-coverage; }

check-fallbacks: build  ## the same on a system that lacks what berth would use
	@tools/run-tests --without membarrier --without all $(B) \
	--no-suite lint --no-suite lineage --no-suite suite \
	--no-suite conflicts $(T)

check-kref-hashed:  ## the same with counts that need no compare-and-swap
	@$(MAKE) --no-print-directory check B=build-hashed \
	OPTIONS='-Dkref=hashed -Dlineage=false'

torture: SECONDS ?= 30
torture: export BERTH_TORTURE_SECONDS = $(SECONDS)
torture: build  ## run each race for longer: make torture SECONDS=30
	@tools/run-tests $(B) --suite torture -t $$(($(SECONDS) + 1)) $(T)

mutants: build  ## break the library on purpose: does a test find out, each time?
	@tests/mutants/run $(T)

model: DEPS = model
model: deps  ## check the Spin models of the protocols
	@CC=$(CC) tests/model/run $(T)

conflicts: build  ## count the pairs of operations that share memory, by cause
	@ninja -C $(B) -j $(J) conflicts >/dev/null
	@tests/conflicts/report $(B) $(T)

bench: build  ## measure against the kernel: make bench SECONDS=5
	@$(B)/berth bench open-loop fget --threads 1,2 --against kernel \
	$(if $(SECONDS),--seconds $(SECONDS)) $(ARGS)

lint: DEPS = lint
lint: build  ## format, static analysis, labels, headers, symbols, spelling
	@tools/lint $(B)

install: build  ## install the library, its headers and the program
	@meson install -C $(B) --no-rebuild

clean:  ## remove all that was built
	rm -rf build build-asan build-tsan build-clang build-valgrind \
	build-coverage build-hashed

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
	while IFS='|' read -r name text; do \
	printf '  %-17s %s\n' "$$name" "$$text"; done
