package node

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/people"
)

// The calls of the demonstration took place once, on a server with the embedded engines;
// TestRecordDemonstration holds them again. They are entered into the history as any call
// is, and marked as what they are.
//
//go:embed demonstration/calls.json demonstration/*.ogg
var demonstrationFiles embed.FS

const (
	// demoBatch is the batch of which the calls that were placed are. Its other rows wait
	// for somebody to go on with it.
	demoBatch = "Call-backs (demonstration)"
	// demoAgo is how long before the first start of a server its calls have ended.
	demoAgo = 2 * time.Minute
	// demoVersion is that of the agent which spoke.
	demoVersion = 1
)

// demoWaiting are the rows of the batch that were not dialled: a machine, and somebody who
// is busy.
var demoWaiting = []string{"+12025550104", "+12025550101"}

// recordedCall is a call as it was where it took place.
type recordedCall struct {
	Name      string           `json:"name"` // of its audio, too
	Terms     billing.Terms    `json:"terms"`
	From      string           `json:"from"`
	To        string           `json:"to"`
	OpenedAt  time.Time        `json:"opened_at"`
	RangAt    *time.Time       `json:"rang_at"`
	StartedAt time.Time        `json:"started_at"`
	EndedAt   time.Time        `json:"ended_at"`
	Reason    string           `json:"reason"`
	Detail    string           `json:"detail"`
	Usage     map[string]int64 `json:"usage"` // by component
	history.Conversation
	Wire    history.Wire `json:"wire"`
	Summary string       `json:"summary"`
	Rate    int          `json:"rate"`      // of the audio, samples a second
	Length  int64        `json:"length_ms"` // of the audio
	Peaks   []byte       `json:"peaks"`
}

// recordedCalls are the calls of the demonstration, as if the last had ended then.
func recordedCalls(end time.Time) ([]recordedCall, error) {
	text, err := demonstrationFiles.ReadFile("demonstration/calls.json")
	if err != nil {
		return nil, err
	}
	var calls []recordedCall
	if err := json.Unmarshal(text, &calls); err != nil {
		return nil, err
	}
	var last time.Time
	for _, c := range calls {
		if c.EndedAt.After(last) {
			last = c.EndedAt
		}
	}
	for i := range calls {
		calls[i].move(end.Sub(last))
	}
	return calls, nil
}

// move moves all times of a call.
func (c *recordedCall) move(by time.Duration) {
	times := []*time.Time{&c.OpenedAt, c.RangAt, &c.StartedAt, &c.EndedAt}
	if c.Log != nil {
		times = append(times, &c.Log.At)
		for i := range c.Log.Events {
			times = append(times, &c.Log.Events[i].At)
		}
	}
	for i := range c.Wire.SIP {
		times = append(times, &c.Wire.SIP[i].At)
	}
	for _, t := range times {
		if t != nil {
			*t = t.Add(by).Truncate(time.Microsecond) // as the store keeps it
		}
	}
}

// seedHistory adds what is missing of the recorded calls and the batch. Where there is no
// simulated carrier nobody was called, and none waits to be. An account that may not make
// calls, because its balance is used up, say, goes without.
func (n *Node) seedHistory(ctx context.Context, d Demo, now time.Time) error {
	calls, err := recordedCalls(now.Add(-demoAgo))
	if err != nil {
		return fmt.Errorf("recorded calls: %w", err)
	}
	have, err := ledger.New(n.db).Demonstrations(ctx, d.Account)
	if err != nil {
		return err
	}
	rows := map[string]string{}
	if n.network != nil && len(have) < len(calls) {
		if rows, err = n.seedBatch(ctx, d, calls, now); err != nil {
			return n.without(err)
		}
	}
	for i := range calls {
		c := &calls[i]
		id, done := have[c.Name]
		if !done {
			row := rows[c.To]
			if c.Terms.Kind == billing.Outbound && row == "" {
				continue
			}
			if id, err = ledger.New(n.db).AddDemonstration(ctx, c.of(n, d, row), now); err != nil {
				return n.without(err)
			}
		}
		if err := n.seedRecording(ctx, d.Account, id, c); err != nil {
			return err
		}
	}
	return nil
}

// without says that the calls are not there when that is no fault.
func (n *Node) without(err error) error {
	for _, why := range []error{store.ErrInsufficientBalance, store.ErrTopupRequired, store.ErrDisputed, store.ErrSuspended, store.ErrSpending, store.ErrConcurrency,
		store.ErrDoNotCall, store.ErrClaimLost, store.ErrCampaigns, billing.ErrNoPrice} {
		if errors.Is(err, why) {
			n.log.Info("the demonstration goes without its recorded calls", "err", err)
			return nil
		}
	}
	return err
}

// seedBatch makes the batch, paused, or finds it, and returns its rows that were not
// dialled, by the number called.
func (n *Node) seedBatch(ctx context.Context, d Demo, calls []recordedCall, now time.Time) (map[string]string, error) {
	batches, err := campaign.New(n.db).Campaigns(ctx, d.Account, store.Page{})
	if err != nil {
		return nil, err
	}
	id := ""
	for _, b := range batches {
		if b.Name == demoBatch {
			id = b.ID
		}
	}
	if id == "" {
		if id, err = n.queueBatch(ctx, d, calls, now); err != nil {
			return nil, err
		}
	}
	batch, err := campaign.New(n.db).Campaign(ctx, d.Account, id)
	if err != nil {
		return nil, err
	}
	rows := map[string]string{}
	for _, r := range batch.Rows {
		if r.Status == campaign.RowPending {
			rows[r.To] = r.ID
		}
	}
	return rows, nil
}

func (n *Node) queueBatch(ctx context.Context, d Demo, calls []recordedCall, now time.Time) (id string, err error) {
	p, err := people.New(n.db).Authenticate(ctx, d.Key)
	if err != nil {
		return "", err
	}
	b := campaign.Campaign{Account: d.Account, Name: demoBatch, State: campaign.CampaignPaused, Manner: campaign.Manner{Key: p.Key, OnMachine: "message", Message: demoMessage}}
	var to []string
	queued := now
	for _, c := range calls {
		if c.Terms.Kind == billing.Outbound {
			to = append(to, c.To)
			queued = earlier(queued, c.OpenedAt.Add(-time.Minute))
		}
	}
	for _, number := range to {
		b.Rows = append(b.Rows, campaign.CampaignRow{To: number, From: d.Second, Agent: d.Agent, DueAt: queued})
	}
	for _, number := range demoWaiting {
		b.Rows = append(b.Rows, campaign.CampaignRow{To: number, From: d.Second, Agent: d.Caller, DueAt: queued})
	}
	return campaign.New(n.db).CreateCampaign(ctx, b, n.RateCard(), nil, queued)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// demoMessage is what answering machines are told.
const demoMessage = "This is Casa Lola. You asked us to call you back. We will try again tomorrow. Goodbye."

// of is the call as one of the account's.
func (c *recordedCall) of(n *Node, d Demo, row string) ledger.Demonstration {
	var used billing.Usage
	for i := range used {
		used[i] = c.Usage[billing.Component(i).String()]
	}
	return ledger.Demonstration{
		Name:  c.Name,
		Start: ledger.Start{Node: n.life, Account: d.Account, Terms: c.Terms, Card: n.RateCard(), Agent: d.Agent, AgentVersion: demoVersion, From: c.From, To: c.To},
		RowID: row, Summary: c.Summary, OpenedAt: c.OpenedAt, RangAt: c.RangAt, EndedAt: c.EndedAt,
		Closing: ledger.Closing{Reason: c.Reason, Detail: c.Detail, StartedAt: c.StartedAt, Usage: used},
		Fill: func(ctx context.Context, tx pgx.Tx, id string) error {
			return history.Fill(ctx, tx, d.Account, id, c.Conversation, c.Wire)
		},
	}
}

// seedRecording keeps the audio of a call, unless that was done or it was deleted since.
func (n *Node) seedRecording(ctx context.Context, account, id string, c *recordedCall) error {
	switch r, err := history.New(n.db).Recording(ctx, account, id); {
	case err == nil && r.State != history.RecordingEncodes:
		return nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	}
	audio, err := demonstrationFiles.ReadFile("demonstration/" + c.Name + ".ogg")
	if err != nil {
		return err
	}
	return n.records.Import(ctx, history.Recording{Account: account, Call: id, Rate: c.Rate,
		Length: time.Duration(c.Length) * time.Millisecond, Peaks: c.Peaks}, audio)
}
