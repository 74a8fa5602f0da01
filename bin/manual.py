"""The manual page and the bash completion of warpstave, from the table of its commands and what each
command says of its options: manual.py WARPSTAVE COMMAND.DEF EXIT.H man|bash OUTPUT; and the page of another
program, from what it says with --help: manual.py PROGRAM "what it is" "see also" page OUTPUT"""
import os
import re
import subprocess
import sys

program, table, exits, form, output = sys.argv[1:]


def unquoted(text):
    return re.sub(r'"\s*"', "", text).strip('"').replace('\\"', '"')


def commands():
    text = open(table, encoding="utf-8").read().split("*/", 1)[1]
    row = r'WS_COMMAND\((\w+), ("(?:[^"\\]|\\.)*"), (?:TRUE|FALSE), ("(?:[^"\\]|\\.)*")\)'
    return [(name, unquoted(arguments), unquoted(what)) for name, arguments, what in re.findall(row, text)]


def options(command):
    """(short, long, argument, help) as the command itself lists them."""
    said = subprocess.run([program, command, "--help"], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "C"}).stdout
    option = r"^  (?:-(\w), )?--([\w-]+)(?:=(\S.*?))?  +(\S.*)$"
    return re.findall(option, said.split("Application Options:", 1)[-1], re.M) if "Application" in said else []


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("\u2026", "...")
    return "\\&" + text if text[:1] in ".'" else text


def man():
    lines = ['.TH WARPSTAVE 1 "" "Warpstave" "User Commands"', ".SH NAME",
             "warpstave \\- designs of warp-specialized GPU kernels: check, predict, generate, run",
             ".SH SYNOPSIS", ".B warpstave", ".I COMMAND", "[\\fIOPTION\\fR]... \\fIARGUMENT\\fR...",
             ".SH DESCRIPTION",
             "A design (*.wstave) says which warps load, compute and store, and what they wait for. warpstave",
             "proves it or refutes it, predicts its cycles, generates the kernel and compares measured runs",
             "with the prediction. Where a file is written, \\- is the standard output.", ".SH COMMANDS"]
    for name, arguments, what in commands():
        lines += [f".SS warpstave {name} {roff(arguments)}", roff(what[:1].upper() + what[1:]) + "."]
        for short, long, argument, help in options(name):
            names = (f"\\fB\\-{short}\\fR, " if short else "") + f"\\fB\\-\\-{roff(long)}\\fR"
            lines += [".TP", names + (f"=\\fI{roff(argument)}\\fR" if argument else ""), roff(help)]
    lines.append(".SH EXIT STATUS")
    number = r"WS_EXIT_(\w+) = (\d+),(?:\s*/\* (.*?) \*/)?"
    for word, code, what in re.findall(number, open(exits, encoding="utf-8").read()):
        lines += [".TP", code, roff(what or word.lower())]
    lines += [".SH SEE ALSO", "\\fBwarpstave explain\\fR \\fIRULE\\fR|\\fISTEP\\fR|\\fIOBJECT\\fR",
              "tells what a finding or a word of the language means; the manual of \\fBwarpstave\\-studio\\fR",
              "(F1) shows the rest."]
    return "\n".join(lines) + "\n"


def bash():
    rows = commands()
    lines = ["# bash completion of warpstave; made with the program, from its own table of commands.",
             "_warpstave() {", "    local cur=${COMP_WORDS[COMP_CWORD]} option= words=",
             "    local command=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD-1]}", "    COMPREPLY=()",
             "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
             "        COMPREPLY=($(compgen -W \"" + " ".join(n for n, _, _ in rows) +
             " --help --version\" -- \"$cur\"))", "        return", "    fi",
             "    # readline parts --as=ptx into three words", "    if [ \"$cur\" = = ]; then",
             "        option=$before cur=", "    elif [ \"$before\" = = ]; then",
             "        option=${COMP_WORDS[COMP_CWORD-2]}", "    else", "        option=$before", "    fi",
             "    case $command$option in"]
    for name, _, _ in rows:
        for short, long, argument, _ in options(name):
            if re.fullmatch(r"[\w-]+(\|[\w-]+)+", argument):
                lines.append(f"    {name}--{long}) words=\"{argument.replace('|', ' ')}\" ;;")
    lines += ["    esac", "    if [ -z \"$words\" ] && [[ $cur == -* ]]; then", "        case $command in"]
    for name, _, _ in rows:
        every = " ".join(f"--{long}" for _, long, _, _ in options(name))
        lines.append(f"        {name}) words=\"--help {every}\" ;;".replace(" \"", "\""))
    lines += ["        esac", "    fi", "    [ -n \"$words\" ] && COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))",
              "    return 0", "}", "complete -o default -F _warpstave warpstave", ""]
    return "\n".join(lines)


def page():
    """The usage lines, the sentences behind them, the options, and the exit status where it is told."""
    said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "C"}).stdout
    name, what, also = os.path.basename(program), table, exits
    body, _, status = said.partition("exit status:")
    usage = re.sub(r"^(usage|Usage):\s*", "", body.strip()).split("\n")
    lines = [f'.TH {roff(name.upper())} 1 "" "Warpstave" "User Commands"', ".SH NAME", f"{roff(name)} \\- {roff(what)}",
             ".SH SYNOPSIS", roff(usage[0].strip().replace("?]", "...]")), ".SH DESCRIPTION"]
    for line in usage[1:]:
        option = re.match(r"  ((?:-\w, )?--?[\w-]+(?:[ =][A-Z=]+)?(?:, --\w+)*)(?:\s{2,}(\S.*))?$", line)
        if option:
            lines += [".TP", "\\fB" + roff(option[1]) + "\\fR", roff(option[2] or "")]
        elif line.endswith("Options:"):
            if lines[-1] == ".SH DESCRIPTION":
                lines.pop()
            lines.append(".SH " + line[:-1].upper())
        elif line.strip():
            lines.append(roff(line.strip()))
    if status:
        lines += [".SH EXIT STATUS", roff(" ".join(status.split()))]
    return "\n".join([line for line in lines if line] + [".SH SEE ALSO", also]) + "\n"


with open(output, "w", encoding="utf-8") as f:
    f.write({"man": man, "bash": bash, "page": page}[form]())
