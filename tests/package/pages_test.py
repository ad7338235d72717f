"""The pages in the packages: what they link to is there too."""

import re
import shutil
import subprocess

import pytest

PLACES = {"stepscope-agent_*.deb": "usr/share/doc/stepscope-agent", "stepscope-server_*.deb": "usr/share/doc/stepscope-server", "*.tar.gz": "*/doc"}


@pytest.fixture(params=PLACES)
def unpacked(request, packages, tmp_path):
    """(the package's name pattern, where it was unpacked, its folder of pages)"""
    (package,) = packages.glob(request.param)
    if package.suffix == ".deb" and not shutil.which("dpkg-deb"):
        pytest.skip("this system has no dpkg")
    unpack = ["dpkg-deb", "-x", package, tmp_path] if package.suffix == ".deb" else ["tar", "-C", tmp_path, "-xzf", package]
    subprocess.run(unpack, check=True)
    (pages,) = tmp_path.glob(PLACES[request.param])
    return request.param, tmp_path, pages


def test_what_a_page_links_to_is_in_the_package(unpacked):
    _, _, pages = unpacked
    dead, links = [], 0
    for page in pages.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if not link.startswith("http"):
                links += 1
                dead += [] if (page.parent / link).exists() else [f"{page.name}: {link}"]
    assert dead == []
    assert links > 10
    agent = (pages / "agent.md").read_text()
    assert "](python.md)" in agent and "](agent-transcript.md)" in agent and "](0019-spool.md)" in agent


def test_the_service_has_the_map_of_its_pages(unpacked):
    name, _, pages = unpacked
    if not name.startswith("stepscope-server"):
        return
    text = (pages / "README.md").read_text()
    assert "](server.md)" in text and "](python.md)" in text and "](rules/README.md)" in text and "](openapi.yaml)" in text
    assert "](README.md)" not in text  # neither the README of the source nor the index of decisions is in the package


def test_what_the_pages_offer_is_in_the_package(unpacked):
    name, root, pages = unpacked
    if name.startswith("stepscope-server"):
        return
    tarball = name == "*.tar.gz"
    scripts = pages.parent / "slurm" if tarball else pages / "slurm"
    assert all((scripts / script).stat().st_mode & 0o111 for script in ("prolog.sh", "epilog.sh"))
    assert (pages / "stepscope-agent.yaml").exists()
    units = pages.parent / "etc" if tarball else root / "lib/systemd/system"
    units = units if units.exists() else root / "usr/lib/systemd/system"
    assert {unit.name for unit in units.glob("*.service")} == {"stepscope-agent.service", "stepscope-agent@.service"}
