package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownGroup keeps the terminal's signals from a child, and ends it if the
// parent is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// inMemory reports whether a directory is not on a disk.
func inMemory(dir string) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return false
	}
	kind := uint32(fs.Type)
	return kind == tmpfs || kind == ramfs
}

// memoryOf returns the current and peak resident memory of a process.
func memoryOf(pid int) (now, peak int64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kilobytes << 10
		case "VmHWM":
			peak = kilobytes << 10
		}
	}
	return now, peak
}

// clockTick is the unit of times in /proc, which is the same on all systems
// that Go supports.
const clockTick = time.Second / 100

// process is what /proc tells about a process.
type process struct {
	parent int
	cpu    time.Duration // its own
	ended  time.Duration // that of its children that have ended
}

func readProcess(pid string) (p process) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return p
	}
	// The name, in parentheses, may contain spaces; the parent is the second
	// field after it, and utime, stime, cutime and cstime are the 12th to 15th.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 15 {
		return p
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(fields[i])
		return n
	}
	return process{parent: number(1), cpu: time.Duration(number(11)+number(12)) * clockTick, ended: time.Duration(number(13)+number(14)) * clockTick}
}

// cpuOf returns the CPU time of a process.
func cpuOf(pid int) time.Duration { return readProcess(strconv.Itoa(pid)).cpu }

// cpuOfFamily returns the CPU time of a process and its children, including
// those that have ended.
func cpuOfFamily(pid int) time.Duration {
	p := readProcess(strconv.Itoa(pid))
	total := p.cpu + p.ended
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		if name := entry.Name(); name[0] >= '0' && name[0] <= '9' {
			if child := readProcess(name); child.parent == pid {
				total += child.cpu
			}
		}
	}
	return total
}
