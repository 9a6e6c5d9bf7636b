package conversation

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/session"
	"parley/pipeline/tool"
)

// lookup is a model that looks things up, with what it was asked and what was noted.
type lookup struct {
	*informed
	t        *testing.T
	model    *enginetest.FakeLLM
	searches []string
	noted    []session.Lookup
	found    []tool.Passage
	err      error
	takes    time.Duration
}

func newLookup(t *testing.T) *lookup {
	l := &lookup{t: t, model: enginetest.NewFakeLLM(), found: []tool.Passage{{Title: "Hours", Source: "hours.pdf", Page: 3, Text: "Closed on Sunday."}}}
	l.informed = &informed{LLM: l.model, log: slog.New(slog.DiscardHandler), note: func(n session.Lookup) { l.noted = append(l.noted, n) },
		search: func(ctx context.Context, query string) ([]tool.Passage, error) {
			l.searches = append(l.searches, query)
			select {
			case <-time.After(l.takes):
				return append([]tool.Passage{}, l.found...), l.err
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}}
	return l
}

// ask asks the model after these words of the caller, and returns its instructions.
func (l *lookup) ask(ctx context.Context, words ...string) string {
	l.t.Helper()
	r := inference.Request{System: "You are Ana."}
	for _, w := range words {
		r.Messages = append(r.Messages, inference.Message{Role: inference.RoleUser, Text: w}, inference.Message{Role: inference.RoleAgent, Text: "Yes."})
	}
	for _, err := range l.Complete(ctx, r) {
		if err != nil {
			l.t.Fatal(err)
		}
	}
	calls := l.model.Calls()
	return calls[len(calls)-1].Request.System
}

// TestInformed: the caller's latest words are looked up once, and what is found stands in the instructions of each
// request of their turn.
func TestInformed(t *testing.T) {
	l := newLookup(t)
	if got := l.ask(t.Context()); got != "You are Ana." || len(l.searches) > 0 {
		t.Errorf("before the caller speaks: %s, %q", got, l.searches)
	}
	const want = "\n\n[1] Hours, page 3:\nClosed on Sunday."
	for range 2 {
		if got := l.ask(t.Context(), "hello", " when? "); !strings.HasPrefix(got, "You are Ana.\n\nPassages from your documents") || !strings.HasSuffix(got, want) {
			t.Errorf("got %s", got)
		}
	}
	if len(l.searches) != 1 || l.searches[0] != "when?" || len(l.noted) != 1 {
		t.Errorf("searched for %q, noted %v", l.searches, l.noted)
	}
	if n := l.noted[0]; n.Name != "search_knowledge" || n.Arguments != `{"query":"when?"}` || n.Outcome != "ok" || n.Result != `{"passages":[{"title":"Hours","source":"hours.pdf","page":3,"text":"Closed on Sunday."}]}` {
		t.Errorf("noted %+v", n)
	}
	l.found = nil
	if got := l.ask(t.Context(), "thanks"); got != "You are Ana." || len(l.noted) != 2 {
		t.Errorf("nothing is found: %s, noted %v", got, l.noted)
	}
	for range 5 {
		l.found = append(l.found, tool.Passage{Title: "Long", Source: "long.pdf", Text: strings.Repeat("ä", 1150)})
	}
	if got := l.ask(t.Context(), "tell me all"); strings.Count(got, "Long:") != 3 || utf8.RuneCountInString(got) > 4300 {
		t.Errorf("%d characters of long passages", utf8.RuneCountInString(got))
	}
	l.err = errors.New("the database is away")
	if got := l.ask(t.Context(), "and now"); got != "You are Ana." || l.noted[len(l.noted)-1].Outcome != "error" {
		t.Errorf("a failure: %s, noted %+v", got, l.noted)
	}
}

// TestInformedInTime: a search that takes long is left out of its turn, and one of a reply that is given up is made again.
func TestInformedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLookup(t)
		l.takes = time.Second
		if got := l.ask(t.Context(), "when?"); got != "You are Ana." {
			t.Errorf("too late: %s", got)
		}
		if n := l.noted[0]; n.Outcome != "timeout" || n.Result != "" || n.Took != lookupPatience {
			t.Errorf("noted %+v", n)
		}
		given, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		for range l.Complete(given, inference.Request{Messages: []inference.Message{{Role: inference.RoleUser, Text: "where?"}}}) {
		}
		l.takes = 0
		if got := l.ask(t.Context(), "where?"); !strings.HasSuffix(got, "Closed on Sunday.") || len(l.searches) != 3 || len(l.noted) != 2 {
			t.Errorf("asked again: %s, %q, %v", got, l.searches, l.noted)
		}
	})
}
