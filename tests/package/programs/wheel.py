"""A wheel: its archive and RECORD, pip, pkg-config, CMake, examples in C and C++. Usage: wheel.py WHEEL NAME WORK STUB; prints "right",
and "skipped: …" for what is not here.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile

wheel, name, work, stub = sys.argv[1:]


def must(holds, what):
    if not holds:
        sys.exit(f"WRONG: {what}")


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    must(done.returncode == 0, f"{command}: {done.stdout[-500:]} {done.stderr[-1500:]}")
    return done.stdout


archive = zipfile.ZipFile(wheel)
must(archive.testzip() is None, "a sum of the archive")
names = archive.namelist()
info = next(n for n in names if n.endswith("/RECORD"))
rows = [line.rsplit(",", 2) for line in archive.read(info).decode().splitlines()]
must(sorted(r[0] for r in rows) == sorted(names) and len(set(names)) == len(names), "names of RECORD")
for path, digest, size in rows:
    data = archive.read(path)
    sha = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    must(path == info or (digest == sha and int(size) == len(data)), f"RECORD of {path}")
for text in (n for n in names if not n.endswith((".so", ".cubin", ".wstave"))):
    must("@" not in archive.read(text).decode().replace("@contextlib", ""), f"a word that was not filled in {text}")
must(any(n.startswith(name + "-") and n.endswith(".dist-info/METADATA") for n in names), "METADATA")

site = os.path.join(work, "site")
try:
    import pip
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check",
        "--target", site, wheel)
    must(os.path.exists(os.path.join(site, name, "__init__.py")), "what pip installed")
except ImportError:
    print("skipped: pip")
    archive.extractall(site)
prefix = os.path.join(site, name)

# Python, without a compiler on the path, beside the stand-in of torch
says = run(sys.executable, "-c", f"import {name} as p; print(p.__version__, p.verdict.split()[0], p._extension is not None, callable(p.{name}))",
           env={"PYTHONPATH": f"{site}:{stub}", "PATH": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"})
must(says.split()[1:] == ["proved", "True", "True"], says)

# C and C++ by pkg-config, then both by CMake
expected = f"{name} {says.split()[0]}, design "
if shutil.which("pkg-config"):
    flags = run("pkg-config", "--cflags", "--libs", name, env={**os.environ, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}).split()
    for compiler, source, standard in (("cc", "example.c", "-std=c99"), ("c++", "example.cpp", "-std=c++11")):
        out = os.path.join(work, "example")
        run(compiler, standard, "-Wall", "-Wextra", "-Werror", os.path.join(prefix, "examples", source), *flags, "-o", out)
        must(run(out).startswith(expected), "the example says what it is")
else:
    print("skipped: pkg-config")
if shutil.which("cmake"):
    run("cmake", "-S", f"{prefix}/examples", "-B", f"{work}/cmake", f"-D{name}_DIR={prefix}/lib/cmake/{name}",
        "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON")
    run("cmake", "--build", f"{work}/cmake")
    for language in ("c", "cpp"):
        must(run(f"{work}/cmake/example_{language}").startswith(expected), f"CMake's example in {language}")
else:
    print("skipped: cmake")
shutil.rmtree(site)
shutil.rmtree(f"{work}/cmake", ignore_errors=True)
print("right")
