package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

const (
	barWidth  = 30 // characters
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
)

// progress tells people how far something is: a bar on a terminal, otherwise a line
// every 5 s, and with --json an event as often.
type progress struct {
	out        io.Writer
	bar, color bool
	events     bool
	what       string    // is being done
	shown      time.Time // when something last was
	percent    int       // that was shown
}

// newProgress is for one thing after the other, see begin.
func newProgress(cmd *cobra.Command, asJSON bool) *progress {
	out := cmd.ErrOrStderr()
	bar := isTerminal(out) && !asJSON
	return &progress{out: out, bar: bar, color: bar && os.Getenv("NO_COLOR") == "", events: asJSON, percent: -1}
}

// begin names what is done now. What takes less than a moment is not shown.
func (p *progress) begin(what string) {
	p.end()
	p.what, p.shown, p.percent = what, time.Now(), -1
}

// set says how much is done of all.
func (p *progress) set(done, all float64) {
	every := lineEvery
	if p.bar {
		every = barEvery
	}
	if now := time.Now(); all > 0 && now.Sub(p.shown) >= every {
		p.shown, p.percent = now, int(math.Min(100, 100*done/all))
		p.show()
	}
}

func (p *progress) show() {
	switch {
	case p.events:
		_ = json.NewEncoder(p.out).Encode(map[string]any{"event": "progress", "step": p.what, "percent": p.percent}) // as good as it gets
	case p.bar:
		full := strings.Repeat("█", p.percent*barWidth/100)
		empty := strings.Repeat("░", barWidth-p.percent*barWidth/100)
		if p.color {
			full, empty = "\x1b[32m"+full, "\x1b[2m"+empty+"\x1b[0m"
		}
		fmt.Fprintf(p.out, "\r%-12s %s%s %3d %%", p.what, full, empty, p.percent)
	default:
		fmt.Fprintf(p.out, "%s: %d %%\n", p.what, p.percent)
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar && p.percent >= 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", barWidth+20))
	}
	p.percent = -1
}

// reader shows how much of size bytes has been read from r.
func (p *progress) reader(what string, r io.Reader, size int64) io.Reader {
	p.begin(what)
	return &measured{r: r, size: float64(size), p: p}
}

type measured struct {
	r          io.Reader
	done, size float64
	p          *progress
}

func (m *measured) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.done += float64(n)
	m.p.set(m.done, m.size)
	return n, err
}

// isTerminal says whether a person reads or writes there.
func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), terminalRequest)
	return err == nil
}
