package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// calendar is an MCP server with state: it counts the visits of each session.
func calendar(t *testing.T) (address string, opened *atomic.Int32, seen func() string) {
	t.Helper()
	opened = new(atomic.Int32)
	var key atomic.Value
	h := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		opened.Add(1)
		key.Store(r.Header.Get("X-Key"))
		visits := 0
		s := mcp.NewServer(&mcp.Implementation{Name: "calendar", Version: "1"}, nil)
		type day struct {
			Day string `json:"day" jsonschema:"the day"`
		}
		mcp.AddTool(s, &mcp.Tool{Name: "list.events", Description: "Lists the events of a day."}, func(_ context.Context, _ *mcp.CallToolRequest, in day) (*mcp.CallToolResult, any, error) {
			visits++
			switch in.Day {
			case "never":
				return nil, nil, errors.New("there is no such day, key " + fmt.Sprint(key.Load()))
			case "long":
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 2<<20)}}}, nil, nil
			case "endless":
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 5<<20)}}}, nil, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("%s: visit %d", in.Day, visits)}}}, nil, nil
		})
		mcp.AddTool(s, &mcp.Tool{Name: "delete_all", Description: "Deletes all."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			t.Error("what is not allowed was called")
			return nil, nil, nil
		})
		return s
	}, nil)
	u, _ := counted(t, h.ServeHTTP)
	return u.String(), opened, func() string { s, _ := key.Load().(string); return s }
}

func TestMCP(t *testing.T) {
	address, opened, key := calendar(t)
	b := newBench(t)
	def := `{"type":"mcp","name":"cal","mcp":{"url":"` + address + `","headers":{"X-Key":"{{secret.KEY}}"},"allowed_tools":["list.events"]}}`
	defs := b.parse("[" + def + "]")
	p := New(b.Config)
	p.patience = time.Minute // the machine may be busy
	set := p.Open(t.Context(), b.who, defs)
	defer set.Close()
	if len(set.Functions) != 1 {
		t.Fatalf("%+v\n%s", set.Functions, b.log.String())
	}
	f := set.Functions[0]
	if f.Spec.Name != "cal_list_events" || f.Spec.Description != "Lists the events of a day." || !strings.Contains(string(f.Spec.Parameters), `"day"`) {
		t.Errorf("%+v", f.Spec)
	}
	for i := 1; i <= 2; i++ { // one session, which has state
		if got, err := f.Run(t.Context(), json.RawMessage(`{"day":"monday"}`)); err != nil || got != fmt.Sprintf("monday: visit %d", i) {
			t.Errorf("%s, %v", got, err)
		}
	}
	if key() != secret {
		t.Errorf("the server was sent the key %q", key())
	}
	if _, err := f.Run(t.Context(), json.RawMessage(`{"day":"never"}`)); err == nil || err.Error() != "there is no such day, key (secret)" {
		t.Error(err)
	}
	if got, err := f.Run(t.Context(), json.RawMessage(`{"day":"long"}`)); err != nil || len(got) != 2<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := f.Run(t.Context(), json.RawMessage(`{"day":7}`)); err == nil {
		t.Error("arguments against the schema were taken")
	}
	if got, err := f.Run(t.Context(), json.RawMessage(`{"day":"endless"}`)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := f.Run(t.Context(), json.RawMessage(`{"day":"tuesday"}`)); err != nil || !strings.HasPrefix(got, "tuesday: visit ") {
		t.Errorf("after an answer that was too long: %s, %v", got, err)
	}
	// The next conversation knows the tools already and connects when it needs one.
	before := opened.Load()
	again := p.Open(t.Context(), b.who, defs)
	defer again.Close()
	if len(again.Functions) != 1 || opened.Load() != before {
		t.Errorf("%d functions, %d sessions more", len(again.Functions), opened.Load()-before)
	}
	if got, err := again.Functions[0].Run(t.Context(), json.RawMessage(`{"day":"sunday"}`)); err != nil || got != "sunday: visit 1" {
		t.Errorf("%s, %v", got, err)
	}
	// Another account's list is its own.
	other := b.who
	other.Account = "acc_2"
	b.who = other
	if s := p.Open(t.Context(), other, defs); opened.Load() == before+1 {
		t.Error("an account sees what another's server offers")
	} else {
		s.Close()
	}
	set.Close()
	if _, err := f.Run(t.Context(), json.RawMessage(`{"day":"monday"}`)); err == nil {
		t.Error("a closed set works")
	}
}

func TestMCPServersThatDoNotWork(t *testing.T) {
	stop := make(chan struct{})
	hangs, asked := counted(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(stop) })
	broken, _ := counted(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	address, _, _ := calendar(t)
	b := newBench(t)
	p := New(b.Config)
	p.patience = 100 * time.Millisecond
	for range 2 {
		if set := p.Open(t.Context(), b.who, b.parse(`[{"type":"mcp","name":"hangs","mcp":{"url":"`+hangs.String()+`"}}]`)); len(set.Functions) != 0 {
			t.Error("a server that says nothing has functions")
		}
	}
	if n := asked.Load(); n > 2 { // what hangs is left alone for a while
		t.Errorf("asked %d times", n)
	}
	p.patience = time.Minute
	defs := b.parse(`[{"type":"mcp","name":"broken","mcp":{"url":"` + broken.String() + `"}},
		{"type":"mcp","name":"inside","mcp":{"url":"http://169.254.169.254/mcp"}},{"type":"mcp","name":"secret","mcp":{"url":"` + address + `","headers":{"A":"{{secret.NONE}}"}}},
		{"type":"mcp","name":"works","mcp":{"url":"` + address + `"}}]`)
	for range 2 {
		set := p.Open(t.Context(), b.who, defs)
		var names []string
		for _, f := range set.Functions {
			names = append(names, f.Spec.Name)
		}
		if s := strings.Join(names, " "); s != "works_delete_all works_list_events" {
			t.Errorf("%s\n%s", s, b.log.String())
		}
		set.Close()
	}
	for _, want := range []string{"server=hangs err=\"the service did not answer in time\"", "server=broken", "server=inside err=\"169.254.169.254 is not on the public Internet\"", "server=secret err=\"the secret NONE does not exist, or does not belong to this host\""} {
		if !strings.Contains(b.log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, b.log.String())
		}
	}
}
