package node

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/sip/simulated"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger/statement"
	"parley/store/numbers"
)

// keyed gives the desk's account a second number, whose agent has the settings and does
// what the model is told to: the first reply calls a function.
func (d *desk) keyed(settings, function, arguments string) (number string, model *enginetest.FakeLLM) {
	d.Helper()
	number = "+34911234568"
	agent, err := d.node.db.CreateAgent(d.Context(), d.who.Account, store.Agent{Name: "Eva", Voice: "F1", Language: "en",
		FirstMessage: "Hello.", Settings: json.RawMessage(settings)})
	d.ok(err)
	_, err = numbers.New(d.node.db).Import(d.Context(), d.who.Account, number, agent.ID)
	d.ok(err)
	model = enginetest.NewFakeLLM()
	model.Replies = [][]enginetest.Step{
		{{Text: "One moment."}, {Tool: &inference.ToolCall{Name: function, Arguments: arguments}}},
		enginetest.Sentences(0, "That is all."),
	}
	d.node.engines.LLM = model
	d.changed()
	return number, model
}

// calling is keyed with several functions, one after another.
func (d *desk) calling(settings string, steps ...inference.ToolCall) (number string, model *enginetest.FakeLLM) {
	d.Helper()
	number, model = d.keyed(settings, "", "")
	// One that was interrupted is called again.
	model.Answer = func(_ int, r inference.Request) []enginetest.Step {
		done := 0
		for _, m := range r.Messages {
			if m.Role == inference.RoleTool && !strings.Contains(m.Text, "error") && !strings.Contains(m.Text, "pending") {
				done++
			}
		}
		return []enginetest.Step{{Text: "One moment."}, {Tool: &steps[min(done, len(steps)-1)]}}
	}
	d.changed()
	return number, model
}

// phones calls a number of ours from outside, says a sentence and stays.
func (d *desk) phones(number string, cfg simulated.PhoneConfig) *simulated.PhoneResult {
	d.Helper()
	clip, err := flite{d.TempDir()}.say(d.Context(), inference.Speech{Text: "I would like to talk to somebody in sales, please.", VoiceConfig: inference.VoiceConfig{Voice: "M2"}})
	d.ok(err)
	said := make([]int16, 0, len(clip.Samples)/2+3*8000)
	said = append(said, make([]int16, 3*8000)...) // the agent greets first
	for i := 0; i+1 < len(clip.Samples); i += int(clip.Rate / media.Rate8k) {
		said = append(said, clip.Samples[i])
	}
	cfg.URI, cfg.Number, cfg.Play = "sip:"+number+"@"+d.node.phone.Addr().String(), "+34600123456", said
	r, err := simulated.Call(d.Context(), cfg)
	d.ok(err)
	return r
}

// history waits until the account has so many calls that have ended, newest first.
func (d *desk) history(n int) (list []history.Call) {
	d.Helper()
	eventually(d.T, "the calls have ended", func() bool {
		var err error
		list, err = history.New(d.node.db).Calls(d.Context(), d.who.Account, history.CallPage{})
		d.ok(err)
		return len(list) == n && !slices.ContainsFunc(list, func(c history.Call) bool { return c.EndReason == nil })
	})
	return list
}

// charged names the components of a call's receipt.
func (d *desk) charged(id string) string {
	d.Helper()
	r, err := statement.ReadReceipt(d.Context(), d.node.db, d.who.Account, id)
	d.ok(err)
	var names []string
	for _, l := range r.Lines {
		if l.Quantity > 0 {
			names = append(names, l.Component)
		}
	}
	return strings.Join(names, " ")
}

// TestTransfer over real SIP: the caller's telephone takes no REFER, so the sales desk is
// called on another line and connected.
func TestTransfer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	number, _ := d.calling(`{"speculative_llm":false,"transfer_to":[{"number":"+12025550106","name":"sales"}]}`, inference.ToolCall{Name: "transfer_call", Arguments: `{"to":"sales"}`})
	r := d.phones(number, simulated.PhoneConfig{Wait: time.Minute, MaxDuration: 2 * time.Minute})
	if !r.FarEnd {
		t.Error("the person in sales never hung up")
	}
	select {
	case h := <-d.heard:
		if h.Called != "+12025550106" || h.From != "+34600123456" || h.By != number {
			t.Errorf("%s was called from %s, diverted by %q", h.Called, h.From, h.By)
		}
	case <-time.After(time.Minute):
		t.Fatal("nobody was called")
	}
	list := d.history(2)
	for _, c := range list {
		switch {
		case c.Direction == billing.Inbound:
			if *c.EndReason != "completed" || *c.EndDetail != "transferred" {
				t.Errorf("the call ended %s/%s", *c.EndReason, *c.EndDetail)
			}
		case d.charged(c.ID) != billing.LineTime.String():
			t.Errorf("of the second line %q was charged", d.charged(c.ID))
		case c.To != "+12025550106" || c.From != number || c.StartedAt == nil:
			t.Errorf("called was %+v", c)
		}
	}
}

// TestMeeting over real SIP and RTP: the agent introduces the caller and the sales desk to each other, and leaves when the person there
// has spoken. The two talk on, and the transcript has the introduction.
func TestMeeting(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const introduction = "Sales, I have somebody on the line who wants two chairs."
	number, _ := d.calling(`{"speculative_llm":false,"transfer_to":[{"number":"+12025550100","name":"sales","stay":true}]}`,
		inference.ToolCall{Name: "transfer_call", Arguments: `{"to":"sales","summary":"` + introduction + `"}`})
	if r := d.phones(number, simulated.PhoneConfig{Wait: time.Minute, MaxDuration: 2 * time.Minute}); !r.FarEnd {
		t.Error("the person in sales never hung up")
	}
	for _, c := range d.history(2) {
		if c.Direction != billing.Inbound {
			continue
		}
		if *c.EndReason != "completed" || *c.EndDetail != "transferred" {
			t.Errorf("the call ended %s/%s", *c.EndReason, *c.EndDetail)
		}
		call, err := history.New(d.node.db).Call(t.Context(), d.who.Account, c.ID)
		d.ok(err)
		if !slices.ContainsFunc(call.Transcript, func(l history.TranscriptLine) bool { return l.Role == "agent" && l.Text == introduction }) {
			t.Errorf("the transcript is %+v", call.Transcript)
		}
	}
}

// TestKeys over real RTP, both ways.
func TestKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	number, model := d.calling(`{"speculative_llm":false,"key_interrupts":false}`, inference.ToolCall{Name: "collect_digits", Arguments: `{"max_digits":4,"first_timeout_seconds":30}`},
		inference.ToolCall{Name: "send_dtmf", Arguments: `{"digits":"12w#"}`}, inference.ToolCall{Name: "end_call"})
	var offered []string
	r := d.phones(number, simulated.PhoneConfig{Digits: "7890", DigitsAfter: 25 * time.Second, Wait: time.Minute, MaxDuration: 2 * time.Minute})
	if r.Digits != "12#" || !r.FarEnd {
		t.Errorf("the agent pressed %q, and hung up: %t", r.Digits, r.FarEnd)
	}
	calls := model.Calls()
	for _, f := range calls[0].Request.Tools {
		offered = append(offered, f.Name)
	}
	if got := strings.Join(offered, " "); got != "end_call send_dtmf collect_digits opt_out" {
		t.Errorf("offered were %s", got)
	}
	told := calls[len(calls)-1].Request.Messages
	if !slices.ContainsFunc(told, func(m inference.Message) bool { return m.Text == `{"digits":"7890","ended_by":"max_digits"}` }) {
		t.Errorf("the model was told %+v", told)
	}
}
