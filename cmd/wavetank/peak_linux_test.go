package main

import (
	"os"
	"syscall"
)

// peakMemory returns the largest resident set of a process that has ended, in bytes.
func peakMemory(p *os.ProcessState) int64 {
	return p.SysUsage().(*syscall.Rusage).Maxrss << 10
}
