package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/inference"
	"parley/pipeline/journal"
	"parley/pipeline/replay"
)

// TestExchanges: each turn of a record has what its model read, with the functions that were called before, their results and what
// was cut off; what another agent said is not among them.
func TestExchanges(t *testing.T) {
	t.Parallel()
	call := &inference.ToolCall{ID: "call_1_1", Name: "hours", Arguments: `{"day":"Friday"}`}
	later := &inference.ToolCall{ID: "call_3_1", Name: "lookup", Arguments: `{}`}
	f := &journal.File{
		Steps: []journal.Step{{Input: &journal.Input{Message: &journal.Message{Kind: "function", ID: "call_3_1", Text: "the beginning"}}}},
		Events: []journal.Event{
			{Kind: "agent_line", Text: "Hello."},
			{Kind: "user_line", Turn: 1, Text: "when do you open"},
			{Kind: "tool_begun", Turn: 1, Call: call}, {Kind: "tool_ended", Turn: 1, Call: call, Text: "ok"},
			{Kind: "agent_partial", Turn: 1, Text: "From nine"}, {Kind: "agent_line", Turn: 1, Text: "From nine", Cut: &journal.Cut{Unheard: "to six."}},
			{Kind: "user_line", Turn: 2, Text: "fie"}, {Kind: "user_line_again", Turn: 2, Replaces: "fie", Text: "fine"},
			{Kind: "tool_begun", Turn: 2, Call: later}, {Kind: "agent_partial", Turn: 2, Text: "One moment."}, {Kind: "tool_ended", Turn: 2, Call: later, Text: "ok"},
			{Kind: "agent_line", Turn: 2, Text: "One moment."}, {Kind: "agent_line", Turn: 2, Text: "Found."},
			{Kind: "user_line", Turn: 3, Text: "bye"}, {Kind: "agent_line", Turn: 3, Text: "Goodbye."}, {Kind: "end", Turn: 3, Reason: "agent_hangup", Detail: "end_call"},
		},
	}
	show := func(f *journal.File) string {
		var b strings.Builder
		for _, x := range replay.Exchanges(f, map[string]string{"call_1_1": `{"open":"nine"}`}) {
			fmt.Fprintf(&b, "%d %q %q cut %v", x.Turn, x.Heard, x.Said, x.Interrupted)
			for _, c := range x.Calls {
				fmt.Fprintf(&b, " %s%s=%s", c.Name, c.Arguments, c.Result)
			}
			b.WriteString("\n")
			for _, m := range x.Messages {
				fmt.Fprintf(&b, "  %s %q cut %v calls %d\n", m.Role, m.Text, m.Interrupted, len(m.ToolCalls))
			}
		}
		return b.String()
	}
	const want = `0 "" "Hello." cut false
1 "when do you open" "From nine" cut true hours{"day":"Friday"}={"open":"nine"}
  agent "Hello." cut false calls 0
  user "when do you open" cut false calls 0
2 "fine" "One moment. Found." cut false lookup{}=the beginning
  agent "Hello." cut false calls 0
  user "when do you open" cut false calls 0
  agent "" cut false calls 1
  tool "{\"open\":\"nine\"}" cut false calls 0
  agent "From nine" cut true calls 0
  user "fine" cut false calls 0
3 "bye" "Goodbye." cut false end_call=
  agent "Hello." cut false calls 0
  user "when do you open" cut false calls 0
  agent "" cut false calls 1
  tool "{\"open\":\"nine\"}" cut false calls 0
  agent "From nine" cut true calls 0
  user "fine" cut false calls 0
  agent "One moment." cut false calls 1
  tool "the beginning" cut false calls 0
  agent "Found." cut false calls 0
  user "bye" cut false calls 0
`
	if got := show(f); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	f.Events[6] = journal.Event{Kind: "handed_over", Turn: 1, Text: "Billing"}
	if got := show(f); strings.Contains(got, "fine") || !strings.Contains(got, "From nine") {
		t.Errorf("after a hand-over:\n%s", got)
	}
	if got := show(&journal.File{}); got != "0 \"\" \"\" cut false\n" {
		t.Errorf("of nothing:\n%s", got)
	}
}
