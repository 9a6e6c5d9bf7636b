package command_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/command/commandtest"
)

func TestProgress(t *testing.T) {
	tty, person := commandtest.Terminal(t)
	for _, tt := range []struct {
		name, noColor string
		out           io.Writer
		json          bool
		want          string
	}{
		{"terminal", "", tty, false, "\rspeaking     \x1b[32m███████████████\x1b[2m░░░░░░░░░░░░░░░\x1b[0m  50 %\r" + strings.Repeat(" ", 50) + "\r"},
		{"without color", "1", tty, false, "\rspeaking     ███████████████░░░░░░░░░░░░░░░  50 %\r" + strings.Repeat(" ", 50) + "\r"},
		{"pipe", "", new(bytes.Buffer), false, "speaking: 50 %\n"},
		{"json", "", new(bytes.Buffer), true, `{"event":"progress","percent":50,"step":"speaking"}` + "\n"},
		{"json on a terminal", "", tty, true, `{"event":"progress","percent":50,"step":"speaking"}` + "\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", tt.noColor)
			synctest.Test(t, func(*testing.T) {
				cmd := &cobra.Command{}
				cmd.SetErr(tt.out)
				p := command.NewProgress(cmd, tt.json)
				p.Begin("speaking")
				p.Set(1, 100) // too early to bother anybody
				time.Sleep(5 * time.Second)
				p.Set(50, 100)
				p.Set(51, 100) // too soon again
				p.End()
			})
			got := ""
			if b, ok := tt.out.(*bytes.Buffer); ok {
				got = b.String()
			} else {
				b := make([]byte, len(tt.want))
				n, err := io.ReadFull(person, b)
				if got = string(b[:n]); err != nil {
					t.Fatal(err)
				}
			}
			if got != tt.want {
				t.Errorf("shows %q, want %q", got, tt.want)
			}
		})
	}
}
