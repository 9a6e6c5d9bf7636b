package acceptance

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/media"
)

// dying are the calls of a node that dies: of one account, each with a question answered.
type dying struct {
	*rig
	first   *server   // which has them
	others  []*server // that go on with them
	who     customer
	callers []*caller
	clip    []int16
}

const dyingAsks = "what time do you open on Monday"

func newDying(t *testing.T, nodes, calls int) *dying {
	t.Helper()
	d := &dying{rig: newRig(t, nodes), clip: question(t, media.Rate8k)}
	d.model.understands(dyingAsks)
	d.first = d.registered()
	d.others = slices.DeleteFunc(slices.Clone(d.nodes), func(s *server) bool { return s == d.first })
	d.who = newCustomerOf(t, d.first, "20", agentFile+"  record: true\n")
	for i := range calls {
		d.callers = append(d.callers, d.dial(d.first, d.who.number, "+3460000000"+string(rune('1'+i))))
	}
	for _, c := range d.callers {
		c.awaitVoice("the first message", 0, 300*time.Millisecond)
	}
	d.converse()
	eventually(t, "other nodes could take the calls over", func() bool { return d.first.metric(t, "parley_calls_rescuable") == float64(calls) })
	return d
}

// converse has each caller ask, and wait for the answer.
func (d *dying) converse() {
	d.Helper()
	for _, c := range d.callers {
		mark := c.mark()
		c.say(d.clip)
		c.awaitVoice("the answer", mark, time.Second)
	}
}

// marks are where each caller is in what they hear.
func (d *dying) marks() (list []int) {
	for _, c := range d.callers {
		list = append(list, c.mark())
	}
	return list
}

// hear waits until each caller hears the agent again, and has heard what it says then.
func (d *dying) hear(since time.Time, marks []int) {
	d.Helper()
	back := make([]time.Duration, len(d.callers))
	eventually(d.T, "the agent is back", func() bool {
		for i, c := range d.callers {
			if back[i] == 0 && c.hears(marks[i]) > 100*time.Millisecond {
				back[i] = time.Since(since)
			}
		}
		return !slices.Contains(back, 0)
	})
	d.Logf("the callers hear the agent after %v", back)
	for i, c := range d.callers {
		c.awaitVoice("what the agent says then", marks[i], 300*time.Millisecond)
	}
}

// goOn is what follows when the other nodes have the calls: the callers ask once more, the model knows what was said before, and in the
// end each call is one.
func (d *dying) goOn() {
	t := d.T
	t.Helper()
	all := 0.0
	for _, s := range d.others {
		n := s.metric(t, "parley_calls")
		if all += n; n == 0 {
			t.Errorf("a node has no calls:\n%s", s.tail(40))
		}
	}
	if all != float64(len(d.callers)) {
		t.Errorf("%v calls go on", all)
	}
	d.converse()
	if shown := d.model.lastAsked(2); count(shown, "assistant") < 2 || count(shown, "user") != 2 || shown[len(shown)-1].Content != dyingAsks {
		t.Errorf("the model is shown %+v", shown)
	}
	for _, c := range d.callers {
		c.hangUp()
	}
	by := d.others[0]
	type ended struct {
		ID        string
		EndReason *string `json:"end_reason"`
		EndedAt   *string `json:"ended_at"`
	}
	var list struct{ Data []ended }
	eventually(t, "the calls have ended", func() bool {
		readAs(t, by, d.who.key, "/v1/calls", &list)
		return len(list.Data) == len(d.callers) && !slices.ContainsFunc(list.Data, func(c ended) bool { return c.EndedAt == nil })
	})
	for _, c := range list.Data {
		var call struct {
			Transcript []struct{ Role, Text string }
		}
		readAs(t, by, d.who.key, "/v1/calls/"+c.ID, &call)
		roles, lost := "", 0
		for _, l := range call.Transcript {
			roles += l.Role + " "
			lost += strings.Count(l.Text, "I lost you")
		}
		if *c.EndReason != "user_hangup" || roles != "agent user agent agent user agent " || lost != 1 {
			t.Errorf("%s ended by %s after %+v", c.ID, *c.EndReason, call.Transcript)
		}
	}
	if out, err := command(by.dir, by.env, "admin", "ledger", "verify").CombinedOutput(); err != nil {
		t.Errorf("the ledger: %v\n%s", err, out)
	}
}

// TestCallsSurviveTheirNode: a node is killed, and its calls go on at the others, which know what was said.
func TestCallsSurviveTheirNode(t *testing.T) {
	t.Parallel()
	d := newDying(t, 3, 3)
	killed, marks := time.Now(), d.marks()
	d.first.signal(t, syscall.SIGKILL)
	d.hear(killed, marks)
	d.goOn()
}

// TestCallsSurviveARestart: the only node is killed and started again, and goes on with its calls.
func TestCallsSurviveARestart(t *testing.T) {
	t.Parallel()
	d := newDying(t, 1, 2)
	killed, marks := time.Now(), d.marks()
	d.first.signal(t, syscall.SIGKILL)
	d.first.end(t) // it says nothing of how
	d.others = []*server{d.start(0, "")}
	d.hear(killed, marks)
	d.goOn()
}

// TestCallsSurviveAStoppedNode: a node stands still until the others take it for dead, and then goes on. It finds that its calls are
// theirs, and is not heard in them.
func TestCallsSurviveAStoppedNode(t *testing.T) {
	t.Parallel()
	d := newDying(t, 3, 3)
	stopped, marks := time.Now(), d.marks()
	d.first.signal(t, syscall.SIGSTOP)
	d.hear(stopped, marks)
	d.first.signal(t, syscall.SIGCONT)
	eventually(t, "the former node has no calls", func() bool {
		return strings.Count(d.first.text(), "another node has a call of this one, which leaves it") == len(d.callers)
	})
	d.goOn()
}
