"""Roots that hold little: some packages of this system and what they depend on, or nothing but libc."""

import re
import shutil
import subprocess
from pathlib import Path

MERGED = ("bin", "sbin", "lib", "lib64")
# dpkg, and what maintainer scripts may call.
BASE = ("base-passwd", "coreutils", "dash", "diffutils", "dpkg", "grep", "libc-bin", "login", "passwd", "tar")
LOG = "/systemctl.log"


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def names(relations):
    """The package names in a list of relations such as "a (>= 1) | b, c:any"; alternatives in a tuple."""
    for relation in filter(None, map(str.strip, relations.split(","))):
        yield tuple(re.match(r"[^\s:(]+", each.strip())[0] for each in relation.split("|"))


def needed(program):
    """The libraries that a program or a library names."""
    return re.findall(r"NEEDED.*\[(.+)\]", output("readelf", "-d", program))


class Installed:
    """The packages that this system has installed."""

    def __init__(self):
        self.depends, self.provider = {}, {}
        lines = output("dpkg-query", "-W", "-f", "${db:Status-Status}\t${Package}\t${Provides}\t${Pre-Depends},${Depends}\n")
        for status, package, provides, depends in (line.split("\t") for line in lines.splitlines()):
            if status == "installed":
                self.depends[package] = list(names(depends))
                self.provider.update({name: package for (name,) in names(provides)})
        self.provider.update({package: package for package in self.depends})

    def closure(self, wanted):
        """The packages, and what they need."""
        found, waiting = set(), list(wanted)
        while waiting:
            name = waiting.pop()
            package = self.provider.get(name)
            assert package, f"this system has no package {name}"
            if package not in found:
                found.add(package)
                waiting += [next((each for each in any_of if each in self.provider), any_of[0]) for any_of in self.depends[package]]
        return sorted(found)


def put_files(root, packages):
    """Copies what belongs to the packages, and what dpkg knows of them."""
    listed = output("dpkg-query", "-L", *packages).splitlines()
    paths = sorted({line[1:] for line in listed if line.startswith("/") and Path(line).exists() and "/share/doc/" not in line and "/share/man/" not in line})
    with subprocess.Popen(["tar", "-C", "/", "-c", "--no-recursion", "--null", "-T", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pack:
        unpack = subprocess.Popen(["tar", "-C", root, "-x", "--keep-directory-symlink"], stdin=pack.stdout)
        pack.stdin.write(b"".join(path.encode() + b"\0" for path in paths if path and path != "."))
        pack.stdin.close()
        assert unpack.wait() == 0
    database = root / "var/lib/dpkg"
    for name in ("updates", "info", "triggers"):
        (database / name).mkdir(parents=True, exist_ok=True)
    stanzas = Path("/var/lib/dpkg/status").read_text().split("\n\n")
    kept = [stanza for stanza in stanzas if (name := re.match(r"Package: (\S+)", stanza)) and name[1] in packages]
    (database / "status").write_text("\n\n".join(kept) + "\n\n")
    for package in packages:
        for path in Path("/var/lib/dpkg/info").glob(f"{package}*.list"):
            shutil.copy(path, database / "info")


def bare_root(root, *packages):
    """A root with dpkg and these packages, as this system has them; its systemctl only notes how it was called."""
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    put_files(root, Installed().closure([*BASE, *packages]))
    for name in ("dev", "tmp", "run/systemd/system"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "dev/null").touch()
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / "etc" / name)
    systemctl = root / "usr/bin/systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >>{LOG}\n')
    systemctl.chmod(0o755)
    return root


def libc_root(root, program):
    """A root with the libraries and the loader that a program needs, and nothing else."""
    for path in re.findall(r"(/\S+) \(0x", output("ldd", program)):
        (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / path[1:])
    for name in ("run", "tmp", "dev"):
        (root / name).mkdir()
    return root


def inside(root, *words, environment=None, seconds=60):
    """Runs a command below the root; stdout and stderr come together."""
    clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", **(environment or {})}
    return subprocess.run(["chroot", root, *map(str, words)], env=clean, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
