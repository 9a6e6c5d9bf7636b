package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/media"
)

// TestReplay: calls over the socket and the telephone, with the server's own engines, of
// whom one is interrupted, replay to the log that they had, byte for byte; with another
// setting the replay shows what differs. Of a call that was not recorded nothing is kept.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	who := newCustomer(t, s, "10")
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte("settings: {record: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, s.dir, &struct{}{}, "agent", "update", "--account", who.account, who.agent, "--file", file)

	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening") // the greeting is over
	c.say(question(t, micRate))
	c.awaitLine("user")
	c.awaitStatus("speaking")
	c.say(speak(t, "slt", "stop stop please wait", micRate))
	c.awaitLine("agent")
	c.awaitStatus("listening")
	c.hangUp()
	web := openBooks(t, s).closed(who.account, 1)[0].ID
	events := checkReplay(t, s, web)
	for _, want := range []string{"user_line", "agent_line", "timed", "end"} {
		if events[want] == 0 {
			t.Errorf("the log has no %s: %v", want, events)
		}
	}

	const number = "+34910000071"
	admin(t, s.dir, &struct{}{}, "number", "add", "--account", who.account, number, "--agent", who.agent)
	p := call(t, s, newPhone(t), number)
	mark := p.mark()
	p.awaitVoice("the greeting", mark, 500*time.Millisecond)
	p.say(speak(t, "slt", "What time do you open on Monday", media.Rate8k))
	p.hangUp()
	phone := ""
	for _, x := range openBooks(t, s).closed(who.account, 2) {
		if x.ID != web {
			phone = x.ID
		}
	}
	checkReplay(t, s, phone)

	unrecorded := newCustomer(t, s, "10")
	c = connect(t, s, unrecorded.key, unrecorded.agent)
	c.awaitStatus("listening")
	c.hangUp()
	if o := do(t, command(s.dir, nil, "replay", openBooks(t, s).closed(unrecorded.account, 1)[0].ID)); o.status != 4 || o.out != "" {
		t.Errorf("a call that was not recorded: exit status %d, %s%s", o.status, o.out, o.errOut)
	}
}

// checkReplay replays a call as it was, and otherwise, and counts its log by kind.
func checkReplay(t *testing.T, s *server, id string) map[string]int {
	t.Helper()
	var as struct {
		Same   bool
		Cut    bool
		Events []struct{ Kind string }
	}
	same := do(t, command(s.dir, nil, "replay", id, "--json"))
	if err := json.Unmarshal([]byte(same.out), &as); err != nil || same.status != 0 || !as.Same || as.Cut || len(as.Events) == 0 {
		t.Errorf("%s: exit status %d, cut %v, %d events, %s%v\n%s", id, same.status, as.Cut, len(as.Events), same.errOut, err,
			do(t, command(s.dir, nil, "replay", id)).out)
	}
	kinds := map[string]int{}
	for _, e := range as.Events {
		kinds[e.Kind]++
	}
	o := do(t, command(s.dir, nil, "replay", id, "--diff", "--set", "min_endpoint_ms=2000"))
	if kinds["user_line"] > 0 && (o.status != 1 || !strings.Contains(o.out, "differences")) {
		t.Errorf("%s with another setting: exit status %d, %s%s", id, o.status, o.out, o.errOut)
	}
	return kinds
}
