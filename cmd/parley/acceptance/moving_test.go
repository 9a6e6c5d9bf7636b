package acceptance

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/media"
)

// TestCallsMoveToAnotherNode: a node that stops, or is asked to drain, has others go on with its calls. Callers hear the agent there,
// it knows what was said before, and in the end each call is one: one transcript, one bill.
func TestCallsMoveToAnotherNode(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	const asks = "what time do you open on Monday"
	r.model.understands(asks)
	first := r.registered()
	others := slices.DeleteFunc(slices.Clone(r.nodes), func(s *server) bool { return s == first })
	second, other := others[0], others[1]
	who := newCustomerOf(t, first, "20", agentFile+"  record: true\n")
	clip := question(t, media.Rate8k)
	var callers []*caller
	for _, from := range []string{"+34600000001", "+34600000002", "+34600000003"} {
		callers = append(callers, r.dial(first, who.number, from))
	}
	converse := func() {
		t.Helper()
		for _, c := range callers {
			mark := c.mark()
			c.say(clip)
			c.awaitVoice("the answer", mark, time.Second)
		}
	}
	for _, c := range callers {
		c.awaitVoice("the first message", 0, 300*time.Millisecond)
	}
	converse()

	first.signal(t, syscall.SIGTERM)
	if code := first.end(t); code != 0 {
		t.Fatalf("it ends with %d:\n%s", code, first.tail(40))
	}
	if n := strings.Count(first.text(), "a call goes on at another node"); n != len(callers) {
		t.Errorf("%d calls have moved:\n%s", n, first.tail(60))
	}
	if a, b := second.metric(t, "parley_calls"), other.metric(t, "parley_calls"); a+b != float64(len(callers)) || a == 0 || b == 0 {
		t.Errorf("the other nodes have %v and %v calls", a, b)
	}
	converse()

	var drained struct {
		Name  string
		Calls int
	}
	other.answer(t, &drained, "drain", r.await(other, second, "serving", int(second.metric(t, "parley_calls"))).Name, "--wait")
	if n := other.metric(t, "parley_calls"); n != float64(len(callers)) || drained.Calls != 0 {
		t.Errorf("the last node has %v calls, the one that drains %+v:\n%s", n, drained, second.tail(60))
	}
	if status, _ := second.get(t, "http", "/readyz"); status != 503 {
		t.Errorf("the node that drains is ready: %d", status)
	}
	converse()
	if shown := r.model.lastAsked(3); count(shown, "assistant") != 3 || shown[len(shown)-1].Content != asks {
		t.Errorf("the model is shown %+v", shown)
	}
	second.signal(t, syscall.SIGTERM)
	if code := second.end(t); code != 0 {
		t.Errorf("the node that has drained ends with %d:\n%s", code, second.tail(40))
	}
	var shortest time.Duration
	for _, c := range callers {
		c.hangUp()
		shortest = c.ended.Sub(c.answered) // the last that was called
	}
	var list struct {
		Data []struct {
			ID        string
			EndReason *string `json:"end_reason"`
			EndedAt   *string `json:"ended_at"`
		}
	}
	eventually(t, "the calls have ended", func() bool {
		readAs(t, other, who.key, "/v1/calls", &list)
		return len(list.Data) == len(callers) && list.Data[0].EndedAt != nil && list.Data[1].EndedAt != nil && list.Data[2].EndedAt != nil
	})
	for _, c := range list.Data {
		var call struct {
			Transcript []struct{ Role, Text string }
		}
		readAs(t, other, who.key, "/v1/calls/"+c.ID, &call)
		roles := ""
		for _, l := range call.Transcript {
			roles += l.Role + " "
		}
		if *c.EndReason != "user_hangup" || roles != "agent user agent user agent user agent " {
			t.Errorf("%s ended by %s after %+v", c.ID, *c.EndReason, call.Transcript)
		}
		eventually(t, "the recording of all nodes is ready", func() bool {
			status, sound := ask(t, other, who.key, "/v1/calls/"+c.ID+"/recording?format=wav")
			lasts := time.Duration(len(sound)/4) * time.Second / 8000
			if status == 200 && lasts < shortest-time.Second {
				t.Fatalf("%v are recorded of %v", lasts, shortest)
			}
			return status == 200
		})
		methods := ""
		defer func() { t.Logf("the signalling of %s: %s", c.ID, methods) }()
		eventually(t, "the signalling of all nodes is stored", func() bool {
			var trace struct{ Data []struct{ Message string } }
			readAs(t, other, who.key, "/v1/calls/"+c.ID+"/sip", &trace)
			methods = ""
			for _, m := range trace.Data {
				method, _, _ := strings.Cut(m.Message, " ")
				methods += method + " "
			}
			return strings.Count(methods, "INVITE") >= 2 && strings.Contains(methods, "BYE")
		})
	}
	var books verification
	other.answer(t, &books, "admin", "ledger", "verify")
	if !books.OK || len(books.Violations) > 0 {
		t.Errorf("the ledger: %v", books.Violations)
	}
}
