package calls

import (
	"parley/store/history"

	"encoding/json"
	"fmt"
	"time"

	"parley/api/wallet"
	"parley/api/wire"
)

// CallBegun is a call as webhooks are told of it while it lasts.
type CallBegun struct {
	ID         string     `json:"id" doc:"Of the call." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentID    *string    `json:"agent_id" doc:"The agent; null when the client brought its own prompt." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Direction  string     `json:"direction" doc:"Over a WebSocket, to one of the account's numbers, or placed by an agent." enum:"web,inbound,outbound" example:"inbound"`
	From       string     `json:"from" doc:"Who called; empty on a WebSocket." example:"+34612345678"`
	To         string     `json:"to" doc:"Who was called." example:"+34911234567"`
	CreatedAt  time.Time  `json:"created_at" doc:"When it began to ring, to be dialled or to be set up."`
	AnsweredAt *time.Time `json:"answered_at,omitempty" doc:"When it was answered; not in call.started."`
}

// CallOver is a call that has ended.
type CallOver struct {
	wire.CallSummary
	TurnCount int `json:"turn_count" doc:"How often the agent answered." example:"7"`
}

// CallSaid is a call that has ended, with its summary.
type CallSaid struct {
	wire.CallSummary
	Summary string `json:"summary" doc:"What a language model made of the transcript." example:"Lola books a table for two on Monday at nine."`
}

// Begun is c as it began. Nothing of it changes later, whenever it is told.
func Begun(c *history.Call, answered bool) CallBegun {
	b := CallBegun{ID: c.ID, AgentID: c.Agent, Direction: string(c.Direction), From: c.From, To: c.To, CreatedAt: c.OpenedAt}
	if answered {
		b.AnsweredAt = c.StartedAt
	}
	return b
}

// Over is c, which has ended.
func Over(c *history.Call) (CallOver, error) {
	var turns []json.RawMessage
	if err := json.Unmarshal(c.Turns, &turns); err != nil {
		return CallOver{}, fmt.Errorf("turns of %s: %w", c.ID, err)
	}
	return CallOver{summary(c, time.Time{}), len(turns)}, nil
}

// Summarized is c, which has ended, with a summary.
func Summarized(c *history.Call, text string) CallSaid {
	return CallSaid{summary(c, time.Time{}), text}
}

// Detail is c with what was said in it; now ends the duration of one that lasts.
func Detail(c *history.Call, now time.Time) (wire.CallDetail, error) {
	d := wire.CallDetail{CallSummary: summary(c, now), Transcript: []wire.CallLine{}, Omitted: c.Omitted, Turns: []wire.CallTurn{}, Engines: wallet.ViewEngines(c.Engines)}
	for _, l := range c.Transcript {
		d.Transcript = append(d.Transcript, viewLine(l))
	}
	if err := json.Unmarshal(c.Turns, &d.Turns); err != nil {
		return d, fmt.Errorf("turns of %s: %w", c.ID, err)
	}
	return d, nil
}

func viewLine(l history.TranscriptLine) wire.CallLine {
	v := wire.CallLine{Role: l.Role, Text: l.Text, At: float64(l.AtMS) / 1000, Estimated: l.Estimated}
	for _, w := range l.Words {
		v.Words = append(v.Words, wire.CallWord(w))
	}
	if i := l.Interruption; i != nil {
		v.Interrupted = &wire.CallCut{AtMS: i.AtMS, Unheard: i.Unheard}
	}
	return v
}
