#!/usr/bin/env bash
# What needs a GPU: bundles of the shipped designs, run and judged by warpstave-runner, then measured
# against torch.matmul where python3 has torch.
#   tests/gpu/run.sh [--make DIR | --run DIR] [--build DIR] [--quick] [--no-peer] [--out DIR]
#   --make DIR   only write the bundles (needs code generation, no GPU)
#   --run DIR    only run the bundles in DIR (needs a GPU, bash and the runner beside them or built)
#   --build DIR  folder with warpstave and warpstave-runner (build/bin)
#   --quick      fewer rounds, nothing sustained
#   --out DIR    copies results.json, records and peer.json of every bundle there
# Exit status: 0 all right, 1 something was wrong, 2 usage, 4 no GPU or driver (skipped).
set -uo pipefail
cd "$(dirname "$0")/../.."
make=1 run=1 peer=1 quick="" bundles="" build=build/bin out=""
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    --make) [ $# -gt 1 ] || usage; bundles=$2 run=0; shift ;;
    --run) [ $# -gt 1 ] || usage; bundles=$2 make=0; shift ;;
    --build) [ $# -gt 1 ] || usage; build=$2; shift ;;
    --out) [ $# -gt 1 ] || usage; out=$2; shift ;;
    --quick) quick=1 ;;
    --no-peer) peer=0 ;;
    *) usage ;;
    esac
    shift
done
if [ -z "$bundles" ]; then
    bundles=$(mktemp -d) || exit 5
    trap 'rm -rf "$bundles"' EXIT
fi
mkdir -p "$bundles/packages" "$bundles/exports" || exit 2

large=(--case "M=4096 N=4096 K=4096" --case "M=8192 N=8192 K=8192" --case "M=2048 N=2048 K=2048")
ragged=(--case "M=1000 N=1016 K=520" --case "M=1 N=8 K=8" --case "M=0 N=8 K=8")
failed=0
say() { printf 'gpu: %s\n' "$*"; }

bundle() { # name, design, options…
    local name=$1 design=$2 code
    shift 2
    "$build/warpstave" bundle "$design" -o "$bundles/$name" --debug-waits "$@" >/dev/null
    code=$?
    case $code in
    0) ;;
    3) say "$name: skipped, the bundle lens has no answer for it yet" ;;
    *) say "$name: bundle exits $code" && failed=1 ;;
    esac
}

if [ $make = 1 ]; then
    [ -x "$build/warpstave" ] || { say "no $build/warpstave: build it (./dev build)"; exit 4; }
    gemm=projects/gemm-bf16/design.wstave
    bundle gemm-bf16 $gemm --traced --ctas 0,1,131 --rounds 256 "${large[@]}" "${ragged[@]}"
    bundle gemm-bf16-stages3 $gemm --set STAGES=3 "${ragged[@]}" "${large[@]:0:2}"
    bundle gemm-bf16-bn128 $gemm --set BN=128 "${ragged[@]}" "${large[@]:0:2}"
    for name in gemm-aliased gemm-pingpong gemm-cluster; do
        bundle $name tests/designs/$name.wstave "${ragged[@]}" "${large[@]:0:2}"
    done
    for name in gemm-bf16 attention-d128 gemm-bf16-splitk gemm-bf16-balanced gemm-bf16-single gemm-fp16 gemm-fp8 gemm-fp8-block; do
        "$build/warpstave" package projects/$name/design.wstave -o "$bundles/packages/$name" >/dev/null ||
            { [ $? = 4 ] && say "package $name: skipped, no ptxas"; } || failed=1
    done
    "$build/warpstave" package projects/gemm.pick -o "$bundles/packages/gemm" >/dev/null ||
        { [ $? = 4 ] && say "package gemm.pick: skipped, no ptxas"; } || failed=1
    # Gluon: exports beside bundles of the same designs, and GEMMs for Triton's sanitizer.
    for name in gemm-bf16 attention-d128; do
        "$build/warpstave" generate projects/$name/design.wstave --as gluon -o "$bundles/exports/$name.py" || failed=1
    done
    bundle exports/gemm-bf16 $gemm "${large[@]:0:2}"
    bundle exports/attention-d128 projects/attention-d128/design.wstave
    for design in tests/designs/consan/*.wstave; do
        name=${design##*/}
        "$build/warpstave" generate "$design" --as gluon --force -o "$bundles/exports/${name%.wstave}.py" 2>/dev/null ||
            failed=1
    done
    # A kernel that must hang: an arrival count nobody can reach. The watchdog has to name the wait.
    hang=$(mktemp --suffix=.wstave)
    sed 's/"init": "ready" }/"init": "ready", "arrivals": 3 }/' $gemm >"$hang"
    bundle must-hang "$hang" --force --timeout 3 --case "M=512 N=512 K=1024" 2>/dev/null
    rm -f "$hang"
fi
[ $run = 1 ] || exit $failed

runner=$build/warpstave-runner
[ -x "$bundles/warpstave-runner" ] && runner=$bundles/warpstave-runner
[ -x "$runner" ] || { say "no $runner: build it (./dev build)"; exit 4; }

keep() { # bundle
    [ -n "$out" ] || return 0
    local name=${1##*/}
    mkdir -p "$out"
    for file in "$1"/results.json "$1"/peer.json "$1"/records*.bin; do
        [ -f "$file" ] && cp "$file" "$out/$name-${file##*/}"
    done
}

list=()
for dir in "$bundles"/*/; do
    dir=${dir%/}
    [ -f "$dir/bundle.txt" ] && [ "${dir##*/}" != must-hang ] && list+=("$dir")
done
[ ${#list[@]} -gt 0 ] || { say "no bundles in $bundles"; exit 2; }
for dir in "${list[@]}"; do
    say "${dir##*/}"
    "$runner" "$dir" ${quick:+--runs 5 --sustained 0}
    code=$?
    [ $code = 4 ] && { say "skipped: no GPU or driver here"; exit 4; }
    [ $code = 0 ] || { say "${dir##*/}: runner exits $code" && failed=1; }
done

if [ $peer = 1 ] && python3 -c 'import torch' 2>/dev/null; then
    for dir in "${list[@]}"; do
        case ${dir##*/} in gemm-*) ;; *) continue ;; esac
        say "${dir##*/} against torch.matmul"
        python3 tests/gpu/peer.py "$dir" --json "$dir/peer.json" \
            ${quick:+--rounds 7 --reps 3 --sustained 0}
        code=$?
        [ $code = 0 ] || [ $code = 4 ] || { say "${dir##*/}: peer exits $code" && failed=1; }
    done
else
    say "peer: skipped (python3 has no torch here)"
fi

if [ -f "$bundles/packages/gemm-bf16/package.txt" ]; then
    say "packages, from C and from PyTorch"
    sh tests/gpu/package/run.sh "$bundles/packages"
    code=$?
    [ $code = 0 ] || [ $code = 4 ] || { say "packages: exit $code" && failed=1; }
fi

exports=$bundles/exports
if [ -f "$exports/gemm-bf16.py" ]; then
    say "Gluon exports beside bundles, and under Triton's sanitizer"
    python3 tests/gpu/exports.py "$exports/gemm-bf16.py:$exports/gemm-bf16" \
        "$exports/attention-d128.py:$exports/attention-d128" --check --json "$exports/exports.json"
    code=$?
    [ $code = 0 ] || [ $code = 4 ] || { say "exports: exit $code" && failed=1; }
    python3 tests/gpu/consan.py "$exports/gemm-correct.py=proved" "$exports/gemm-no-empty-wait.py=P-EARLY" \
        "$exports/gemm-no-mma-wait.py=P-ASYNC" "$exports/gemm-no-full-wait.py=P-RACE" \
        "$exports/gemm-wrong-count.py=P-DL" "$exports/gemm-wrong-polarity.py=P-DL" \
        "$exports/gemm-wrong-bytes.py=P-TX" --json "$exports/consan.json"
    code=$?
    [ $code = 0 ] || [ $code = 4 ] || { say "sanitizer: exit $code" && failed=1; }
fi

for dir in "${list[@]}"; do keep "$dir"; done
if [ -f "$bundles/must-hang/bundle.txt" ]; then # last: it hangs a kernel on purpose
    say "must-hang"
    "$runner" "$bundles/must-hang" --runs 1
    code=$?
    if [ $code = 1 ] && grep -q '"state": "hung"' "$bundles/must-hang/results.json" &&
        grep -q 'agent load waits at .* on barrier empty' "$bundles/must-hang/results.json"; then
        say "must-hang: hung as it should, and the wait was named"
    else
        say "must-hang: exit $code; the watchdog did not name the wait"
        failed=1
    fi
    keep "$bundles/must-hang"
fi
[ $failed = 0 ] && say "all right"
exit $failed
