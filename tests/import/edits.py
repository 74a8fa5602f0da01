#!/usr/bin/env python3
"""Mistakes of planted.def, and what check --fix offers for each: edits.py WARPSTAVE [TITLE …]

Prints for every mistake the edit that is offered (proved by then), whether the difference applies
with patch(1) and whether it makes the kernel what it was. Exit status 1 if a difference does not
apply. The copies are written where temporary files go and deleted."""
import os, re, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRING = r'"(?:[^"\\]|\\.)*"'


def text_of(literals):
    return "".join(s[1:-1].encode().decode("unicode_escape") for s in re.findall(STRING, literals))


def plants():
    """language, title, path of the kernel, from, to, which occurrence (0: all)"""
    c = open(ROOT + "/tests/import/test-planted.c").read()
    paths = dict(re.findall(r'#define (\w+)\s+"([^"]+)"', c))
    table = re.sub(r"/\*.*?\*/", "", open(ROOT + "/tests/import/planted.def").read(), flags=re.S)
    for row in re.finditer(r"PLANT\(((?:[^\"()]|%s)*)\)" % STRING, table):
        cell = [""]
        for part in re.findall(STRING + r"|,|[^\",]+", row[1]):
            if part == ",":
                cell.append("")
            else:
                cell[-1] += part
        language, title, kernel, old, new, nth = (c.strip() for c in cell[:6])
        yield (language.lower(), text_of(title), paths.get(kernel) or text_of(kernel),
               text_of(old), text_of(new), int(nth))


def right_text(warpstave, language, path, known={}):
    if (language, path) not in known:
        known[language, path] = open(f"{ROOT}/{path}").read() if path.endswith(".py") else \
            subprocess.run([warpstave, "generate", f"{ROOT}/{path}", "--as", language, "-o", "-"],
                           capture_output=True, text=True).stdout
    return known[language, path]


def main():
    warpstave, titles = os.path.abspath(sys.argv[1]), sys.argv[2:]
    total = offered = equal = wrong = 0
    slowest = 0.0
    for language, title, path, old, new, nth in plants():
        if titles and title not in titles:
            continue
        right = right_text(warpstave, language, path)
        part = right.split(old)
        if len(part) <= max(nth, 1):
            continue # a writer that names numbers makes another text of this design
        bad = new.join(part) if not nth else old.join(part[:nth]) + new + old.join(part[nth:])
        with tempfile.TemporaryDirectory() as folder:
            file = folder + "/kernel.py"
            open(file, "w").write(bad)
            began = time.time()
            said = subprocess.run([warpstave, "check", "kernel.py", "--from", language, "--fix"],
                                  capture_output=True, text=True, cwd=folder).stdout
            took = time.time() - began
            word = "none"
            if "\n--- kernel.py\n" in said:
                difference = said[said.index("\n--- kernel.py\n") + 1:]
                made = subprocess.run(["patch", "kernel.py"], input=difference, text=True,
                                      capture_output=True, cwd=folder)
                same = open(file).read() == right
                word = "does not apply" if made.returncode else "equal" if same else "offered"
        total += 1
        offered += word in ("equal", "offered")
        equal += word == "equal"
        wrong += word == "does not apply"
        slowest = max(slowest, took)
        line = next((l for l in said.splitlines() if l.startswith(("with this edit", "no edit"))), "")
        print(f"{language:5} {title:40} {took:5.1f} s  {word:8} {line.rpartition('proved; ')[2]}",
              flush=True)
    print(f"{total} mistakes: {offered} offered, {equal} of them as it was; slowest {slowest:.0f} s")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
