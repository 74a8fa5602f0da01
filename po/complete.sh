#!/usr/bin/env bash
# Every language is complete: each text of the sources is translated, nothing is fuzzy, formats fit. Prints TAP.
set -euo pipefail
cd "$1"
for tool in xgettext msgcmp msgfmt; do
    command -v "$tool" >/dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -vE '^(#|$)' po/POTFILES >"$work/files"
# Interface files, the desktop entry and the settings have rules of their own, by their names.
grep -E '^resources/' "$work/files" >"$work/other" || true
grep -vE '^resources/' "$work/files" >"$work/code"
xgettext --files-from="$work/code" --from-code=UTF-8 --language=C --keyword=_ --keyword=N_ \
    --keyword=ngettext:1,2 --keyword=g_dngettext:2,3 --output="$work/code.pot"
xgettext --files-from="$work/other" --from-code=UTF-8 --output="$work/other.pot"
msgcat --use-first -o "$work/all.pot" "$work/code.pot" "$work/other.pot"
mapfile -t languages < <(grep -vE '^(#|$)' po/LINGUAS)
echo "1..$((${#languages[@]} + 1))"
texts=$(grep -c '^msgid "' "$work/all.pot")
[ "$texts" -gt 900 ] && echo "ok 1 the texts were found" || echo "not ok 1 only $texts texts were found"
n=1
for language in "${languages[@]}"; do
    n=$((n + 1))
    if said=$({ msgfmt --check --output-file=/dev/null "po/$language.po" &&
        msgcmp "po/$language.po" "$work/all.pot"; } 2>&1); then
        echo "ok $n $language"
    else
        echo "not ok $n $language"
        echo "$said" | sed 's/^/# /'
    fi
done
