package livetest

import (
	"fmt"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// asked has functions called, and returns the ids of the calls.
func asked(t *testing.T, c *client) (book, look string) {
	t.Helper()
	list := c.Until("usage")
	calls := list[len(list)-2].Calls.List
	if len(calls) != 2 || calls[0].Name != "book" || string(calls[0].Args) != `{"day":"fri"}` || calls[1].Name != "look" {
		t.Fatalf("%+v", calls)
	}
	return calls[0].ID, calls[1].ID
}

// answer is the result of a call.
func answer(id, more string) string {
	return fmt.Sprintf(`{"toolResponse":{"functionResponses":[{"id":%q,"response":{"result":"ok"}%s}]}}`, id, more)
}

func TestFunctionsAreAnswered(t *testing.T) {
	script := dinner
	script.Replies = dinner.Replies[1:]
	s := New(t, script)
	c := begun(t, s, third, booking+`,"sessionResumption":{}`)
	c.Until("handle")
	c.write("A table, please.")
	book, look := asked(t, c)
	c.Until("no handle")
	c.Text(answer(look, `,"name":"look"`))
	c.Text(answer(book, ""))
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("turnComplete"))[4:], "generationComplete", "turnComplete")
	var got []string
	for _, c := range s.Contents() {
		got = append(got, c.Role+" "+c.Text)
	}
	loopbacktest.Same(t, got, "user A table, please.", "model I look.", `model book{"day":"fri"}look{}`, `function {"result":"ok"}`, `function {"result":"ok"}`, "model Done.")
	if b := s.Books(); b.Requests != 2 {
		t.Errorf("%+v", b)
	}
	if got := s.Turns(); got[0].End != "call" || got[0].Usage.TextOut == 0 || got[1].End != "complete" {
		t.Errorf("%+v", got)
	}
}

func TestCallsAreCancelled(t *testing.T) {
	script := dinner
	script.Replies = []Reply{dinner.Replies[1], {Text: "Sorry?"}}
	s := New(t, script)
	c := begun(t, s, third, booking+quick)
	c.write("A table, please.")
	book, look := asked(t, c)
	c.Text(answer(book, ""))
	c.say(500 * ms)
	list := c.Until("turnComplete")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "toolCallCancellation", "interrupted", "turnComplete")
	if ids := list[0].Cancelled.IDs; len(ids) != 1 || ids[0] != look || list[2].Usage != nil {
		t.Errorf("%+v", list)
	}
	c.Text(answer(look, "")) // it was on its way, and is no mistake
	c.hush(400 * ms)
	c.Until("audio")
	c.Until("turnComplete")
}

func TestResultsMayBeSilent(t *testing.T) {
	script := dinner
	script.Replies = []Reply{dinner.Replies[1], {Text: "Done."}, {End: "MALFORMED_FUNCTION_CALL"}}
	s := New(t, script)
	c := begun(t, s, third, booking)
	c.write("A table, please.")
	book, look := asked(t, c)
	c.Text(answer(book, `,"scheduling":"SILENT"`))
	c.Text(answer(look, `,"scheduling":"SILENT"`))
	c.write("And?")
	c.Until("turnComplete")
	c.write("Well?")
	c.Until("turnComplete MALFORMED_FUNCTION_CALL")
	if got := s.Turns(); len(got) != 3 || got[2].Reason != "MALFORMED_FUNCTION_CALL" {
		t.Errorf("%+v", got)
	}
}
