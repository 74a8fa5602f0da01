#!/bin/sh
# Uses packages from C (gemm-bf16, attention-d128) and from PyTorch (these, gemm-bf16-splitk, gemm-fp8, gemm-fp8-block).
# run.sh PACKAGES: the folder that holds theirs, named as the projects are; exit 4 where there is no GPU.
here=$(cd "$(dirname "$0")" && pwd)
packages=$(cd "$1" && pwd) || exit 2
cuda=${CUDA_HOME:-/usr/local/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=0
for pair in gemm:gemm-bf16:gemm_bf16 attention:attention-d128:attention_d128; do
    main=${pair%%:*} name=${pair##*:} dir=$packages/$(echo "$pair" | cut -d: -f2)
    ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -I"$dir" -I"$cuda/include" "$here/$main.c" "$dir/$name.c" -o "$work/$main" \
        -L"$cuda/lib64/stubs" -L"$cuda/compat" -lcuda -lm -pthread -ldl || exit 2
    "$work/$main" "$dir/kernel.cubin" || code=$?
done
# With the compiled extension and without: the same values, refusals and streams.
cp -r "$packages" "$work/packages"
for dir in "$work/packages"/*/; do
    name=$(sed -n 's/^name //p' "$dir/package.txt" 2>/dev/null)
    [ -n "$name" ] && [ -f "$dir/${name}_python.c" ] || continue
    (cd "$dir" && ${CC:-cc} -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden "$name"*.c -o "_$name.abi3.so" -pthread \
        -ldl) || exit 2
done
python3 "$here/use.py" "$work/packages" || code=$?
rule=$work/packages/gemm # of projects/gemm.pick, where it was packed
[ -d "$rule" ] || rule=
python3 "$here/bench.py" "$work/packages" $rule || code=$?
python3 "$here/use.py" "$packages" || code=$?
exit $code
