"""Traps that a user of the service or of a node may set: somebody with a token, or with an account on the machine. They are thrown by tests,
each of which fails where the trap catches; the stock server has no tokens, jobs or nodes, so there is nothing to compare."""

# {name: (what was thrown, what it did once, how it stands now, the test that throws it)}
TRAPS = {
    "T34": (
        "700 ranks that each tell 257 KB of facts, by one agent's token",
        "a description of 169 MB, 4 GB of memory, lists of 7 s",
        "facts are cut to 4 KiB of a rank and 16 KiB of a node; no list or rule reads those that it does not name",
        "tests/fault/bounds_test.py::test_what_one_sender_tells_costs_the_others_nothing",
    ),
    "T35": (
        "a dozen frames that end nodes of a job of 250",
        "pushes of all teams were answered 503 for seconds",
        "an end asks an index and reads no facts; senders and their jobs take turns",
        "tests/server/ingest/push_lanes_test.cpp::HasRoomForOthersWhateverOneSends",
    ),
    "T36": (
        "a socket that lingers 25 s, passed to the agent in place of a ring",
        "the agent of the node stood still that long",
        "what strangers pass is closed on other threads, without lingering",
        "tests/agent/marks/passed_files_test.cpp::ASocketThatLingersInPlaceOfARingHoldsNobodyUp",
    ),
    "T37": (
        "the same with a request to the service's unix socket",
        "nobody was answered that long",
        "the kernel refuses descriptors, or they are closed elsewhere",
        "tests/server/edge/passed_descriptors_test.cpp::OfAnOlderKernelAreClosedElsewhere",
    ),
    "T38": (
        "a job in another team's group, to read its step times or to forge them",
        "step times of others stood in a finding, and findings of others were made",
        "runs are compared with those of the same maker that every reader of the job may read",
        "tests/server/evaluate/earlier_runs_test.cpp::AreOfTheSameMaker",
    ),
    "T39": (
        "a job that ends in the year 2001, or in 2099",
        "the first was deleted at once, the second never",
        "age is by the service's clock",
        "tests/server/ingest/bounds_test.cpp::TheAgeOfAJobIsByTheServicesClock",
    ),
    "T40": (
        "a push that is refused, in the name of another team's node",
        "the node was taken, and its owner refused",
        "a node is bound when something of it is stored",
        "tests/server/access/senders_test.cpp::AskingBindsNothing",
    ),
    "T41": (
        "4,096 names of 63 bytes in each of 300 schemas",
        "932 MB of memory that stayed",
        "only annotations and spans have names; schemas are bounded by their bytes",
        "tests/server/ingest/bounds_test.cpp::NamesAreOfAnnotationsAlone",
    ),
    "T42": (
        "63 rings full of holes, of one user of a node",
        "294 MB of the agent's memory, 80 % of a core",
        "rings are read like files; marks a second have a bound, in equal parts for users",
        "tests/agent/marks/intake_hostile_test.cpp::ReadingHolesTakesNoMemory",
    ),
    "T43": (
        "a process that says the name and rank of another team's job",
        "rank 0 was shown on the wrong node",
        "a rank stays with its node while that lives, and the claim is an event; `--job-names` ties names to users",
        "tests/server/ingest/bounds_test.cpp::ARankStaysWithItsNodeWhileThatLives",
    ),
    "T44": (
        "a backup that runs a program when it is restored",
        "the program ran as the user of PostgreSQL",
        "the service has no superuser, and a dump that is not its own is refused before anything runs",
        "tests/e2e/backup_test.py::test_a_program_in_a_foreign_dump_does_not_run",
    ),
    "T45": (
        "1,024 connections of two users that never say who they are",
        "the agent's own user was not heard",
        "10 s until a hello, a share for each user, a reserve for the agent's own",
        "tests/agent/marks/registry_test.cpp::TwoUsersWithoutAHelloLeaveConnectionsToTheAgentsOwnUser",
    ),
    "T46": (
        "the secret of a cookie sent as a token, and a token as a cookie",
        "taken, and a second session lived on after the first was signed out",
        "each kind is known by its kind alone",
        "tests/server/api/access/session_test.cpp::CredentialsOfOneKindAreNoneOfTheOther",
    ),
    "T47": (
        "a ring of huge pages",
        "not run then: a hole in it could have ended the agent",
        "refused",
        "tests/agent/marks/intake_hostile_test.cpp::RefusesRingsOfHugePages",
    ),
}

HEAD = """
### Set by somebody with a token, or with an account on a node

| Trap | Thrown | Once | Now | Test |
|---|---|---|---|---|
"""


def table():
    return HEAD + "".join(f"| {name} | {thrown} | {once} | {now} | `{test}` |\n" for name, (thrown, once, now, test) in TRAPS.items())
