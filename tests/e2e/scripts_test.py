"""The modules below scripts/demo and scripts/test: ending processes, verifying webhooks, counting tests."""

import base64
import hashlib
import hmac
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.service import ROOT, wait_for

sys.path.append(str(ROOT / "scripts"))
import counts  # noqa: E402
import webhook_receiver  # noqa: E402

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef").decode()
NOW = 1_795_205_614


def signed(body, secret=SECRET, timestamp=NOW, message_id="7"):
    key = base64.b64decode(secret[6:])
    content = f"{message_id}.{timestamp}.".encode() + body
    signature = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return {"webhook-id": message_id, "webhook-timestamp": str(timestamp), "webhook-signature": f"v1,{signature}"}


def test_a_message_with_a_valid_signature_is_trusted():
    assert webhook_receiver.fault(SECRET, signed(b"{}"), b"{}", NOW) == ""


def test_one_valid_signature_among_several_is_enough():
    headers = signed(b"{}")
    headers["webhook-signature"] = "v1,AAAA v1a,xyz " + headers["webhook-signature"]
    assert webhook_receiver.fault(SECRET, headers, b"{}", NOW) == ""


def test_the_signature_of_the_specification_is_the_same():
    # The example of the Standard Webhooks specification.
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    assert webhook_receiver.fault("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", headers, b'{"test": 2432232314}', 1614265330) == ""


@pytest.mark.parametrize("what, headers, body", [
    ("wrong signature", signed(b"{}"), b'{"x": 1}'),
    ("wrong signature", signed(b"{}", secret="whsec_" + base64.b64encode(b"other").decode()), b"{}"),
    ("wrong signature", {**signed(b"{}"), "webhook-id": "8"}, b"{}"),
    ("wrong signature", {**signed(b"{}"), "webhook-signature": "v1,é"}, b"{}"),
    ("away from now", signed(b"{}", timestamp=NOW - 301), b"{}"),
    ("away from now", signed(b"{}", timestamp=NOW + 301), b"{}"),
    ("no proper", {}, b"{}"),
    ("no proper", {**signed(b"{}"), "webhook-timestamp": "soon"}, b"{}"),
    ("no proper", {**signed(b"{}"), "webhook-timestamp": None}, b"{}"),
])
def test_other_messages_are_not(what, headers, body):
    assert what in webhook_receiver.fault(SECRET, headers, body, NOW)


def post(url, body, headers):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, body, headers), timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as problem:
        return problem.code


def test_the_receiver_keeps_only_trusted_messages():
    said = []
    receiver = webhook_receiver.Receiver(say=said.append)
    receiver.secret = SECRET
    try:
        now = int(webhook_receiver.time.time())
        good, other = b'{"type": "a", "data": {}}', b'{"type": "b", "data": {}}'
        assert post(receiver.url, good, signed(good, timestamp=now)) == 204
        assert post(receiver.url, other, signed(good, timestamp=now)) == 401
        for strange in (b"{", b"[]", b'{"type": "a"}', b"\xff"):
            assert post(receiver.url, strange, signed(strange, timestamp=now)) == 400
    finally:
        receiver.close()
    assert receiver.messages == [{"type": "a", "data": {}}]
    assert "signature valid" in said[0] and "wrong signature" in said[1]


# A script that starts a child, which starts an orphan and ignores SIGTERM; then it ends all.
TREE = """
import sys
sys.path.append({scripts!r})
from processes import Children, Stopped, descendants, stop_on_signals
stop_on_signals()
children = Children()
shell = "(setsid sleep 600 & echo $! >&2; sleep 600) & trap '' TERM; sleep 600; sleep 600"
try:
    process = children.start(["bash", "-c", shell], open({log!r}, "wb"))
    while len(descendants()) < 4 and process.poll() is None:
        pass
    print("started", *descendants(), flush=True)
    process.wait()
except Stopped as stopped:
    sys.exit(stopped.exit_code)
finally:
    process.kill()
    children.end_all(1)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_outlives_a_script(tmp_path, number):
    text = TREE.format(scripts=str(ROOT / "scripts"), log=str(tmp_path / "log"))
    script = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    word, *processes = script.stdout.readline().split()
    assert word == "started" and len(processes) >= 4
    script.send_signal(number)
    assert script.wait(30) == 128 + number
    script.stdout.close()
    assert [process for process in processes if Path(f"/proc/{process}").exists()] == []


JUNIT = """<testsuites><testsuite>
<testcase classname="a" name="fine"/>
<testcase classname="a" name="wrong"><failure message="m">text</failure></testcase>
<testcase classname="a" name="broken"><error/></testcase>
<testcase classname="a" name="left"><skipped/></testcase>
<testcase classname="A" name="Disabled" status="notrun"/>
</testsuite></testsuites>"""


def test_a_junit_report_is_counted():
    found = counts.from_junit(JUNIT)
    assert found.line() == "1 passed, 2 failed, 2 skipped"
    assert found.failures == ["a.wrong", "a.broken"]


@pytest.mark.parametrize("text", ["", "<testsuites>", "no report"])
def test_a_broken_junit_report_is_a_fault(text):
    with pytest.raises(ValueError):
        counts.from_junit(text)


NODE = """TAP version 13
ok 1 - fine
not ok 2 - wrong
# tests 4
# pass 2
# fail 1
# cancelled 0
# skipped 1
# todo 0
# pass 3
# fail 0
"""


def test_the_output_of_node_is_counted():
    found = counts.from_node(NODE)
    assert found.line() == "5 passed, 1 failed, 1 skipped"
    assert found.failures == ["wrong"]
    assert counts.from_node("ℹ pass 3\nℹ fail 0\n").line() == "3 passed, 0 failed, 0 skipped"
    assert counts.from_node("command not found").total() == 0


@pytest.mark.parametrize("script, words", [
    ("demo", ["--port"]), ("demo", ["--port", "many"]), ("demo", ["--twice"]), ("demo", ["--seconds", "-1"]),
    ("test", ["--only"]), ("test", ["--only", "all"]), ("test", ["now"]), ("setup", ["--test"]), ("package", ["deb"]),
    ("screenshot", ["--now"]), ("screenshot", ["--height", "tall"]), ("screenshot", ["--out"]), ("screenshot", ["--job", "mlp-demo"]),
    ("screenshot", ["--server", "http://127.0.0.1:9"]), ("screenshot", ["--server", "http://127.0.0.1:9", "--job", "a", "--scenario", "b"]),
])
def test_a_wrong_option_is_named_before_anything_is_done(script, words):
    out = subprocess.run([ROOT / "scripts" / script, *words], capture_output=True, text=True, timeout=30)
    assert out.returncode == 2 and out.stdout == ""
    assert out.stderr.startswith(f"{script}: ") and "--help" in out.stderr


@pytest.mark.parametrize("script", ["demo", "test", "setup", "lint", "package", "screenshot"])
def test_help_is_given(script):
    out = subprocess.run([ROOT / "scripts" / script, "--help"], capture_output=True, text=True, timeout=30)
    assert out.returncode == 0 and len(out.stdout) > 80
