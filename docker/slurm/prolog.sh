#!/bin/sh
# Slurm's Prolog (root, on each node of a job): starts the agent with the first job on the node. For clusters that do
# not let it run all the time; docs/slurm.md. Whatever goes wrong, the job starts.
running=/run/stepscope-jobs
mkdir -p "$running" && : >"$running/${SLURM_JOB_ID:-0}"
timeout 5 systemctl start --no-block stepscope-agent.service
exit 0
