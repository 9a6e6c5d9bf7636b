package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/api"
	"parley/api/wallet"
	"parley/api/wire"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
)

func (m *calls) get(ctx context.Context, in *callInput) (*api.Reply[wire.CallDetail], error) {
	c, err := m.history.Call(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	d, err := Detail(c, m.db.Now())
	if err != nil {
		return nil, err
	}
	d.Wait = c.Wait
	d.Usage = api.Views(c.Uses, wallet.ViewUse(api.PrincipalOf(ctx).Operator))
	if d.Recording, err = m.recordingOf(ctx, api.AccountOf(ctx), c.ID); err != nil {
		return nil, err
	}
	if d.Analysis, err = m.analysisOf(ctx, api.AccountOf(ctx), c.ID); err != nil {
		return nil, err
	}
	heard, err := m.history.Listeners(ctx, api.AccountOf(ctx), c.ID)
	if len(heard) > 0 {
		d.Listeners = api.Views(heard, viewListener)
	}
	return api.Body(d), err
}

func viewListener(l *history.Listener) wire.CallListener {
	return wire.CallListener{ID: l.ID, By: l.Credential, Email: api.Some(l.Email), Host: api.Some(l.Host), JoinedAt: l.JoinedAt, LeftAt: l.LeftAt, SpokeAt: l.SpokeAt, Failure: api.Some(l.Failure)}
}

func (m *calls) quality(ctx context.Context, in *callInput) (*api.Reply[wire.CallQuality], error) {
	return api.Show(viewQuality)(m.history.Wire(ctx, api.AccountOf(ctx), in.ID))
}

func viewQuality(w *history.Wire) wire.CallQuality {
	r := w.Quality
	if r == nil {
		return wire.CallQuality{}
	}
	return wire.CallQuality{Available: true, MOS: r.MOS, MOSMin: r.MOSMin,
		PacketsReceived: r.Received, PacketsLost: r.Lost, PacketsLate: r.Late, Loss: r.Loss, JitterMS: r.JitterMS,
		ConcealedMS: r.ConcealedMS, PacketsForeign: r.Foreign,
		PacketsSent: r.Sent, PacketsSentLate: r.SentLate, PacketsUnsent: r.Unsent, RemoteLoss: r.RemoteLoss, RemoteJitterMS: r.RemoteJitterMS, RTTMS: r.RTTMS, Encrypted: r.Encrypted}
}

func (m *calls) sip(ctx context.Context, in *callInput) (*api.Reply[wire.SIPTrace], error) {
	return api.Show(viewSIP)(m.history.Wire(ctx, api.AccountOf(ctx), in.ID))
}

func viewSIP(w *history.Wire) wire.SIPTrace {
	out := wire.SIPTrace{Data: []wire.SIPMessage{}, Dropped: w.Dropped}
	for _, t := range w.SIP {
		way := "received"
		if t.Sent {
			way = "sent"
		}
		out.Data = append(out.Data, wire.SIPMessage{At: t.At.UTC(), Direction: way, Transport: t.Transport, From: t.From, To: t.To, Message: t.Text})
	}
	return out
}

// Analyzed is c, which has ended, with its analysis.
func Analyzed(c *history.Call, a *aftercall.Analysis) (wire.CallAnalyzed, error) {
	v, err := viewAnalysis(a)
	return wire.CallAnalyzed{CallSummary: told(c, time.Time{}), Analysis: v}, err
}

func viewAnalysis(a *aftercall.Analysis) (wire.CallAnalysis, error) {
	v := wire.CallAnalysis{State: string(a.State), Summary: a.Summary, DoneAt: a.DoneAt, Reason: api.Some(a.Reason), Detail: api.Some(a.Detail)}
	if a.Data != nil {
		d := json.NewDecoder(bytes.NewReader(a.Data))
		d.UseNumber() // a float would lose digits
		if err := d.Decode(&v.Data); err != nil {
			return v, fmt.Errorf("analysis: %w", err)
		}
	}
	return v, nil
}

// analysisOf is the analysis of a call of the account; nil: it gets none.
func (m *calls) analysisOf(ctx context.Context, account, id string) (*wire.CallAnalysis, error) {
	a, err := aftercall.New(m.db).AnalysisOf(ctx, account, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := viewAnalysis(a)
	return &v, err
}

// recordingOf is the recording of a call of the account; nil: it was not recorded.
func (m *calls) recordingOf(ctx context.Context, account, id string) (*wire.CallRecording, error) {
	r, err := m.history.Recording(ctx, account, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := &wire.CallRecording{State: string(r.State), Duration: r.Length.Seconds(), Format: api.Some(r.Format), Bytes: r.Bytes, DeletedAt: r.DeletedAt,
		DeletedBy: api.Some(r.DeletedBy)}
	if r.DeletedBy == "" {
		v.ExpiresAt = &r.ExpiresAt
	}
	return v, nil
}

// Begun is c as it began. Nothing of it changes later.
func Begun(c *history.Call, answered bool) wire.CallBegun {
	b := wire.CallBegun{ID: c.ID, AgentID: c.Agent, Direction: string(c.Direction), From: c.From, To: c.To, CreatedAt: c.OpenedAt, Verstat: c.Verstat, Attested: c.Attestation,
		Headers: c.Headers, Origin: Origin(c.Origin), Metadata: c.Metadata}
	if answered {
		b.AnsweredAt = c.StartedAt
	}
	return b
}

// told is c in an event: a later attempt to deliver it says the same, whether the call is counted by then or not.
func told(c *history.Call, now time.Time) wire.CallSummary {
	s := summary(c, now)
	s.Wait = nil
	return s
}

// Over is c, which has ended.
func Over(c *history.Call) (wire.CallOver, error) {
	var turns []json.RawMessage
	if err := json.Unmarshal(c.Turns, &turns); err != nil {
		return wire.CallOver{}, fmt.Errorf("turns of %s: %w", c.ID, err)
	}
	return wire.CallOver{CallSummary: told(c, time.Time{}), TurnCount: len(turns)}, nil
}

// Summarized is c, which has ended, with a summary.
func Summarized(c *history.Call, text string) wire.CallSaid {
	return wire.CallSaid{CallSummary: told(c, time.Time{}), Summary: text}
}

// Detail is c with what was said in it, as events have it; now ends the duration of one that lasts.
func Detail(c *history.Call, now time.Time) (wire.CallDetail, error) {
	d := wire.CallDetail{CallSummary: told(c, now), Transcript: []wire.CallLine{}, Omitted: c.Omitted, Functions: []wire.CallFunction{}, Turns: []wire.CallTurn{}, Engines: wallet.ViewEngines(c.Engines), Asked: viewAsked(c.Asked)}
	for _, l := range c.Transcript {
		d.Transcript = append(d.Transcript, viewLine(l))
	}
	for i := range c.Functions {
		d.Functions = append(d.Functions, Function(&c.Functions[i]))
	}
	if err := json.Unmarshal(c.Turns, &d.Turns); err != nil {
		return d, fmt.Errorf("turns of %s: %w", c.ID, err)
	}
	return d, nil
}

func viewAsked(a *store.Asked) *wire.CallAsked {
	if a == nil {
		return nil
	}
	return &wire.CallAsked{WebhookID: a.Webhook, Outcome: string(a.Outcome), Status: a.Status, LatencyMS: a.TookMS, Error: api.Some(a.Failure)}
}

// Function is a function call as clients see it.
func Function(f *history.FunctionCall) wire.CallFunction {
	v := wire.CallFunction{ID: f.ID, Name: f.Name, Arguments: f.Arguments, RunBy: "server", Turn: f.Turn, StartMS: f.BeganMS, EndMS: f.EndedMS}
	if f.ByClient {
		v.RunBy = "client"
	}
	if f.Outcome != "" {
		v.Outcome, v.Result = &f.Outcome, &f.Result
	}
	return v
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
