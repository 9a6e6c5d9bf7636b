package tool

import (
	"encoding/json"
	"testing"
	"time"

	"parley/media/isolate/isolatetest"
)

// TestPanicOfAServer leaves its conversation the other functions, and conversations beside
// it all of theirs.
func TestPanicOfAServer(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		address, _, _ := calendar(t)
		base, _ := service(t, answers("text/plain", "done"))
		b := newBench(t)
		defs := b.parse(`[{"type":"mcp","name":"cal","mcp":{"url":"` + address + `","allowed_tools":["list.events"]}},` + order("GET", base, "") + `]`)
		p := New(b.Config)
		p.patience = time.Minute // the machine may be busy
		run := func(s *Set) (n int) {
			for _, f := range s.Functions {
				arguments := map[string]string{"order": `{"id":1}`, "cal_list_events": `{"day":"monday"}`}[f.Spec.Name]
				if got, err := f.Run(t.Context(), json.RawMessage(arguments)); err != nil || got == "" {
					t.Errorf("%s: %s, %v", f.Spec.Name, got, err)
				}
			}
			return len(s.Functions)
		}
		beside := p.Open(t.Context(), b.who, defs)
		defer beside.Close()
		if n := run(beside); n != 2 {
			t.Fatalf("%d functions", n)
		}
		fired := isolatetest.Inject(t, site.Name)
		broken := p.Open(t.Context(), b.who, defs)
		if n := run(broken); n == 0 {
			t.Error("the conversation has no function left")
		}
		broken.Close()
		<-fired
		if n := run(beside); n != 2 {
			t.Errorf("the conversation beside it has %d functions", n)
		}
		next := p.Open(t.Context(), b.who, defs)
		defer next.Close()
		if n := run(next); n != 2 {
			t.Errorf("the next one has %d functions", n)
		}
	})
}
