"""The packages in a root that has dpkg and what they depend on: installed, used, removed, purged."""

import os
import shutil

import pytest

from tests.package.roots import LOG, bare_root, inside, names, needed, output

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="a root of one's own needs root"),
    pytest.mark.skipif(not shutil.which("dpkg-query"), reason="this system has no dpkg"),
]


class Root:
    """A bare root and one of our packages."""

    def __init__(self, folder, packages, name, *beside):
        self.path = folder
        (self.package,) = packages.glob(f"{name}_*.deb")
        depends = output("dpkg-deb", "-f", self.package, "Depends")
        bare_root(folder, *(any_of[0] for any_of in names(depends)), *beside)
        shutil.copy(self.package, folder / "tmp")

    def run(self, *words, **options):
        done = inside(self.path, *words, **options)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def install(self):
        self.run("dpkg", "-i", f"/tmp/{self.package.name}")

    def systemctl(self):
        """How systemctl was called since the last question."""
        log = self.path / LOG[1:]
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def ours(self):
        """The paths that have our name, without those that dpkg and this test put there."""
        found = {f"/{path.relative_to(self.path)}" for path in self.path.rglob("*stepscope*")}
        return {path for path in found if not path.startswith(("/var/lib/dpkg", "/tmp"))}


@pytest.fixture
def agent(tmp_path, packages):
    root = Root(tmp_path, packages, "stepscope-agent")
    root.install()
    return root


@pytest.fixture
def server(tmp_path, packages):
    root = Root(tmp_path, packages, "stepscope-server")
    root.install()
    return root


def test_the_agent_runs_where_it_was_installed(agent):
    assert agent.run("stepscope-agent", "--version").startswith("stepscope-agent ")
    assert "--server URL" in agent.run("stepscope-agent", "run", "--help")
    assert agent.run("dpkg-query", "-W", "-f", "${db:Status-Status}", "stepscope-agent") == "installed"
    python = agent.path / "usr/share/stepscope/python"
    assert {path.name for path in python.glob("*.py")} == {"_stepscope_imports.py", "_stepscope_start.py"}
    assert (python / "stepscope/_hooks/_flow.py").exists()


def test_python_runs_the_c_form_of_its_package_where_it_can_be_loaded(tmp_path, packages):
    root = Root(tmp_path, packages, "stepscope-agent", "python3")
    root.install()
    ask = ["python3", "-c", "import stepscope; said = stepscope.info(); print(said['form'], said['form_reason'], sep='|')"]
    place = {"PYTHONPATH": "/usr/share/stepscope/python"}
    assert root.run(*ask, environment=place) == "C extension|\n"
    extension = tmp_path / "usr/share/stepscope/python/stepscope/_native.abi3.so"
    assert [name for name in needed(extension) if not name.startswith(("libc.so.6", "ld-linux"))] == []
    extension.write_bytes(b"\x7fELF, of another machine")
    assert root.run(*ask, environment=place).startswith("pure Python|the extension cannot be loaded: ")


def test_the_configuration_of_the_agent_can_be_used_as_it_is_meant(agent):
    file = agent.path / "etc/stepscope/agent.toml"
    lines = file.read_text().splitlines()
    assert all(line.startswith("#") or not line for line in lines)
    file.write_text("\n".join(line[2:] if " = " in line and "`" not in line else line for line in lines))
    out = inside(agent.path, "stepscope-agent", "run", "--job", "x", "--push", "1ms", "--", "true")
    assert out.returncode == 2 and "--push" in out.stdout


def test_the_agent_is_not_started_before_it_has_a_service(agent):
    assert agent.systemctl() == ["daemon-reload"]
    agent.install()  # an upgrade
    assert agent.systemctl() == ["daemon-reload", "try-restart stepscope-agent.service"]
    agent.run("dpkg", "-r", "stepscope-agent")
    assert agent.systemctl() == ["disable --now stepscope-agent.service", "daemon-reload"]


def test_the_agent_leaves_settings_and_spool_until_it_is_purged(agent):
    file = agent.path / "etc/stepscope/agent.toml"
    file.write_text('server = "http://127.0.0.1:8080"\n')
    (agent.path / "var/lib/stepscope-agent").mkdir()
    agent.install()
    assert "8080" in file.read_text()
    agent.run("dpkg", "-r", "stepscope-agent")
    assert agent.ours() == {"/etc/stepscope", "/var/lib/stepscope-agent"}
    agent.run("dpkg", "-P", "stepscope-agent")
    assert agent.ours() == set()


def test_the_service_has_a_user_and_a_folder_of_its_own(server):
    assert "--data-dir" in server.run("stepscope-server", "--help")
    (line,) = [line for line in (server.path / "etc/passwd").read_text().splitlines() if line.startswith("stepscope:")]
    user, shell = int(line.split(":")[2]), line.split(":")[6]
    data = (server.path / "var/lib/stepscope").stat()
    assert (user < 1000, shell, data.st_uid, data.st_mode & 0o777) == (True, "/usr/sbin/nologin", user, 0o700)


def test_the_service_keeps_its_data_until_it_is_purged(server):
    (server.path / "var/lib/stepscope/webhook.key").write_text("a key")
    server.install()
    server.systemctl()
    server.run("dpkg", "-r", "stepscope-server")
    assert server.systemctl() == ["disable --now stepscope-server.service", "daemon-reload"]
    assert server.ours() == {"/var/lib/stepscope"} and (server.path / "var/lib/stepscope/webhook.key").exists()
    server.run("dpkg", "-P", "stepscope-server")
    assert server.ours() == set()
