#!/usr/bin/env bash
# The tables beside other people's kernels (./dev gpu peers): bundles of what the rules pick for their shapes, then
# peers.py beside the peers that are here. cuBLASLt and cuDNN come with torch; the others are built elsewhere and given.
#   peers.sh [--make DIR | --run DIR] [--deepgemm CUBIN] [--deepgemm-mqa LIB] [--flashmla LIB] [--fa3 LIB]
#            [--sustained S] [--only NAME] [--keep] [--build DIR]
# --make and --run do the halves on two machines; --only takes one table (sparse-decode, attention-128-causal, …);
# --keep puts the tables into the measured/ folders of the projects.
# What peers.py understands itself (--gemm, --attention, … BUNDLE) goes to it as it is.
set -u
cd "$(dirname "$0")/../.." || exit 2
case "${1:-}" in
--gemm | --fp8-block | --sparse-mla | --sparse-decode | --indexer | --attention | --small | --grouped | --experts | --decode | --varlen | --forms | --backward | --help) exec python3 tests/gpu/peers.py "$@" ;;
esac
make=1 run=1 keep=0 sustained=2 build=build/bin dir= only= deepgemm= mqa= flashmla= fa3=
while [ $# -gt 0 ]; do
    case $1 in
    --make) run=0 dir=${2:?} && shift ;;
    --run) make=0 dir=${2:?} && shift ;;
    --deepgemm) deepgemm=${2:?} && shift ;;
    --deepgemm-mqa) mqa=${2:?} && shift ;;
    --only) only=${2:?} && shift ;;
    --flashmla) flashmla=${2:?} && shift ;;
    --fa3) fa3=${2:?} && shift ;;
    --sustained) sustained=${2:?} && shift ;;
    --build) build=${2:?} && shift ;;
    --keep) keep=1 ;;
    *) sed -n '2,9s/^# \?//p' "$0" && exit 2 ;;
    esac
    shift
done
if [ -z "$dir" ]; then
    dir=$(mktemp -d) || exit 5
    trap 'rm -rf "$dir"' EXIT
fi
failed=0
cubin=$(command -v ptxas >/dev/null && echo --cubin) # otherwise the driver assembles
say() { printf 'peers: %s\n' "$*"; }

# folder, rule, "NAME=VALUE …" of a shape, "NAME=VALUE …" of the case that the design is given: as the rule says
pick() {
    local folder=$1 rule=$2 shape=$3 case=$4 size=() choice name
    for s in $shape; do size+=(--size "$s"); done
    choice=$("$build/warpstave" pick "$rule" "${size[@]}") || { say "no pick for $shape"; failed=1; return; }
    name=$(dirname "${choice%% *}") && name=${name##*/}
    for s in ${choice#* }; do case $s in *=*) name=$name-${s/=/} ;; esac; done
    printf '%s\n' "$case" >>"$dir/$folder/$name.cases"
    printf '%s\n' "$choice" >"$dir/$folder/$name.design"
}

bundle() { # what the .cases and .design files of a folder say
    local file cases choice
    for file in "$dir/$1"/*.design; do
        cases=()
        while read -r c; do cases+=("--case=$c"); done <"${file%.design}.cases"
        read -ra choice <"$file"
        "$build/warpstave" bundle "${choice[@]}" "${cases[@]}" $cubin -o "${file%.design}" >/dev/null || failed=1
        rm -f "$file" "${file%.design}.cases"
    done
}

if [ $make = 1 ]; then
    [ -x "$build/warpstave" ] || { say "no $build/warpstave: build it (./dev build)"; exit 4; }
    mkdir -p "$dir"/{gemm,fp8-block,sparse-mla,sparse-decode,indexer} "$dir"/attention/{64,128,256}-{full,causal}
    for s in 2048x2048x2048 4096x4096x4096 8192x8192x8192 16384x16384x16384 8192x8192x1024 512x8192x8192 \
        128x8192x8192 4096x14336x4096 4096x4096x14336; do
        IFS=x read -r m n k <<<"$s"
        pick gemm projects/gemm.pick "M=$m N=$n K=$k" "M=$m N=$n K=$k"
    done
    for d in 64 128 256; do
        for causal in 0 1; do
            for s in 1024 4096 16384; do # 16,384 tokens, heads times dimension 2048
                h=$((2048 / d)) b=$((16384 / s))
                pick "attention/$d-$([ $causal = 1 ] && echo causal || echo full)" projects/attention.pick \
                    "D=$d CAUSAL=$causal B=$b HQ=$h SQ=$s SK=$s" "B=$b HQ=$h HKV=$h SQ=$s SK=$s"
            done
        done
    done
    echo projects/gemm-fp8-block-pair/design.wstave >"$dir/fp8-block/pair.design"
    printf 'M=%s N=%s K=%s\n' 4096 4096 4096 8192 8192 8192 4096 7168 16384 >"$dir/fp8-block/pair.cases"
    echo projects/sparse-mla-prefill/design.wstave >"$dir/sparse-mla/near.design"
    printf 'SQ=4096 SKV=%s HQ=128 TOPK=2048\n' 8192 32768 >"$dir/sparse-mla/near.cases"
    echo projects/sparse-mla-prefill/design.wstave --set FAR=1 >"$dir/sparse-mla/far.design"
    printf 'SQ=4096 SKV=%s HQ=128 TOPK=2048\n' 65536 131072 >"$dir/sparse-mla/far.cases"
    echo projects/sparse-mla-any/design.wstave --set FAR=1 >"$dir/sparse-mla/any.design"
    printf 'SQ=4096 SKV=32768 HQ=%s TOPK=2048\n' 64 32 16 8 >"$dir/sparse-mla/any.cases"
    echo projects/sparse-mla-pipes/design.wstave >"$dir/sparse-mla/pipes.design"
    printf 'B=1 SQ=4096 SKV=%s H=128 TOPK=2048\n' 8192 32768 65536 131072 >"$dir/sparse-mla/pipes.cases"
    echo projects/sparse-mla-decode/single.wstave >"$dir/sparse-decode/single.design"
    printf 'B=%s HQ=%s SKV=131072 TOPK=2048\n' 128 128 128 64 16 128 2 128 >"$dir/sparse-decode/single.cases"
    for stage in design combine; do # splits of the lists that the pages name, and their neighbours
        echo "projects/sparse-mla-decode/$stage.wstave" >"$dir/sparse-decode/$stage.design"
        for c in "128 128 2" "128 64 2" "16 128 2" "16 128 4" "16 128 8" "2 128 8" "2 128 16" "2 128 32"; do
            read -r b h s <<<"$c"
            if [ $stage = design ]; then echo "B=$b HQ=$h SKV=131072 TOPK=2048 S=$s"; else echo "B=$b HQ=$h S=$s"; fi
        done >"$dir/sparse-decode/$stage.cases"
    done
    echo "projects/mla-indexer/design.wstave" >"$dir/indexer/indexer-64.design"
    echo "projects/mla-indexer/heads32.wstave" >"$dir/indexer/indexer-32.design"
    printf 'SQ=%s SKV=%s\n' 4096 8192 1024 8192 2048 32768 >"$dir/indexer/indexer-64.cases"
    echo "SQ=4096 SKV=8192" >"$dir/indexer/indexer-32.cases"
    for causal in full causal; do # what is linked follows each other; 16,384 tokens, heads times dimension 2048
        set=$([ $causal = causal ] && echo "--set CAUSAL=1")
        while read -r d name project; do
            f=backward/$d-$causal
            mkdir -p "$dir/$f"
            case $project in
            */rows.wstave*) echo "projects/$project --set D=$d" ;;
            */convert.wstave) echo "projects/$project" ;;
            *) echo "projects/$project $set" ;;
            esac >"$dir/$f/$name.design"
            for s in 512 1024 2048 4096 8192 16384; do
                h=$((2048 / d)) b=$((16384 / s))
                case $name in
                rows | convert) echo "B=$b HQ=$h SQ=$s" ;;
                *) echo "B=$b HQ=$h HKV=$h SQ=$s SK=$s" ;;
                esac
            done >"$dir/$f/$name.cases"
        done <<<"64 dq attention-backward-d64/dq.wstave
64 dkv attention-backward-d64/design.wstave
64 rows attention-backward-d128/rows.wstave
64 fused attention-backward-d64/fused.wstave
64 convert attention-backward-d64/convert.wstave
128 rows attention-backward-d128/rows.wstave
128 fused attention-backward-d128/design.wstave
128 convert attention-backward-d128/convert.wstave
128 dq attention-backward-d128-dq/design.wstave
128 dkv attention-backward-d128-dkv/design.wstave
256 dq attention-backward-d256/dq.wstave
256 dkv attention-backward-d256/design.wstave"
    done
    for f in gemm fp8-block sparse-mla sparse-decode indexer "$dir"/attention/* "$dir"/backward/*; do bundle "${f#"$dir"/}"; done
fi
[ $run = 1 ] || exit $failed

table() { # name of the table, project that keeps it, options of peers.py
    local name=$1 project=$2
    shift 2
    [ -z "$only" ] || [ "$only" = "$name" ] || return
    say "$name"
    python3 tests/gpu/peers.py "$@" --rounds 9 --reps 3 --json "$dir/$name.json" | tee "$dir/$name.txt"
    case ${PIPESTATUS[0]} in
    0) [ $keep = 1 ] && mkdir -p "projects/$project/measured" && cp "$dir/$name.txt" "projects/$project/measured/peers-$name.txt" ;;
    4) exit 4 ;;
    *) failed=1 ;;
    esac
}
table gemm gemm-bf16-balanced --gemm "$dir"/gemm/*/ --sustained "$sustained"
if [ -n "$deepgemm" ]; then
    table fp8-block gemm-fp8-block-pair --fp8-block "$dir"/fp8-block/*/ --deepgemm "$deepgemm" --sustained "$sustained"
else say "fp8 block scales: skipped, no --deepgemm"; fi
if [ -n "$flashmla" ]; then
    table sparse-mla sparse-mla-prefill --sparse-mla "$dir"/sparse-mla/*/ --flashmla "$flashmla"
    table sparse-decode sparse-mla-decode --sparse-decode "$dir"/sparse-decode/single "$dir"/sparse-decode/design+"$dir"/sparse-decode/combine --flashmla "$flashmla"
else say "sparse MLA, sparse decode: skipped, no --flashmla"; fi
if [ -n "$mqa" ]; then
    table indexer mla-indexer --indexer "$dir"/indexer/*/ --deepgemm-mqa "$mqa"
else say "indexer: skipped, no --deepgemm-mqa"; fi
for f in "$dir"/attention/*/; do
    name=${f%/} && name=${name##*/}
    table "attention-$name" "attention-d${name%-*}" --attention "$f"*/ ${fa3:+--fa3 "$fa3"} \
        $([ "${name#*-}" = causal ] && echo --causal) --sustained "$sustained"
done
for f in "$dir"/backward/*/; do
    name=${f%/} && name=${name##*/}
    chains=("${f}dq+${f}dkv")
    [ -d "${f}rows" ] && chains+=("${f}rows+${f}fused+${f}convert")
    table "backward-$name" "attention-backward-d${name%-*}" --backward "${chains[@]}" ${fa3:+--fa3 "$fa3"} \
        $([ "${name#*-}" = causal ] && echo --causal)
done
exit $failed
