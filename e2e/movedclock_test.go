package e2e

import (
	"bytes"
	"debug/elf"
	bits "encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/testneed"
)

// movedClock is the wall clock of one running process, which can be moved
// forward and back like that of a machine: time.Now jumps, but measured
// durations do not. See docs/decisions/0031-moving-the-clock-in-tests.md.
type movedClock struct {
	tb     testing.TB
	memory *os.File
	offset int64 // where the process has its seconds ahead
	ahead  time.Duration
}

// readClock replaces the kernel's vDSO function for reading a clock: it makes
// the system call, and adds the seconds stored after the code to the wall
// clock.
var readClock = []byte{
	0xb8, 228, 0, 0, 0, // mov  $228, %eax, which is clock_gettime
	0x0f, 0x05, // syscall
	0x85, 0xff, // test %edi, %edi, which is 0 for the wall clock
	0x75, 0x0a, // jne  to ret
	0x48, 0x8b, 0x0d, 0x06, 0, 0, 0, // mov  seconds(%rip), %rcx
	0x48, 0x01, 0x0e, // add  %rcx, (%rsi)
	0xc3, // ret
	0, 0, // seconds follow, at a multiple of 8
}

// clock gets hold of a process's wall clock.
func (p *process) clock() *movedClock {
	p.tb.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		testneed.Skip(p.tb, "the clock of a process can be moved on Linux on amd64 only")
	}
	pid := p.cmd.Process.Pid
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		testneed.Skip(p.tb, "this user may not change a process's memory: "+err.Error())
	}
	p.tb.Cleanup(func() { memory.Close() })
	at, size := clockFunction(p.tb, pid, memory)
	if size < uint64(len(readClock)+8) {
		p.tb.Fatalf("the function that reads clocks has only %d bytes", size)
	}
	c := &movedClock{tb: p.tb, memory: memory, offset: int64(at) + int64(len(readClock))}
	p.still(func() bool {
		for _, counter := range counters(p.tb, pid) {
			if counter >= at && counter < at+size {
				return false // it is being executed
			}
		}
		c.write(int64(at), append(bytes.Clone(readClock), make([]byte, 8)...))
		return true
	})
	return c
}

// pass puts the clock forth, or back.
func (c *movedClock) pass(d time.Duration) {
	c.tb.Helper()
	c.ahead += d
	c.write(c.offset, bits.LittleEndian.AppendUint64(nil, uint64(c.ahead/time.Second)))
}

// now is what the process takes for now.
func (c *movedClock) now() time.Time { return time.Now().Add(c.ahead) }

func (c *movedClock) write(at int64, bytes []byte) {
	c.tb.Helper()
	if _, err := c.memory.WriteAt(bytes, at); err != nil {
		c.tb.Fatalf("changing the process's clock: %v", err)
	}
}

// clockFunction finds the kernel's function for clocks in a process.
func clockFunction(tb testing.TB, pid int, memory *os.File) (at, size uint64) {
	tb.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if !strings.HasSuffix(line, "[vdso]\n") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			tb.Fatalf("%s: %v", line, err)
		}
		image := make([]byte, to-from)
		if _, err := memory.ReadAt(image, int64(from)); err != nil {
			tb.Fatal(err)
		}
		file, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			tb.Fatal(err)
		}
		symbols, err := file.DynamicSymbols()
		if err != nil {
			tb.Fatal(err)
		}
		for _, symbol := range symbols {
			if symbol.Name == "__vdso_clock_gettime" {
				return from + symbol.Value, symbol.Size
			}
		}
	}
	tb.Fatal("the process has no function of the kernel's to read clocks")
	return 0, 0
}

// counters returns the program counter of each stopped thread.
func counters(tb testing.TB, pid int) (list []uint64) {
	tb.Helper()
	for _, line := range threads(tb, pid, "syscall") { // NUMBER ARGUMENTS... STACK COUNTER
		fields := strings.Fields(line)
		var counter uint64
		if _, err := fmt.Sscanf(fields[len(fields)-1], "0x%x", &counter); err != nil {
			tb.Fatalf("%s: %v", line, err)
		}
		list = append(list, counter)
	}
	return list
}
