#!/usr/bin/env bash
# What recording costs: the traced build beside the timed one, by turns in one process, and whether the trace may be believed.
#   tests/gpu/overhead.sh [--make DIR | --run DIR | --table DIR] [--build DIR] [--keep FILE]
# Each design several times: as `profile --trace` records (every round; of launches that deal out their tiles the last CTA, which
# has a tile less), by 16 launches that take turns (-turns), the first CTA of such launches (-first), one round in 64 (-64), and no round, but the tiles of all CTAs (-waves).
#   --make DIR   write the bundles (needs code generation)
#   --run DIR    run the bundles in DIR (needs a GPU)
#   --table DIR  collect the traces and print the table (needs neither)
#   --build DIR  folder with warpstave and warpstave-runner (build/bin)
#   --keep FILE  where the table is kept (projects/recorder.txt)
# Without --make, --run, --table: all three. Exit status: 0 measured, 2 usage, 4 no GPU.
set -uo pipefail
cd "$(dirname "$0")/../.."
make=1 run=1 table=1 build=build/bin bundles="" keep=projects/recorder.txt
usage() { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || usage
    case $1 in
    --make) bundles=$2 run=0 table=0 ;;
    --run) bundles=$2 make=0 table=0 ;;
    --table) bundles=$2 make=0 run=0 ;;
    --build) build=$2 ;;
    --keep) keep=$2 ;;
    *) usage ;;
    esac
    shift 2
done
if [ -z "$bundles" ]; then
    bundles=$(mktemp -d) || exit 5
    trap 'rm -rf "$bundles"' EXIT
fi

# name, design, the size that is traced, a longer one (their difference is the timed build's own pace), options
gemm="M=4096 N=4096 K=4096|M=4096 N=4096 K=8192"
designs=(
    "gemm-bf16|gemm-bf16|$gemm|"
    "gemm-bf16-balanced|gemm-bf16-balanced|$gemm|"
    "gemm-bf16-deferred|gemm-bf16-deferred|$gemm|"
    "gemm-bf16-cluster2|gemm-bf16-cluster2|$gemm|"
    "gemm-bf16-pingpong|gemm-bf16-pingpong|$gemm|"
    "gemm-fp16|gemm-fp16|$gemm|"
    "gemm-fp8|gemm-fp8|$gemm|"
    "gemm-fp8-block|gemm-fp8-block|$gemm|"
    "attention-d64|attention-d64|B=4 HQ=32 HKV=32 SQ=4096 SK=4096|B=4 HQ=32 HKV=32 SQ=4096 SK=8192|"
    "attention-d128|attention-d128|B=4 HQ=16 HKV=16 SQ=4096 SK=4096|B=4 HQ=16 HKV=16 SQ=4096 SK=8192|"
    "attention-d128-causal|attention-d128|B=4 HQ=16 HKV=16 SQ=4096 SK=4096||--set CAUSAL=1"
    "attention-d256|attention-d256|B=4 HQ=8 HKV=8 SQ=4096 SK=4096|B=4 HQ=8 HKV=8 SQ=4096 SK=8192|"
    "attention-d128-full|attention-d128-full|Z=4 H=16 N_CTX=4096||"
    "attention-d256-causal|attention-d256|B=2 HQ=16 HKV=16 SQ=2048 SK=2048||--set CAUSAL=1"
    "attention-d64-short|attention-d64|B=8 HQ=16 HKV=16 SQ=1024 SK=1024||"
    "gemm-fp8-block-deep|gemm-fp8-block|M=8192 N=4096 K=7168||"
    "gemm-bf16-pingpong-deep|gemm-bf16-pingpong|M=8192 N=4096 K=8192||"
)
if [ $make = 1 ]; then
    mkdir -p "$bundles" || exit 2
    variants=("|" "-turns|--launches 16" "-first|--ctas 0" "-64|--every 64" "-waves|--ctas all --rounds 0")
    for line in "${designs[@]}"; do for variant in "${variants[@]}"; do
        IFS='|' read -r name design traced longer options <<<"$line"
        IFS='|' read -r suffix how <<<"$variant"
        [ "$suffix" != -first ] || grep -q '"launch": *"persistent"' "projects/$design/design.wstave" || continue
        case $suffix in "" | -turns) ;; *) longer= ;; esac
        dir=$bundles/$name$suffix
        [ ! -d "$dir" ] || continue
        cases=(--case "$traced")
        [ -n "$longer" ] && cases+=(--case "$longer")
        # shellcheck disable=SC2086
        "$build/warpstave" bundle "projects/$design/design.wstave" -o "$dir" --cubin --traced \
            --rounds 1536 --tiles 50 $how $options "${cases[@]}" >/dev/null || { echo "overhead: $name$suffix is not built"; rm -rf "${dir:?}"; }
        rm -f "$dir/kernel.ptx" "$dir/traced.ptx" # the cubins are what runs
    done; done
fi
if [ $run = 1 ]; then
    [ -x "$build/warpstave-runner" ] || { echo "overhead: no $build/warpstave-runner"; exit 4; }
    for dir in "$bundles"/*/; do
        "$build/warpstave-runner" "$dir" --runs 100 --sustained 0 --samples 512 >/dev/null
        [ $? = 4 ] && { echo "overhead: no GPU here"; exit 4; }
    done
fi
[ $table = 1 ] || exit 0
for dir in "$bundles"/*/; do
    for which in 0 1; do
        "$build/warpstave" collect "$dir" --which $which -o "$dir/$which.wtrace" >/dev/null 2>&1 &&
            "$build/warpstave" trace "$dir/$which.wtrace" --csv "$dir/$which.csv" --overlap >"$dir/$which.txt"
    done
done
python3 tests/gpu/overhead.py "$bundles"/*/ | tee "$keep"
