package events

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// logsEvery is how often the server is asked for what is new. Tests ask more often.
var logsEvery = 2 * time.Second

// statusForm is what --status takes.
var statusForm = regexp.MustCompile(`^[1-5](xx|[0-9][0-9])$`)

// logs is what a command line wants to see of an account.
type logs struct {
	*server.Request
	calls, requests       bool
	agent, method, status string
	limit                 int

	seen   map[string]time.Time // entries that are known, with their times
	live   map[string]time.Time // calls that last, with their beginnings
	newest time.Time            // of all entries, by the server's clock
}

func newLogsCommand() *cobra.Command {
	l := &logs{calls: true, requests: true, seen: map[string]time.Time{}, live: map[string]time.Time{}}
	cmd := &cobra.Command{Use: "logs", Short: "Show calls and requests as they happen",
		Long: "Prints what has happened, the oldest first, a line each: calls that began, were answered and ended, and requests with the account's keys.\n" +
			"With --follow it goes on until Ctrl-C, also after a lost connection. --agent shows calls alone, and --method and --status show requests alone.\n" +
			"parley tail shows what is said in one call; parley calls and parley requests list either with more filters.",
		Example: "  parley logs --follow\n  parley logs --follow --status 4xx\n  parley logs --agent ag_… --limit 50\n  parley logs --follow --json | jq -r 'select(.type == \"call\").call.id'", Args: cobra.NoArgs}
	follow := cmd.Flags().BoolP("follow", "f", false, "go on with what happens from now on")
	cmd.Flags().StringVar(&l.agent, "agent", "", "only calls of this agent")
	cmd.Flags().StringVar(&l.method, "method", "", "only requests by this method: "+strings.Join(requestWords["method"], ", "))
	cmd.Flags().StringVar(&l.status, "status", "", "only requests with this status, as 404 or 4xx")
	cmd.Flags().IntVar(&l.limit, "limit", 20, "how many of the latest entries at most, 1 to 100; with --follow also 0")
	command.Complete(cmd, map[string][]string{"method": requestWords["method"], "status": {"2xx", "4xx", "5xx"}})
	server.CompleteAgents(cmd)
	cmd.MarkFlagsMutuallyExclusive("agent", "method")
	cmd.MarkFlagsMutuallyExclusive("agent", "status")
	return server.Ask(cmd, "print one JSON object for each entry", func(q *server.Request, _ []string) error {
		least := l.limit
		if *follow {
			least = max(least, 1) // then none is well
		}
		if err := server.CheckFilter(least, map[string]string{"method": l.method}, requestWords); err != nil {
			return err
		}
		if l.status != "" && !statusForm.MatchString(l.status) {
			return command.UsageError("--status: as 404 or 4xx")
		}
		l.Request = q
		l.calls, l.requests = l.method == "" && l.status == "", l.agent == ""
		return l.run(*follow)
	})
}

// entry is one line.
type entry struct {
	At      time.Time            `json:"at"`
	Type    string               `json:"type"` // request or call
	Event   string               `json:"event,omitempty"`
	Request *wire.RequestSummary `json:"request,omitempty"`
	Call    *wire.CallSummary    `json:"call,omitempty"`
	key     string
}

// run prints the latest entries, and then what is new, until Ctrl-C.
func (l *logs) run(follow bool) error {
	list, err := l.latest()
	if err != nil {
		return err
	}
	if n := len(list); n > 0 {
		l.newest = list[n-1].At
	}
	begun := l.newest
	list = list[max(0, len(list)-l.limit):]
	if l.know(list); !follow {
		return l.print(list)
	}
	for err = l.print(list); err == nil && l.Ctx.Err() == nil; pause(l.Ctx, logsEvery) {
		var fresh []entry
		err = insist(l.Request, l.Ctx, func(ctx context.Context) (err error) {
			fresh, err = l.news(ctx)
			return err
		})
		fresh = slices.DeleteFunc(fresh, func(e entry) bool { return !e.At.After(begun) }) // it was there before, and not wanted
		if err == nil {
			err = l.print(fresh)
		}
	}
	if l.Ctx.Err() != nil {
		return nil // Ctrl-C
	}
	return err
}

func (l *logs) print(list []entry) error {
	w := l.OutOrStdout()
	var faults []error
	for _, e := range list {
		var err error
		switch {
		case l.JSON:
			err = command.Encode(w, e)
		case e.Request != nil:
			r := e.Request
			_, err = fmt.Fprintf(w, "%s  %s %s  %d %s  %d ms  %s\n", command.Stamp(&e.At), r.Method, r.Target, r.Status, server.OrDash(r.Code), r.DurationMS, r.ID)
		default:
			_, err = fmt.Fprintf(w, "%s  call %s  %s  %s\n", command.Stamp(&e.At), e.Event, aboutCall(&e), e.Call.ID)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// aboutCall is what a line says of a call.
func aboutCall(e *entry) string {
	c := e.Call
	if e.Event == "ended" {
		return fmt.Sprintf("%s after %s  %s USD", server.OrDash(c.EndReason), time.Duration(c.Duration)*time.Second, c.Cost)
	}
	if c.From == "" && c.To == "" {
		return c.Direction
	}
	return c.Direction + " " + c.From + " to " + c.To
}
