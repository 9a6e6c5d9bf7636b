package conversation

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/api"
	"parley/api/talk"
	"parley/inference"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/session"
	"parley/store/people"
)

// insight shows a client the inside of its conversation: phases of the turn machine, where
// the time of each turn went, what the model is asked, what it all costs. It belongs to
// the conductor.
type insight struct {
	may     bool // the client may see it
	session *session.Session
	leg     talk.Leg

	greeted bool
	asked   request // last shown
}

// owns says whether the principal may see what an agent's model is asked: one that may read the
// agent, by a key or signed in to the dashboard. Tickets that were made from a key go to browsers
// of other people.
func owns(who api.Principal) bool {
	user := people.Principal{Account: who.Account, Key: who.Key}.SignedIn()
	return who.Ticket == nil || user && who.Ticket.Agent == ""
}

// The texts of a request are shown as far as this, in bytes, so that a message stays one
// that any transport carries.
const (
	shownPrompt  = 32 << 10
	shownMessage = 4 << 10
	shownTools   = 64
)

// request is what the model is asked, as it is shown. What it has in common with the one
// before is left out.
type request struct {
	Speculative bool       `json:"speculative,omitempty"` // asked speculatively, in a pause
	Keep        int        `json:"keep"`                  // of the messages before, this many are the same
	System      *string    `json:"system,omitempty"`      // nil: as before
	Tools       []toolName `json:"tools,omitempty"`       // nil: as before
	Messages    []said     `json:"messages"`              // after those kept
}

type toolName struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type said struct {
	Role        string    `json:"role"`
	Text        string    `json:"text"`
	Interrupted bool      `json:"interrupted,omitempty"`
	ToolCalls   []toolRun `json:"tool_calls,omitempty"`
	ToolCallID  string    `json:"tool_call_id,omitempty"`
}

type toolRun struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// observe shows an event of the call.
func (i *insight) observe(e event.Event) {
	if !i.may || !i.leg.WantsInsight() {
		return
	}
	if !i.greeted {
		i.greeted = true
		i.leg.Insight("call", 0, map[string]string{"id": i.session.ID()})
	}
	switch e.Kind {
	case event.Phased:
		i.leg.Insight("phase", 0, map[string]any{"phase": e.Text, "turn": e.Turn})
		i.cost()
	case event.Timed:
		i.leg.Insight("latency", e.Generation, latencyOf(e.Turn, &e.Timing))
	case event.Asked:
		i.leg.Insight("told", e.Generation, i.news(e.Request, e.On))
	case event.Echoed:
		i.leg.Insight("echo", 0, struct{}{})
	case event.Used:
		i.cost()
	}
}

// latencyOf is where a turn's time went. The six points are milliseconds after the end of
// the caller's speech; those that were not are left out.
func latencyOf(turn int, t *reply.Timing) map[string]any {
	out := map[string]any{"turn": turn, "endpoint_ms": t.Endpoint.Milliseconds(), "model_ms": t.Model.Milliseconds(),
		"voice_ms": t.Voice.Milliseconds(), "overhead_ms": t.Overhead.Milliseconds(), "total_ms": t.Total.Milliseconds(), "speech_end_ms": t.SpeechEnd.Milliseconds()}
	for name, d := range map[string]time.Duration{"final_text_ms": t.FinalText, "first_token_ms": t.FirstToken, "first_sentence_ms": t.FirstSentence,
		"first_audio_ms": t.FirstAudio, "first_packet_ms": t.FirstPacket} {
		if d != reply.Never {
			out[name] = d.Milliseconds()
		}
	}
	return out
}

func (i *insight) cost() {
	i.leg.Insight("cost", 0, map[string]any{"usd": i.session.Cost()})
}

// news is what is new in a request since the last that was shown.
func (i *insight) news(r *inference.Request, speculative bool) request {
	now := shownRequest(r)
	was := i.asked
	i.asked = now
	out := now
	out.Speculative = speculative
	if was.System != nil && *was.System == *now.System {
		out.System = nil
	}
	if was.Tools != nil && slices.Equal(was.Tools, now.Tools) {
		out.Tools = nil
	}
	for out.Keep < min(len(was.Messages), len(now.Messages)) && same(was.Messages[out.Keep], now.Messages[out.Keep]) {
		out.Keep++
	}
	out.Messages = now.Messages[out.Keep:]
	return out
}

func same(a, b said) bool {
	return a.Role == b.Role && a.Text == b.Text && a.Interrupted == b.Interrupted && a.ToolCallID == b.ToolCallID && slices.Equal(a.ToolCalls, b.ToolCalls)
}

func shownRequest(r *inference.Request) request {
	prompt := clipped(r.System, shownPrompt)
	out := request{System: &prompt, Tools: []toolName{}, Messages: []said{}}
	for _, t := range r.Tools[:min(len(r.Tools), shownTools)] {
		out.Tools = append(out.Tools, toolName{t.Name, clipped(t.Description, shownMessage/8)})
	}
	for _, m := range r.Messages {
		s := said{Role: string(m.Role), Text: clipped(m.Text, shownMessage), Interrupted: m.Interrupted, ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			s.ToolCalls = append(s.ToolCalls, toolRun{c.ID, c.Name, clipped(c.Arguments, shownMessage)})
		}
		out.Messages = append(out.Messages, s)
	}
	return out
}

// clipped is text cut to at most n bytes, between two characters.
func clipped(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.TrimRight(text[:n], " ") + " …"
}
