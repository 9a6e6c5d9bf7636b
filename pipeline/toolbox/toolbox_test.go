package toolbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/pipeline/tool"
)

// names are events as texts.
func names(events []Event) string {
	kinds := [...]string{"", "called", "asked", "begun", "collecting", "collected", "ended"}
	var list []string
	for _, e := range events {
		text := kinds[e.Kind]
		if e.Kind == Ended {
			text += " " + e.Call.ID + " " + e.Outcome
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// TestOneResult: each call of a function has one result, whatever comes twice or too late.
func TestOneResult(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	client := []inference.Tool{{Name: "show"}}
	call := func(name string) func(*Toolbox) []Event {
		return func(b *Toolbox) []Event {
			id := fmt.Sprintf("%s%d", name, len(b.Waiting)+1)
			return b.Call(inference.ToolCall{ID: id, Name: name}, 1, 1, client, start)
		}
	}
	ran := func(id string, err error) func(*Toolbox) []Event {
		return func(b *Toolbox) []Event { return b.Ran(id, "", err) }
	}
	answered := func(id string) func(*Toolbox) []Event {
		return func(b *Toolbox) []Event { return b.Answered(id, "{}") }
	}
	heard := func(seconds int) func(*Toolbox) []Event {
		return func(b *Toolbox) []Event { return b.Heard(true, at(seconds)) }
	}
	overdue := func(seconds int) func(*Toolbox) []Event {
		return func(b *Toolbox) []Event { return b.Overdue(at(seconds)) }
	}
	for _, c := range []struct {
		name  string
		steps []func(*Toolbox) []Event
		want  string
		done  bool
	}{
		{"of the server", []func(*Toolbox) []Event{call("look"), ran("look1", nil), ran("look1", nil)}, "called, begun; ended look1 ok; ", true},
		{"that fails", []func(*Toolbox) []Event{call("look"), ran("look1", errors.New("no"))}, "called, begun; ended look1 error", true},
		{"that is late", []func(*Toolbox) []Event{call("look"), overdue(8), overdue(9), ran("look1", nil)}, "called, begun; ; ended look1 timeout; ", true},
		{"out of its time", []func(*Toolbox) []Event{call("look"), ran("look1", context.DeadlineExceeded)}, "called, begun; ended look1 timeout", true},
		{"of the client", []func(*Toolbox) []Event{call("show"), answered("show1"), answered("show1")}, "called, asked; ended show1 ok; ", true},
		{"a client answers for the server", []func(*Toolbox) []Event{call("look"), answered("look1")}, "called, begun; ", false},
		{"of nobody", []func(*Toolbox) []Event{call("fly")}, "called, ended fly1 unknown_tool", true},
		{"after the words", []func(*Toolbox) []Event{call("after"), heard(1), heard(2), heard(3)}, "called; ; begun; ", false},
		{"one at a time", []func(*Toolbox) []Event{call("after"), call("after")}, "called; called, ended after2 error", false},
		{"one of two", []func(*Toolbox) []Event{call("look"), call("show"), ran("look1", nil)}, "called, begun; called, asked; ended look1 ok", false},
		{"interrupted", []func(*Toolbox) []Event{call("look"), call("stops"), call("after"), (*Toolbox).Interrupt, ran("look1", nil)},
			"called, begun; called, begun; called; ended stops2 cancelled, ended after3 cancelled; ended look1 ok", false},
		{"over", []func(*Toolbox) []Event{call("look"), call("show"), (*Toolbox).Cancel, ran("look1", nil)},
			"called, begun; called, asked; ended look1 cancelled, ended show2 cancelled; ", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Toolbox{Timeout: 10 * time.Second, Life: t.Context()}
			for _, f := range []Function{{After: true, Gap: time.Second, Alone: true}, {}, {}} {
				name := []string{"after", "look", "stops"}[len(b.Functions)]
				f.Function = tool.Function{Spec: inference.Tool{Name: name}, Cancel: name == "stops"}
				b.Functions = append(b.Functions, f)
			}
			var got []string
			for _, step := range c.steps {
				got = append(got, names(step(b)))
			}
			if text := strings.Join(got, "; "); text != c.want || b.Done(false) != c.done || b.Done(false) {
				t.Errorf("%s\nwant %s, done %v", text, c.want, c.done)
			}
		})
	}
}

// TestOffered: of two functions with one name the first is offered.
func TestOffered(t *testing.T) {
	b := &Toolbox{Functions: []Function{ToCollectDigits(), {Function: tool.Function{Spec: inference.Tool{Name: "look"}}}}}
	var names []string
	for _, f := range b.Offered([]inference.Tool{{Name: "show"}, {Name: "look"}, {Name: "show"}, {Name: EndCall}}) {
		names = append(names, f.Name)
	}
	if want := []string{EndCall, CollectDigits, "look", "show"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
