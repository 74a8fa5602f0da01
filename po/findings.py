#!/usr/bin/env python3
"""The templates of findings, from the sources: src/ marks nothing for gettext, so this finds the texts
where they stand. Prints po/findings.def; with --write it writes it: po/findings.py . --write"""
import os
import re
import sys

# Arguments that are printf templates (f) or texts as they are (t), by function; the first is 1.
TAKEN = {
    "WS_WORD": {1: "t"},
    "ws_build_words": {2: "f"},
    "ws_scene_words": {2: "t"},
    "WS_MARK": {1: "t"},
    "WS_TARGET_WORD": {2: "f"},
    "WS_ITEM": {2: "t"},
    "ws_phrase": {1: "f"},
    "ws_phrase_append": {2: "f"},
    "ws_phrase_word": {1: "t"},
    "part": {3: "f"},
    "ws_arena_phrase": {2: "f"},
    "ws_findings_add": {4: "f"},
    "ws_finding_set_remedy": {2: "f"},
    "ws_finding_tell": {3: "f"},
    "ws_reader_report": {4: "f"},
    "ws_elab_error": {4: "t", 5: "f"},
    "ws_elab_note": {4: "t", 5: "f"},
    "ws_report": {5: "f"},
    "ws_report_event": {5: "f"},
    "ws_outside": {3: "t"},
    "ws_fixer_add": {2: "f"},
    "ws_draft_refuse": {2: "f"},
    "ws_hint_refuse": {3: "t", 4: "f"},
    "has_any": {6: "t"},
    "bad_entry": {2: "f"},
    "ws_global_problem": {2: "f"},
    "ws_global_cure": {3: "f"},
    "ws_mesh_wrong": {5: "f"},
    "ws_mesh_open": {3: "f"},
    "ws_mesh_ordered_somehow": {4: "t"},
    "give_up": {2: "f"},
    "WS_RULE": {5: "t", 6: "t", 7: "t"},
    "WS_ROW": {10: "t"},
    "WS_STEP": {10: "t"},
    "WS_NODE": {3: "t"},
    "ws_emit_step_error": {3: "t"},
    "ws_cuda_step_error": {3: "t"},
    "ws_generate_refuse": {5: "t", 6: "t"},
    "ws_py_refuse": {3: "t", 4: "t"},
    "ws_py_refuse_at": {4: "t", 5: "t"},
    "ws_py_phrase": {2: "f"},
    "NOT": {1: "t", 2: "t"},
    "WS_TLE_RULE": {2: "t", 4: "t"},
}
# Functions whose texts all are: tables of words, given to ws_phrase_word().
TABLES = ("ws_field_kind_help", "ws_json_kind_text", "ws_stage_use_word")
MACROS = {"G_GINT64_FORMAT": "d", "G_GUINT64_FORMAT": "u", "N": "d", "G_GSIZE_FORMAT": "u", "PRId64": "d", "PRIu64": "u"}
TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_]\w*|\s+|.', re.S)


def tokens(text):
    return [t for t in TOKEN.findall(text) if not t.isspace() and not t.startswith(("/*", "//"))]


def arguments(toks, i):
    """Of the call whose '(' is toks[i]: lists of tokens."""
    depth, out = 0, [[]]
    while i < len(toks):
        t = toks[i]
        if t in "([{":
            depth += 1
        elif t in ")]}":
            depth -= 1
            if depth == 0:
                return out
        if t == "," and depth == 1:
            out.append([])
        elif not (depth == 1 and t == "("  and not out[-1] and len(out) == 1):
            out[-1].append(t)
        i += 1
    return out


def strings(toks):
    """Literals of an argument, neighbours joined; those inside of calls are the calls' own."""
    found, now, called = [], None, 0
    depth = []
    for k, t in enumerate(toks):
        if t == "(":
            depth.append(k > 0 and re.match(r"[A-Za-z_]\w*$", toks[k - 1]) is not None)
        elif t == ")" and depth:
            depth.pop()
        inside = any(depth)
        if t.startswith('"') and not inside:
            now = (now or "") + t[1:-1]
        elif t in MACROS and now is not None:
            now += MACROS[t]
        elif now is not None:
            found.append(now)
            now = None
    return found + ([now] if now is not None else [])


def table(toks, i, seen):
    """Texts of the body of a function whose parameters begin at toks[i]; none, if it is a call."""
    while toks[i] != ")":
        i += 1
    if toks[i + 1] != "{":
        return []
    depth, out = 0, []
    for t in toks[i + 1:]:
        depth += (t == "{") - (t == "}")
        if depth == 0:
            break
        if t.startswith('"') and t[1:-1] not in seen:
            seen.add(t[1:-1])
            out.append((False, t[1:-1]))
    return out


def normal(template):
    """As phrases keep it: whole numbers without length, texts without precision."""
    template = re.sub(r"%([-+ #0-9.]*)(?:hh|h|ll|l|j|z|t)?i", r"%\1d", template)
    template = re.sub(r"%([-+ #0-9.]*)(?:hh|h|ll|l|j|z|t)([duxX])", r"%\1\2", template)
    template = re.sub(r"%[-0-9]*\.[0-9*]*s", "%s", template)
    return template.replace("%c", "%s")


def templates(root):
    files = []
    for folder in ("src", "codegen"):
        for at, _, names in os.walk(os.path.join(root, folder)):
            files += [os.path.join(at, n) for n in names if n.endswith((".c", ".def", ".h"))]
    seen, out = set(), []
    for path in sorted(files):
        toks = tokens(open(path, encoding="utf-8").read())
        mine = []
        for i in range(len(toks) - 1):
            if toks[i] in TABLES and path.endswith(".c"):
                mine += table(toks, i + 1, seen)
        for i in range(len(toks) - 1):
            if toks[i] not in TAKEN or toks[i + 1] != "(":
                continue
            args = arguments(toks, i + 1)
            if toks[i] == "WS_TLE_RULE" and args[2] == ["kept"]:
                continue  # no design can offend
            for n, kind in TAKEN[toks[i]].items():
                for text in strings(args[n - 1]) if n <= len(args) else []:
                    plain = kind == "t" or re.search(r"%", text) is None
                    text = text if plain else normal(text)
                    if text not in seen and re.search(r"[A-Za-z]{2}", re.sub(r"%[-+ #0-9.]*[a-z]", "", text)):
                        seen.add(text)
                        mine.append((plain and "%" in text, text))
        if mine:
            out.append((os.path.relpath(path, root), mine))
    return out


def main():
    lines = ["/* Texts of findings, for xgettext: written by po/findings.py, compiled by nobody. */\n"]
    for path, mine in templates(sys.argv[1]):
        lines.append(f"\n/* {path} */\n")
        for plain, text in mine:
            lines.append(("/* xgettext:no-c-format */ " if plain else "") + f'N_("{text}")\n')
    text = "".join(lines)
    if "--write" in sys.argv:
        with open(os.path.join(sys.argv[1], "po/findings.def"), "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


main()
