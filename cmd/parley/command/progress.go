package command

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

// Progress tells people how far something is: a bar on a terminal, otherwise a line
// every 5 s, and with --json an event as often.
type Progress struct {
	out        io.Writer
	bar, color bool
	events     bool
	what       string    // is being done
	shown      time.Time // when something last was
	percent    int       // that was shown
}

// NewProgress is for one thing after the other, see Begin.
func NewProgress(cmd *cobra.Command, asJSON bool) *Progress {
	out := cmd.ErrOrStderr()
	bar := IsTerminal(out) && !asJSON
	return &Progress{out: out, bar: bar, color: bar && os.Getenv("NO_COLOR") == "", events: asJSON, percent: -1}
}

// Begin names what is done now. What takes less than a moment is not shown.
func (p *Progress) Begin(what string) {
	p.End()
	p.what, p.shown, p.percent = what, time.Now(), -1
}

// Step says how much is done of all of one step; the first call with another begins that.
func (p *Progress) Step(step string, done, all int64) {
	if p.what != step {
		p.Begin(step)
	}
	p.Set(float64(done), float64(all))
}

// Set says how much is done of all.
func (p *Progress) Set(done, all float64) {
	every := lineEvery
	if p.bar {
		every = barEvery
	}
	if now := time.Now(); all > 0 && now.Sub(p.shown) >= every {
		p.shown, p.percent = now, int(math.Min(100, 100*done/all))
		p.show()
	}
}

func (p *Progress) show() {
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

// End takes the bar away.
func (p *Progress) End() {
	if p.bar && p.percent >= 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", barWidth+20))
	}
	p.percent = -1
}

// Reader shows how much of size bytes has been read from r.
func (p *Progress) Reader(what string, r io.Reader, size int64) io.Reader {
	p.Begin(what)
	return &measured{r: r, size: float64(size), p: p}
}

type measured struct {
	r          io.Reader
	done, size float64
	p          *Progress
}

func (m *measured) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.done += float64(n)
	m.p.Set(m.done, m.size)
	return n, err
}

// IsTerminal says whether a person reads or writes there.
func IsTerminal(v any) bool {
	f, ok := v.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), terminalRequest)
	return err == nil
}
