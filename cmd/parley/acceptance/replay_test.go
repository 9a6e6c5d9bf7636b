package acceptance

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api/wire"
	"parley/media"
)

// TestReplay: calls over the socket and the telephone, with the server's own engines, of
// whom one is interrupted, replay to the log that they had, byte for byte; with another
// setting, given or the agent's of today, the replay shows what differs. Of a call that was
// not recorded nothing is kept.
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
	events := checkReplay(t, s, who.key, web)
	for _, want := range []string{"user_line", "agent_line", "timed", "end"} {
		if events[want] == 0 {
			t.Errorf("the log has no %s: %v", want, events)
		}
	}

	checkRecord(t, s, who.key, web)

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
	checkReplay(t, s, who.key, phone)
	checkToday(t, s, who, file, web)

	unrecorded := newCustomer(t, s, "10")
	c = connect(t, s, unrecorded.key, unrecorded.agent)
	c.awaitStatus("listening")
	c.hangUp()
	if o := do(t, command(s.dir, nil, "replay", openBooks(t, s).closed(unrecorded.account, 1)[0].ID)); o.status != 4 || o.out != "" {
		t.Errorf("a call that was not recorded: exit status %d, %s%s", o.status, o.out, o.errOut)
	}
}

// checkRecord reads what a call's history says of its words and of where the time of its
// turns went: the agent was cut off, and what nobody heard stands apart.
func checkRecord(t *testing.T, s *server, key, id string) {
	t.Helper()
	var call struct {
		Transcript []struct {
			Role, Text string
			At         float64
			Words      []struct {
				Text string
				From int64 `json:"start_ms"`
				To   int64 `json:"end_ms"`
			}
			Interrupted *struct {
				At      int64 `json:"at_ms"`
				Unheard string
			}
		}
		Turns []struct {
			Points *struct {
				SpeechEnd   int64  `json:"speech_end_ms"`
				FinalText   *int64 `json:"final_text_ms"`
				Token       *int64 `json:"first_token_ms"`
				Sentence    *int64 `json:"first_sentence_ms"`
				FirstAudio  *int64 `json:"first_audio_ms"`
				FirstPacket *int64 `json:"first_packet_ms"`
			}
		}
	}
	if status, body := ask(t, s, key, "/v1/calls/"+id); status != http.StatusOK || json.Unmarshal(body, &call) != nil {
		t.Fatalf("%d %s", status, body)
	}
	cuts := 0
	for _, l := range call.Transcript {
		var text []string
		last := int64(0)
		for _, w := range l.Words {
			text = append(text, w.Text)
			if w.From < last || w.To < w.From || w.To > int64(l.At*1000)+1 {
				t.Errorf("%q: %+v are not one after the other until %.3f s", l.Text, l.Words, l.At)
				break
			}
			last = w.From
		}
		if strings.Join(text, " ") != strings.Join(strings.Fields(l.Text), " ") {
			t.Errorf("the words of %q are %q", l.Text, text)
		}
		if l.Interrupted != nil {
			if cuts++; l.Role != "agent" || l.Interrupted.At < last || strings.Contains(l.Text, l.Interrupted.Unheard) {
				t.Errorf("%+v", l)
			}
		}
	}
	if cuts != 1 || len(call.Turns) == 0 {
		t.Errorf("%d lines are cut off, %d turns: %+v", cuts, len(call.Turns), call.Transcript)
	}
	for _, turn := range call.Turns {
		p := turn.Points
		if p == nil || p.Token == nil || p.Sentence == nil || p.FirstAudio == nil || p.FirstPacket == nil ||
			*p.Token > *p.Sentence || *p.Sentence > *p.FirstAudio || *p.FirstAudio > *p.FirstPacket {
			t.Errorf("the points of a turn are %+v", p)
		}
	}
}

// checkToday replays a call with the settings that its agent has today: as long as they are
// those of the call nothing differs, then what they change does.
func checkToday(t *testing.T, s *server, who customer, file, id string) {
	t.Helper()
	if o := do(t, command(s.dir, nil, "replay", id, "--today")); o.status != 0 || !strings.Contains(o.out, "as in the call") {
		t.Errorf("with the settings of then: exit status %d, %s%s", o.status, o.out, o.errOut)
	}
	if err := os.WriteFile(file, []byte("settings: {record: true, min_endpoint_ms: 1500, interruptible: never}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, s.dir, &struct{}{}, "agent", "update", "--account", who.account, who.agent, "--file", file)
	o := do(t, command(s.dir, nil, "replay", id, "--today", "--diff"))
	if o.status != 1 || !strings.Contains(o.out, "- ") || !strings.Contains(o.out, " interrupted") || !strings.Contains(o.out, "differences, from ") {
		t.Errorf("with those of today: exit status %d, %s%s", o.status, o.out, o.errOut)
	}
	if o := do(t, command(s.dir, nil, "replay", id)); o.status != 0 || !strings.Contains(o.out, "as in the call") {
		t.Errorf("as it was: exit status %d, %s%s", o.status, o.out, o.errOut)
	}
	// What is set beside counts more.
	if o := do(t, command(s.dir, nil, "replay", id, "--today", "--diff", "--set", "min_endpoint_ms=200", "--set", "interruptible=always")); strings.Contains(o.out, "- ") && strings.Contains(o.out, " interrupted") {
		t.Errorf("with settings of then beside: exit status %d, %s%s", o.status, o.out, o.errOut)
	}
}

// waited says that the other setting, which has the agent wait, makes no difference in a call: the recogniser was late by as
// much, or the caller hung up before there was an answer. When a model began its answer says nothing, for it may have begun
// in the caller's pause.
func waited(t *testing.T, s *server, key, id string) bool {
	t.Helper()
	var call wire.CallDetail
	readAs(t, s, key, "/v1/calls/"+id, &call)
	return !slices.ContainsFunc(call.Turns, func(turn wire.CallTurn) bool { return turn.EndpointMS < 1900 })
}

// checkReplay replays a call as it was, and otherwise, and counts its log by kind.
func checkReplay(t *testing.T, s *server, key, id string) map[string]int {
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
	if kinds["user_line"] > 0 && !waited(t, s, key, id) && (o.status != 1 || !strings.Contains(o.out, "differences")) {
		t.Errorf("%s with another setting: exit status %d, %s%s", id, o.status, o.out, o.errOut)
	}
	return kinds
}
