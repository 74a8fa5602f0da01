#!/usr/bin/env bash
# The names of TLE on a GPU: kernels of tests/import/tle/names that are read, designs that say a name, templates, text of an
# author in CUDA C++. Each is run with the float64 reference that the rehearsal agrees with, or for the same bits again.
#   tests/gpu/names.sh [--make DIR | --run DIR | --table DIR] [--build DIR]
#   --make DIR   only write the bundles (needs code generation, ptxas and nvcc, no GPU)
#   --run DIR    only run the bundles in DIR, eight at a time, with the runner there (needs a GPU and bash)
#   --table DIR  only write tests/gpu/names.txt of what ran there
#   --build DIR  folder of the build (build)
# Exit status: 0 all right, 1 something was wrong, 2 usage, 4 no GPU or driver (skipped).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
make=1 run=1 table=1 dir="" build=build
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || usage
    case $1 in
    --make) dir=$2 run=0 table=0 ;;
    --run) dir=$2 make=0 table=0 ;;
    --table) dir=$2 make=0 run=0 ;;
    --build) build=$2 ;;
    *) usage ;;
    esac
    shift 2
done
if [ -z "$dir" ]; then
    dir=$(mktemp -d) || exit 5
    trap 'rm -rf "$dir"' EXIT
fi
say() { printf 'names: %s\n' "$*"; }

if [ $make = 1 ]; then
    cd "$here/../.."
    mkdir -p "$dir/designs" || exit 2
    WARPSTAVE_NAMES=$dir/designs LD_LIBRARY_PATH=$build/tests "$build/tests/test-import-tle-runs" >/dev/null || exit 1
    cp "$build/bin/warpstave-runner" "$dir" || exit 2
    # not in parallel: ptxas is quick, and the machine may be another's
    while IFS=$'\t' read -r key where how sizes name; do
        [ "$where" = gpu ] && [ ! -d "$dir/$key$how" ] || continue # `$how` is "-" or "cuda"
        options=(--cubin)
        [ "$how" = cuda ] && options=(--from-cuda --force)
        [ "$sizes" != - ] && options+=(--case "$sizes")
        bundle=("$build/bin/warpstave" bundle "$dir/designs/$key.wstave" -o "$dir/$key$how")
        "${bundle[@]}" "${options[@]}" >/dev/null 2>"$dir/said" && continue
        # with spills there is no cubin, but the driver assembles it
        grep -q '^spill:' "$dir/said" && "${bundle[@]}" "${options[@]:1}" >/dev/null 2>"$dir/said" && continue
        say "$name: $(tail -n 1 "$dir/said")"
    done <"$dir/designs/names.tsv"
fi

if [ $run = 1 ]; then
    cd "$dir" || exit 2
    one() {
        ./warpstave-runner "$1" --runs 3 --sustained 0 --again 20 --judge 10 --timeout 10 --json >"$1/said" 2>"$1/error"
        echo $? >"$1/status"
    }
    export -f one
    printf '%s\n' */bundle.txt | sed 's|/bundle.txt||' | xargs -P 8 -I{} bash -c 'one {}'
    grep -lx 4 */status >/dev/null 2>&1 && say "no GPU or driver" && exit 4
    cat */status | sort | uniq -c | sed 's/^/names: exit status of the runner: /'
fi

if [ $table = 1 ]; then
    python3 "$here/names.py" "$dir" >"$here/names.txt" || exit 1
    awk '!/^#/ && NF { n++ } END { print "names: " n " lines in tests/gpu/names.txt" }' "$here/names.txt"
    grep -E '^[0-9a-f]+ +(wrong|hung|died|failed|not)' "$here/names.txt" && exit 1
fi
exit 0
