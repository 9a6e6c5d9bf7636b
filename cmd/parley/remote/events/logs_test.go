package events

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client/clienttest"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/command/commandtest"
)

// logsCommand runs parley logs until ctx ends, or it does by itself.
func logsCommand(ctx context.Context, s *clienttest.Server, args ...string) commandtest.Outcome {
	root := &cobra.Command{Use: "parley"}
	root.AddCommand(newLogsCommand())
	root.SetContext(ctx)
	return commandtest.Run(root, "", append([]string{"logs", "--url", s.URL, "--key", clienttest.Key}, args...))
}

// TestLogs: what has happened comes in the order in which it did, and filters show calls or requests alone.
func TestLogs(t *testing.T) {
	s := clienttest.New(t)
	for args, want := range map[string]string{
		"":               "ses_1 ses_1 ses_2 ses_2 ses_3 ses_3 ses_4 req_2 req_1",
		"--method POST":  "req_2",
		"--status 4xx":   "req_2",
		"--status 400":   "req_2",
		"--status 404":   "",
		"--status 200":   "req_1",
		"--agent ag_one": "ses_3 ses_3 ses_4",
		"--limit 1":      "req_2",
	} {
		o := logsCommand(t.Context(), s, strings.Fields(args)...)
		var got []string
		for line := range strings.Lines(o.Out) {
			fields := strings.Fields(line)
			got = append(got, fields[len(fields)-1])
		}
		if o.Status != command.ExitDone || !sameInAnyOrder(got, strings.Fields(want)) {
			t.Errorf("%s: exit status %d: %s%s", args, o.Status, o.Out, o.ErrOut)
		}
	}
	for _, asked := range s.Requests() {
		if !strings.Contains(asked, "follow=true") {
			t.Errorf("%s fills the log of requests", asked)
		}
	}
	for _, args := range []string{"--limit 0", "--limit 101", "--method HEAD", "--status bad", "--agent a --status 200", "--agent a --method GET"} {
		if o := logsCommand(t.Context(), s, strings.Fields(args)...); o.Status != command.ExitUsage {
			t.Errorf("%s: exit status %d: %s", args, o.Status, o.ErrOut)
		}
	}
}

func sameInAnyOrder(a, b []string) bool {
	n := map[string]int{}
	for _, x := range a {
		n[x]++
	}
	for _, x := range b {
		n[x]--
	}
	for _, left := range n {
		if left != 0 {
			return false
		}
	}
	return true
}

// TestLogsFollow: what happens later comes once, whatever the connection does, also the end of a call that began long ago.
func TestLogsFollow(t *testing.T) {
	s := clienttest.New(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	now := time.Now().UTC().Truncate(time.Millisecond)
	agent, hangup := "ag_one", "user_hangup"
	request := func(id string, status int, at time.Time) wire.RequestSummary {
		return wire.RequestSummary{ID: id, At: at, Method: http.MethodPost, Route: "/v1/agents", Target: "/v1/agents", Status: status, Key: "key_1"}
	}
	call := func(id string, began time.Time, ended *time.Time) wire.CallSummary {
		c := wire.CallSummary{ID: id, AgentID: &agent, Direction: "inbound", From: "+34612345678", To: "+34911234567", Status: "connected", CreatedAt: began, AnsweredAt: &began}
		if ended != nil {
			c.EndedAt, c.Status, c.EndReason, c.Duration = ended, "ended", &hangup, 63
		}
		return c
	}
	long, old := now.Add(-time.Hour), now.Add(-time.Minute)
	// Each round of questions finds what the account has then; the last one ends the command.
	s.Live([]clienttest.Moment{
		{Calls: []wire.CallSummary{call("ses_long", long, nil)}, Requests: []wire.RequestSummary{request("req_old", 201, old)}},
		{Calls: []wire.CallSummary{call("ses_new", now, nil), call("ses_long", long, nil)}, Requests: []wire.RequestSummary{request("req_new", 400, now), request("req_old", 201, old)}},
		{Calls: []wire.CallSummary{call("ses_new", now, &now), call("ses_long", long, &now)}, Requests: []wire.RequestSummary{request("req_new", 400, now), request("req_old", 201, old)}},
	}, stop)
	was := logsEvery
	logsEvery = time.Millisecond
	defer func() { logsEvery = was }()
	o := logsCommand(ctx, s, "--follow", "--limit", "0", "--json")
	var got []string
	for line := range strings.Lines(o.Out) {
		var e struct {
			Type, Event   string
			Call, Request *struct{ ID string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Call != nil {
			got = append(got, e.Type+" "+e.Event+" "+e.Call.ID)
		} else {
			got = append(got, e.Type+" "+e.Request.ID)
		}
	}
	if want := []string{"call began ses_new", "call answered ses_new", "request req_new", "call ended ses_new", "call ended ses_long"}; o.Status != command.ExitDone || !sameInAnyOrder(got, want) {
		t.Errorf("exit status %d: %q\n%s", o.Status, got, o.ErrOut)
	}
}
