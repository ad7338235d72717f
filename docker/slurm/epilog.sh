#!/bin/sh
# Slurm's Epilog (root, on each node of a job): ends the agent with the last job on the node. A node is drained when
# this fails, so it does not.
running=/run/stepscope-jobs
rm -f "$running/${SLURM_JOB_ID:-0}"
{
  # No prolog may come between the two; without the lock the agent stays.
  flock -w 2 9 && rmdir "$running" 2>/dev/null && timeout 3 systemctl stop --no-block stepscope-agent.service
} 9>"$running.lock"
exit 0
