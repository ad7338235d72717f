"""describe-job in words for a terminal."""

import textwrap

GIGABYTE = 1e9
FINAL_JOB = ("Completed", "Failed", "Stopped")
FINAL_RULE = ("NoIssuesFound", "IssuesFound", "Error", "Stopped")


def evaluations(job):
    return job["profiler_rule_evaluation_statuses"]


def rule_status(job, rule):
    """The status of a rule of the job; empty when it has none such."""
    return next((each["rule_evaluation_status"] for each in evaluations(job) if each["rule"] == rule), "")


def is_over(job):
    """Whether neither the job nor a rule of it will change any more."""
    done = all(each["rule_evaluation_status"] in FINAL_RULE for each in evaluations(job))
    return job["status"] in FINAL_JOB and done


def _node(node):
    words = [node["name"]]
    if node["cores"]:
        words.append(f"{node['cores']} cores")
    if node["memory_bytes"]:
        words.append(f"{node['memory_bytes'] / GIGABYTE:.1f} GB of memory")
    words.append(f"{len(node['gpus'])} GPUs" if node["gpus"] else "no GPU")
    return ", ".join(words)


def _rank(rank):
    text = f"rank {rank['rank']}: {rank['steps']} steps"
    if (wall := rank["wall_seconds"]) and wall.get("p50") is not None:
        text += f", median {wall['p50'] * 1000:.1f} ms, p95 {wall['p95'] * 1000:.1f} ms"
    shares = [f"{each['phase']} {each['share_percent']:.0f} %" for each in rank["phases"] if each["share_percent"]]
    return text + (f" ({', '.join(shares)})" if shares else "")


def _rule(evaluation, width):
    lines = [f"  {evaluation['rule_configuration_name']:<{width}}  {evaluation['rule_evaluation_status']}"]
    sentence = evaluation["status_details"] or evaluation["verdict"]["sentence"]
    indent = " " * (width + 4)
    lines += textwrap.wrap(sentence, 110, initial_indent=indent, subsequent_indent=indent)
    return lines


def describe(job, ranks):
    """Lines of text: statuses, hardware, steps, rules with their sentences."""
    lines = [f"job {job['name']}: {job['status']} ({job['secondary_status']})"]
    lines += [f"  {each['start_time'][11:19]}  {each['secondary_status']}  {each['message']}".rstrip()
              for each in job["secondary_status_transitions"]]
    if failure := job["failure"]:
        lines.append(f"  failed on {failure['node']}: exit code {failure['exit_code']}, signal {failure['signal']}")
        lines += [f"    {line}" for line in failure["output"]]
    lines += ["nodes"] + [f"  {_node(node)}" for node in job["nodes"]]
    lines += ["steps"] + [f"  {_rank(rank)}" for rank in ranks]
    width = max((len(each["rule_configuration_name"]) for each in evaluations(job)), default=0)
    lines.append("rules")
    for evaluation in evaluations(job):
        lines += _rule(evaluation, width)
    return lines
