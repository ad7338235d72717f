#!/bin/sh
# Slurm's Prolog (root, on each node of a job): starts the agent with the first job on the node. For clusters that do
# not let it run all the time; docs/slurm.md. Whatever goes wrong, the job starts.
running=/run/stepscope-jobs
{
  flock -w 2 9  # an epilog that found no job more stops the agent before it is started here
  mkdir -p "$running" && : >"$running/${SLURM_JOB_ID:-0}"
  timeout 3 systemctl start --no-block stepscope-agent.service
} 9>"$running.lock"
exit 0
