// Package observe serves what a process of a run shows to monitoring: /metrics for
// Prometheus, /healthz and /readyz for whatever starts and watches processes.
package observe
