#!/bin/sh
# Other solvers on the scenes of the engine's table, in one session with it; not part of CI.
#
#   THREADS="1 2" core/benches/engine/peers.sh PROGRAMS [cells a side …]
#
# PROGRAMS is a folder with gen_matrix.cpp (writes a scene's system), bench_eigen.cpp and bench_hypre.cpp (solve it and
# print RESULT solver,scene,threads,tolerance,set-up s,solve s,iterations,true residual,…). Needs Debian's libeigen3-dev,
# libhypre-dev and an MPI compiler; what is missing is left out. Rows of ours and of the others alternate, scene by scene.
set -eu
programs=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")/../../.." && pwd)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT

g++ -O2 -I"$programs" "$programs/gen_matrix.cpp" -o "$built/gen_matrix"
g++ -O3 -march=native -fopenmp -DNDEBUG -I"$programs" $(pkg-config --cflags eigen3) \
    "$programs/bench_eigen.cpp" -o "$built/bench_eigen" || echo "no Eigen: libeigen3-dev"
mpicxx -O3 -march=native -DNDEBUG -I"$programs" -I/usr/include/hypre -DHYPTAG='"debian"' "$programs/bench_hypre.cpp" -lHYPRE \
    -o "$built/bench_hypre" || echo "no hypre: libhypre-dev, libopenmpi-dev"

cd "$here"
cargo bench -p meniscus-core --bench engine --no-run
threads=${THREADS:-1 2}
ours() {
    cargo bench -q -p meniscus-core --bench engine -- "$1" turns=3 bubbles=no threads="$(echo "$threads" | tr ' ' ',')"
}
[ $# -gt 0 ] || set -- 64
for n in "$@"; do
    ours "$n"
    for scene in wave cooler coolerB; do
        "$built/gen_matrix" "$scene" "$n" "$built/${scene}_$n.bin"
        # A structured solver takes no bubbles.
        solvers="pfmg_rb boomer_a"
        [ "$scene" != coolerB ] || solvers=boomer_a
        for count in $threads; do
            [ ! -x "$built/bench_eigen" ] ||
                OMP_NUM_THREADS=$count "$built/bench_eigen" "$built/${scene}_$n.bin" jacobi 1
            for solver in $solvers; do
                [ ! -x "$built/bench_hypre" ] ||
                    mpirun --allow-run-as-root --oversubscribe -np "$count" \
                        "$built/bench_hypre" "$built/${scene}_$n.bin" "$solver" 1 || echo "$solver: no result on $scene"
            done
        done
    done
    ours "$n"
done
