package session_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
	"parley/store/history"
)

// TestFunctionsAreKept: each function with what it was called with and gave, as it happens and with the
// conversation; one without a result has none, and one that never began is there.
func TestFunctionsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Enter(web)
		s.Begin()
		at := func(d time.Duration, kind event.Kind, id, name, outcome, result string) {
			s.Observe(event.Event{Kind: kind, At: media.FromDuration(d), Turn: 2, Call: inference.ToolCall{ID: id, Name: name, Arguments: `{"id":7}`}, Text: outcome, Result: result})
		}
		at(time.Second, event.ToolBegun, "call_1_1", "order", "", "")
		at(1100*ms, event.ToolAsked, "call_1_2", "look", "", "")
		if rows := storedFunctions(o, s); len(rows) != 2 || rows[0].Name != "order" || rows[0].Outcome != "" || rows[0].EndedMS != nil {
			t.Errorf("before there is a result: %+v", rows)
		}
		at(1500*ms, event.ToolEnded, "call_1_1", "order", "ok", "on its way")
		at(1600*ms, event.ToolEnded, "call_1_3", "refund", "unknown_tool", "there is no function refund")
		if rows := storedFunctions(o, s); len(rows) != 4 || rows[2].Outcome != "ok" || *rows[2].EndedMS != 1500 || rows[2].Result != "on its way" {
			t.Errorf("with a result: %+v", rows)
		}
		s.End(hungUp)
		talk := o.Ledger.Talks[s.ID()]
		if len(talk.Functions) != 3 {
			t.Fatalf("%+v", talk.Functions)
		}
		order, look, refund := talk.Functions[0], talk.Functions[1], talk.Functions[2]
		if order.BeganMS != 1000 || order.Arguments != `{"id":7}` || order.Turn != 2 || order.ByClient || order.Outcome != "ok" {
			t.Errorf("%+v", order)
		}
		if !look.ByClient || look.Outcome != "" || look.EndedMS != nil || refund.BeganMS != 1600 || *refund.EndedMS != 1600 || refund.Outcome != "unknown_tool" {
			t.Errorf("%+v, %+v", look, refund)
		}
		logged := 0
		for _, e := range talk.Log.Events {
			if e.Function != nil {
				logged++
			}
		}
		if logged != 5 {
			t.Errorf("the log has %d events of functions", logged)
		}
	})
}

// storedFunctions are the functions of a session as they were stored by now.
func storedFunctions(o *sessiontest.Harness, s *session.Session) (all []history.FunctionCall) {
	time.Sleep(time.Second)
	synctest.Wait()
	for _, e := range o.Ledger.EventsOf(s.ID()) {
		if f := e.Event.Function; f != nil {
			all = append(all, *f)
		}
	}
	return all
}

// TestFunctionsAreBounded: of a model that calls functions without end the first are kept, and of long
// results as many as fit.
func TestFunctionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Enter(web)
		s.Begin()
		for i := range 600 {
			call := inference.ToolCall{ID: "call_" + strings.Repeat("1", i+1), Name: "order", Arguments: strings.Repeat("a", 10_000)}
			s.Observe(event.Event{Kind: event.ToolBegun, Call: call})
			s.Observe(event.Event{Kind: event.ToolEnded, Call: call, Text: "ok", Result: strings.Repeat("b", 1000)})
		}
		s.End(hungUp)
		kept, size := o.Ledger.Talks[s.ID()].Functions, 0
		for _, f := range kept {
			size += len(f.Arguments) + len(f.Result)
		}
		if len(kept) != 500 || size > 256<<10 || size < 200<<10 || kept[0].Result == "" || kept[499].Outcome != "ok" || kept[499].Result != "" {
			t.Errorf("%d functions of %d bytes; the last %+v", len(kept), size, kept[len(kept)-1])
		}
	})
}
