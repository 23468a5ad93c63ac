# make demo    the water cooler twice, trapped air on and off, and a catapult
# make test    every test
# make check   what CI runs: format, lints, documentation, the ABI's layout, tests
# make ptx     compile the CUDA kernels anew (no GPU needed); `make check` says when that is due
# make scenes  every example at half of its paper's resolution, and the long families of tests (nightly)
# make attack  damaged files of every kind, ATTACK_SECONDS long, from ATTACK_SEED or a seed that is drawn and printed
# make reference  docs/book/node_reference.md from the nodes' own descriptions
# make gallery docs/gallery.md: cooks the first second of every example (GALLERY_OUT keeps the cooks)
# make gallery-blender docs/pictures/blender: two shots opened and rendered by Blender
# make dist    a tarball and a .deb in target/dist
# make dist-smoke  installs both in fresh Debian 12 roots and cooks there (as root, with network)
# make mpi-trial  the pressure engine's operator on MPI_RANKS ranks (2): the same bits as on one, and what that costs
# make fuzz    the graph parser and the mesh readers under libFuzzer, FUZZ_SECONDS each

DEMO_OUT ?= demo.out
GALLERY_OUT ?= gallery.out
SCENES_OUT ?= scenes.out
# Blender as a Python module, 1 GB each; they ask for Python 3.11.
BLENDERS ?= 4.2.0 4.5.15 5.0.1
USD_CORE ?= 26.11
FUZZ_SECONDS ?= 180
ATTACK_SECONDS ?= 600
ATTACK_SEED ?=
ATTACK_TARGET ?=
MPI_RANKS ?= 2

.PHONY: demo test check ptx reference gallery gallery-blender dist dist-smoke scenes attack mpi-trial fuzz packages

packages:
	@.ci/packages

demo: packages
	cargo build --release --quiet -p meniscus -p meniscus-plugin
	target/release/meniscus demo --out $(DEMO_OUT)

test:
	@.ci/packages python3-pip
	cargo fetch --locked --quiet
	cargo test --workspace --quiet

check: packages
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features meniscus-abi/layout-check,meniscus-plugin/layout-check --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	.ci/ptx
	cargo test --profile layout -p meniscus-abi --features layout-check --quiet
	$(MAKE) test

ptx:
	.ci/ptx --write

scenes: packages
	cargo build --release --quiet -p meniscus -p meniscus-plugin
	for graph in $$(ls examples/*/*.meniscus.json examples/*/*/*.meniscus.json | grep -v c_coupling); do \
	  target/release/meniscus cook $$graph --quality half --out $(SCENES_OUT)/$$(basename $$graph .meniscus.json) || exit 1; \
	done
	cargo test --release --quiet -p meniscus-tests --test analytic --test papers -- --ignored
	cargo test --release --quiet -p meniscus-core --lib fluid::tests -- --ignored --skip sensitivity
	@.ci/packages chromium
	tests/view/page.py target/release/meniscus $(SCENES_OUT)/page
	@.ci/packages python3-pip
	PYTHONPATH=$$(.ci/wheel usd-core $(USD_CORE)) tests/usd/examples.py target/release/meniscus $(SCENES_OUT)/usd
	@.ci/packages python3-pip libgl1 libgomp1 libice6 libsm6 libxfixes3 libxi6 libxkbcommon0 libxrender1 libxxf86vm1
	for version in $(BLENDERS); do \
	  PYTHONPATH=$$(.ci/wheel bpy $$version) tests/blender/addon.py target/release/meniscus $(SCENES_OUT)/blender-$$version || exit 1; \
	done

reference: packages
	cargo build --release --quiet -p meniscus -p meniscus-plugin
	target/release/meniscus nodes --reference --pictures docs/book/nodes > target/node_reference.md
	mv target/node_reference.md docs/book/node_reference.md

gallery: packages
	cargo build --release --quiet -p meniscus -p meniscus-plugin
	docs/gallery.py target/release/meniscus $(GALLERY_OUT)

gallery-blender: packages
	cargo build --release --quiet -p meniscus -p meniscus-plugin
	@.ci/packages python3-pip libgl1 libgomp1 libice6 libsm6 libxfixes3 libxi6 libxkbcommon0 libxrender1 libxxf86vm1
	PYTHONPATH=$$(.ci/wheel bpy $(firstword $(BLENDERS))) docs/blender.py target/release/meniscus $(GALLERY_OUT)/blender

dist:
	@.ci/packages dpkg-dev patchelf
	.ci/dist

dist-smoke: dist
	@.ci/packages debootstrap
	.ci/dist_smoke

attack: packages
	MENISCUS_ATTACK_SECONDS=$(ATTACK_SECONDS) MENISCUS_ATTACK_SEED=$(ATTACK_SEED) MENISCUS_ATTACK_TARGET=$(ATTACK_TARGET) \
	  cargo test --release --quiet -p meniscus-tests --test attack -- --ignored --nocapture

mpi-trial:
	@.ci/packages openmpi-bin libopenmpi-dev libclang-dev
	cd kernels/mpi_trial && for task in 'plan 64 128 256 512 1024' messages 'run 64 128 turns=15'; do \
	  ranks=$(MPI_RANKS); case $$task in plan*) ranks=1;; messages) ranks=2;; esac; \
	  cargo run --release --locked --quiet --config "target.'cfg(all())'.runner=['mpirun','--allow-run-as-root','--oversubscribe','-n','$$ranks']" -- $$task || exit 1; \
	done

fuzz: packages
	@command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
	cd host && for target in graph mesh; do \
	  RUSTC_BOOTSTRAP=1 cargo fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096 || exit 1; \
	done
