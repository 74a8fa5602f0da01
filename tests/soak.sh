#!/usr/bin/env bash
# First the check against the oracle: random designs and faults in right ones for a third of SECONDS, and,
# from 1,800 SECONDS on, every small change of every right design. Then rehearses and checks the GEMM designs with many seeds, sizes and
# settings for SECONDS; stops at the first failure and prints the command that shows it. The seed of the
# walk is printed first.
set -u
cd "$(dirname "$0")/.."
seconds=${1:-300}
seed=${SOAK_SEED:-$RANDOM}
RANDOM=$seed
echo "soak: seed $seed, $seconds s"

judge() { # command: prints its last figures, and everything if it fails
    local log
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1; then
        cat "$log"
        rm -f "$log"
        echo "soak: failed: $*"
        exit 1
    fi
    grep -E '^# (all:|all |[0-9]+ designs|smallest|[0-9]+ false|[0-9]+ features|not compared)' "$log"
    rm -f "$log"
}
end=$((SECONDS + seconds / 3))
while [ "$SECONDS" -lt "$end" ]; do
    judge build/tests/test-oracle-features "$((RANDOM * 32768 + RANDOM))" 2000
    judge build/tests/test-oracle-control "$((RANDOM * 32768 + RANDOM))" 5000
    judge build/tests/test-oracle-faults "$((RANDOM * 32768 + RANDOM))" 500
    judge build/tests/test-oracle-differential "$((RANDOM * 32768 + RANDOM))" 2000
done
# Random edits of a hand in the studio's document: 20,000 in 300 s, with the sanitizers where there is such a build.
log=$(mktemp)
for edits in build-asan/tests/test-ui-soak build/tests/test-ui-soak; do
    [ -x "$edits" ] || continue
    WARPSTAVE_SOAK=$((seconds * 70)) WARPSTAVE_SEED=$seed "$edits" --tap >"$log" 2>&1 || {
        cat "$log"
        echo "soak: failed: WARPSTAVE_SOAK=$((seconds * 70)) WARPSTAVE_SEED=$seed $edits"
        exit 1
    }
    rm -f "$log"
    echo "soak: $((seconds * 70)) edits of a hand"
    break
done
# The same with the window: commands, keys, the wheel, clicks and drags; eight a second on two cores.
log=$(mktemp)
if [ -x build/tests/test-ui-walks ]; then
    WARPSTAVE_WALK=$((seconds * 8)) WARPSTAVE_SEED=$seed G_DEBUG=fatal-criticals \
        tests/ui/with-display.sh build/tests/test-ui-walks --tap >"$log" 2>&1 || {
        cat "$log"
        echo "soak: failed: WARPSTAVE_WALK=$((seconds * 8)) WARPSTAVE_SEED=$seed build/tests/test-ui-walks"
        exit 1
    }
    echo "soak: $((seconds * 8)) actions in the window"
fi
rm -f "$log"
[ "$seconds" -lt 1800 ] || judge build/tests/test-oracle-mutation all
# What becomes of every right design with one known mistake: explained, repaired, the original again.
[ "$seconds" -lt 1800 ] || judge build/tests/test-mend-repair all
# Loops of shipped designs rotated at every step, at other depths of their rings: what is proved is right (an hour).
[ "$seconds" -lt 3600 ] || WARPSTAVE_STAGES=all judge build/tests/test-edit-stages
# A repair that is not the original is proved; it must compute the same, too.
repaired=$(mktemp -d)
judge build/tests/test-mend-repair all 5 gemm-c "$repaired"
for design in "$repaired"/*.wstave; do
    [ ! -e "$design" ] || judge build/bin/warpstave rehearse "$design"
done
# And nothing is wrong in any lane (minutes).
[ "$seconds" -lt 1800 ] || WARPSTAVE_PROOF_CASES=$repaired judge build/tests/test-oracle-truth
rm -rf "$repaired"
end=$((SECONDS + seconds))
runs=0
# design, least and largest number of stages it can do with (aliased stages a tile over its ring)
designs=("projects/gemm-bf16/design.wstave 2 4" "tests/designs/gemm-aliased.wstave 4 4"
    "tests/designs/gemm-pingpong.wstave 2 5" "tests/designs/gemm-cluster.wstave 2 4")
while [ "$SECONDS" -lt "$end" ]; do
    read -r design least most <<<"${designs[RANDOM % ${#designs[@]}]}"
    m=$((1 + RANDOM % 400)) n=$((8 * (1 + RANDOM % 50))) k=$((8 * (1 + RANDOM % 50)))
    stages=$((least + RANDOM % (most - least + 1)))
    command=(build/bin/warpstave rehearse "$design" --set "STAGES=$stages" --seed "$RANDOM"
        --sms "$((1 + RANDOM % 4))" --size "M=$m" --size "N=$n" --size "K=$k")
    if ! "${command[@]}" >/tmp/warpstave-soak.$$ 2>&1; then
        cat /tmp/warpstave-soak.$$
        rm -f /tmp/warpstave-soak.$$
        echo "soak: failed after $runs runs: ${command[*]}"
        exit 1
    fi
    runs=$((runs + 1))
done
rm -f /tmp/warpstave-soak.$$
echo "soak: $runs rehearsals right (seed $seed)"
