#!/bin/sh
# Slurm's Epilog (root, on each node of a job): ends the agent with the last job on the node. A node is drained when
# this fails, so it does not.
running=/run/stepscope-jobs
rm -f "$running/${SLURM_JOB_ID:-0}"
rmdir "$running" 2>/dev/null && timeout 5 systemctl stop --no-block stepscope-agent.service
exit 0
