"""The whole machine: engines, scripts, recorded states, workloads."""
