package demo

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
)

//go:embed recorded/calls.json recorded/*.ogg
var recorded embed.FS

const (
	// batchName is the batch that has the outbound calls. Its other rows wait until it is resumed.
	batchName = "Call-backs (demonstration)"
	// ago is how long before the first start of a server its calls have ended.
	ago = 2 * time.Minute
	// version is that of the agent which spoke.
	version = 1
)

// waiting are the numbers of the batch that were not dialled: an answering machine, and a busy line.
var waiting = []string{"+12025550104", "+12025550101"}

// Call is a call as it took place.
type Call struct {
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
func recordedCalls(end time.Time) ([]Call, error) {
	text, err := recorded.ReadFile("recorded/calls.json")
	if err != nil {
		return nil, err
	}
	var calls []Call
	if err := json.Unmarshal(text, &calls); err != nil {
		return nil, err
	}
	last := slices.MaxFunc(calls, func(a, b Call) int { return a.EndedAt.Compare(b.EndedAt) }).EndedAt
	for i := range calls {
		calls[i].move(end.Sub(last))
	}
	return calls, nil
}

// move moves all times of a call.
func (c *Call) move(by time.Duration) {
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
func (s *Seeder) seedHistory(ctx context.Context, d *Account, now time.Time) error {
	calls, err := recordedCalls(now.Add(-ago))
	if err != nil {
		return fmt.Errorf("recorded calls: %w", err)
	}
	have, err := s.Ledger.Demonstrations(ctx, d.ID)
	if err != nil {
		return err
	}
	rows := map[string]string{}
	if s.Network && len(have) < len(calls) {
		if rows, err = s.seedBatch(ctx, d, calls, now); err != nil {
			return s.without(err)
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
			if id, err = s.Ledger.AddDemonstration(ctx, c.of(s, d, row)); err != nil {
				return s.without(err)
			}
		}
		if err := s.seedRecording(ctx, d.ID, id, c); err != nil {
			return err
		}
	}
	return nil
}

// without says that the calls are not there when that is no fault.
func (s *Seeder) without(err error) error {
	for _, why := range []error{store.ErrInsufficientBalance, store.ErrTopupRequired, store.ErrDisputed, store.ErrSuspended, store.ErrSpending, store.ErrConcurrency,
		store.ErrDoNotCall, store.ErrClaimLost, store.ErrCampaigns, billing.ErrNoPrice} {
		if errors.Is(err, why) {
			s.Log.Info("the demonstration goes without its recorded calls", "err", err)
			return nil
		}
	}
	return err
}

// seedBatch makes the batch, paused, or finds it, and returns its rows that were not
// dialled, by the number called.
func (s *Seeder) seedBatch(ctx context.Context, d *Account, calls []Call, now time.Time) (map[string]string, error) {
	batches, err := s.Campaigns.Campaigns(ctx, d.ID, store.Page{})
	if err != nil {
		return nil, err
	}
	id := ""
	for _, b := range batches {
		if b.Name == batchName {
			id = b.ID
		}
	}
	if id == "" {
		if id, err = s.queueBatch(ctx, d, calls, now); err != nil {
			return nil, err
		}
	}
	batch, err := s.Campaigns.Campaign(ctx, d.ID, id)
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

func (s *Seeder) queueBatch(ctx context.Context, d *Account, calls []Call, now time.Time) (id string, err error) {
	p, err := s.Keys.Authenticate(ctx, d.Key)
	if err != nil {
		return "", err
	}
	b := campaign.Campaign{Account: d.ID, Name: batchName, State: campaign.CampaignPaused, Manner: campaign.Manner{Key: p.Key, OnMachine: "message", Message: MachineMessage}}
	var to []string
	queued := now
	for _, c := range calls {
		if c.Terms.Kind == billing.Outbound {
			to = append(to, c.To)
			if before := c.OpenedAt.Add(-time.Minute); before.Before(queued) {
				queued = before
			}
		}
	}
	b.CreatedAt = queued
	for _, number := range to {
		b.Rows = append(b.Rows, campaign.CampaignRow{To: number, From: d.Second, Agent: d.Agent, DueAt: queued})
	}
	for _, number := range waiting {
		b.Rows = append(b.Rows, campaign.CampaignRow{To: number, From: d.Second, Agent: d.Caller, DueAt: queued})
	}
	return s.Campaigns.CreateCampaign(ctx, b, s.Store.RateCard(), nil)
}

// MachineMessage is left on answering machines.
const MachineMessage = "This is Casa Lola. You asked us to call you back. We will try again tomorrow. Goodbye."

// of is the call as one of the account's.
func (c *Call) of(n *Seeder, d *Account, row string) ledger.Demonstration {
	var used billing.Usage
	for i := range used {
		used[i] = c.Usage[billing.Component(i).String()]
	}
	return ledger.Demonstration{
		Name:  c.Name,
		Start: ledger.Start{Node: n.Life, Account: d.ID, Terms: c.Terms, Card: n.Store.RateCard(), Agent: d.Agent, AgentVersion: version, From: c.From, To: c.To},
		RowID: row, Summary: c.Summary, OpenedAt: c.OpenedAt, RangAt: c.RangAt, EndedAt: c.EndedAt,
		Closing: ledger.Closing{Reason: c.Reason, Detail: c.Detail, StartedAt: c.StartedAt, Usage: used},
		Fill: func(ctx context.Context, tx pgx.Tx, id string) error {
			return history.Fill(ctx, tx, d.ID, id, c.Conversation, c.Wire)
		},
	}
}

// seedRecording keeps the audio of a call, unless that was done or it was deleted since.
func (s *Seeder) seedRecording(ctx context.Context, account, id string, c *Call) error {
	switch r, err := s.History.Recording(ctx, account, id); {
	case err == nil && r.State != history.RecordingEncodes:
		return nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	}
	audio, err := recorded.ReadFile("recorded/" + c.Name + ".ogg")
	if err != nil {
		return err
	}
	return s.Recordings.Import(ctx, history.Recording{Account: account, Call: id, Rate: c.Rate,
		Length: time.Duration(c.Length) * time.Millisecond, Peaks: c.Peaks}, audio)
}
