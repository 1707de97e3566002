package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// progress shows the progress of long operations, step by step: on a terminal
// as a bar, elsewhere as an occasional line and one at the end of each step,
// so that it does not fill a log. It is safe for concurrent use.
type progress struct {
	w        io.Writer
	terminal bool
	every    time.Duration

	mu    sync.Mutex
	drawn string
	shown time.Time
}

// Bar returns a function that shows progress on w.
func Bar(w io.Writer) func(step string, done, total int64) {
	p := &progress{w: w, terminal: IsTerminal(w), every: 10 * time.Second, shown: time.Now()}
	if p.terminal {
		p.every, p.shown = 100*time.Millisecond, time.Time{}
	}
	return p.show
}

func (p *progress) show(step string, done, total int64) {
	ended := done >= total
	if ended {
		p.mu.Lock() // the end must always be shown
	} else if !p.mu.TryLock() { // another goroutine is showing progress
		return
	}
	defer p.mu.Unlock()
	if !ended && time.Since(p.shown) < p.every {
		return
	}
	line := drawBar(step, done, total)
	if line == p.drawn {
		return
	}
	p.drawn, p.shown = line, time.Now()
	if p.terminal {
		line = "\r\x1b[K" + line
	}
	if ended || !p.terminal {
		line += "\n"
	}
	io.WriteString(p.w, line)
}

// drawBar renders the state of a step. A step with a total of zero is
// complete.
func drawBar(step string, done, total int64) string {
	const width = 30
	part := 1.0
	if total > 0 {
		part = min(float64(done)/float64(total), 1)
	}
	full := int(part * width)
	return fmt.Sprintf("%-10s [%s%s] %3.0f %%  %s of %s", step, strings.Repeat("=", full), strings.Repeat(" ", width-full), part*100, Thousands(done), Thousands(total))
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ) // /dev/null has no window size
	return err == nil
}

// Thousands formats n with commas as thousands separators.
func Thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
