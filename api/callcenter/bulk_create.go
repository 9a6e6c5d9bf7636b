package callcenter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/api"
	"parley/api/wire"
	"parley/billing/destination"
	"parley/store"
	"parley/store/campaign"
)

type newBatchInput struct {
	Key     string `header:"Idempotency-Key" doc:"Of your choice, up to 255 characters; makes it safe to send the request again." maxLength:"255" example:"reminders-42"`
	RawBody []byte
	Body    wire.NewBatch
}

const (
	onMachineContinue = "continue"
	// maxBatchName bounds a batch's name, in characters.
	maxBatchName = 200
	// maxAhead is how far ahead a call may be scheduled.
	maxAhead = 366 * 24 * time.Hour
)

func (s *bulk) create(ctx context.Context, in *newBatchInput) (*api.Reply[wire.BatchDetail], error) {
	w, err := planOf(&in.Body)
	if err != nil {
		return nil, err
	}
	p := api.PrincipalOf(ctx)
	w.Account, w.Key = p.Account, p.Key
	if a := api.AddressOf(ctx); a.IsValid() {
		w.IP = a.String()
	}
	return api.Found(once(ctx, s.db, store.IdempotencyKey{Account: p.Account, Route: "POST /callcenter/bulk-dial", Key: in.Key}, in.RawBody,
		func(first *store.IdempotencyKey) (*wire.BatchDetail, error) {
			id := ""
			if first != nil {
				id = first.Subject // a process began it and died: no second call is placed
			}
			if id == "" {
				var err error
				if id, err = s.queue(ctx, w, first); err != nil {
					return nil, err
				}
			}
			// It is queued, whether or not the client waits for the answer.
			return s.detail(context.WithoutCancel(ctx), p.Account, id)
		}))
}

// queue takes on a batch whose body is right.
func (s *bulk) queue(ctx context.Context, w *plan, first *store.IdempotencyKey) (id string, err error) {
	at, err := s.Check(ctx, w.Account, w.orders)
	if err != nil {
		return "", inRow(at, err)
	}
	hours, err := s.accountsWindow(ctx, w.Account)
	if err != nil {
		return "", err
	}
	w.within(hours)
	if err := w.schedule(s.db.Now()); err != nil {
		return "", err
	}
	if err := pace(s.rate, w.Account); err != nil {
		return "", err
	}
	id, err = campaign.New(s.db).CreateCampaign(ctx, w.Campaign, s.card(), first)
	if err == nil {
		s.Wake()
	}
	return id, err
}

// inRow says in which row the fault is.
func inRow(at int, err error) error {
	text := fmt.Sprintf("rows[%d]", at)
	if d := api.ProblemOf(err).Detail; d != "" {
		text += ": " + d
	}
	return api.Detail(err, text)
}

// plan is a batch whose body is right.
type plan struct {
	campaign.Campaign
	orders []Order
	times  []time.Time // when each is to be called; zero: at once
}

// planOf checks the body alone: what does not depend on the account.
func planOf(b *wire.NewBatch) (*plan, error) {
	switch {
	case len(b.Rows) > campaign.MaxCampaignRows:
		return nil, api.ErrBatchSize
	case len(b.Rows) == 0:
		return nil, api.Bad("rows: say whom to call")
	case utf8.RuneCountInString(b.Name) > maxBatchName || !utf8.ValidString(b.Name) || strings.ContainsFunc(b.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return nil, api.Bad("name: 200 characters at most, in one line")
	}
	if wrong := b.Metadata.Check(); wrong != "" {
		return nil, api.Bad("%s", wrong)
	}
	w := &plan{Campaign: campaign.Campaign{Name: strings.TrimSpace(b.Name), Metadata: b.Metadata, Rows: make([]campaign.CampaignRow, len(b.Rows))},
		orders: make([]Order, len(b.Rows)), times: make([]time.Time, len(b.Rows))}
	var err error
	for i, r := range b.Rows {
		call := wire.NewCall{From: b.From, To: r.To, AgentID: b.AgentID, Consent: b.Consent, Ring: b.Ring, Machine: b.Machine, Message: b.Message, Longest: b.Longest, Vars: r.Vars, Headers: r.Headers, Metadata: merged(b.Metadata, r.Metadata)}
		if r.From != "" {
			call.From = r.From
		}
		if r.AgentID != "" {
			call.AgentID = r.AgentID
		}
		if w.orders[i], err = orderOf(&call); err != nil {
			if i > 0 || call.From == "" || call.AgentID == "" || strings.TrimSpace(call.To) == "" {
				err = inRow(i, err)
			}
			return nil, err
		}
		if r.ScheduledAt == nil {
			continue
		}
		if w.times[i], err = time.Parse(time.RFC3339, *r.ScheduledAt); err != nil {
			return nil, inRow(i, api.Bad("scheduled_at: a time with its zone, such as 2026-11-23T10:00:00+01:00"))
		}
	}
	o := w.orders[0]
	if w.Retries, err = retriesOf(b.Retries); err != nil {
		return nil, err
	}
	w.Manner = campaign.Manner{RingTimeout: o.RingTimeout, MaxDuration: o.MaxDuration, OnMachine: o.OnMachine, Message: o.Message}
	if b.Window == nil {
		return w, nil
	}
	hours, err := readWindow("call_window", b.Window)
	w.within(hours)
	return w, err
}

// retriesOf checks the retry rules of a request. There is one rule for each outcome at most.
func retriesOf(given []wire.Retry) (rules []campaign.Retry, err error) {
	for i, r := range given {
		problem := ""
		switch {
		case !slices.Contains([]string{"no_answer", "busy", "rejected", "voicemail", "failed"}, r.On):
			problem = "on: no_answer, busy, rejected, voicemail or failed"
		case slices.ContainsFunc(rules, func(o campaign.Retry) bool { return o.On == r.On }):
			problem = "on: there are two rules for " + r.On
		case r.Attempts < 2 || r.Attempts > 10:
			problem = "attempts: from 2 to 10, the first call included"
		case r.After < 60 || r.After > 7*24*60*60:
			problem = "after_seconds: from 60 to 604800"
		}
		if problem != "" {
			return nil, api.Bad("retries[%d].%s", i, problem)
		}
		rules = append(rules, campaign.Retry(r))
	}
	return rules, nil
}

// merged is the metadata of a batch with that of one of its rows.
func merged(batch, row wire.Metadata) wire.Metadata {
	if len(batch) == 0 {
		return row
	}
	all := maps.Clone(batch)
	maps.Copy(all, row)
	return all
}

// within sets the time of day in which people are called; without one it stays as it is.
func (w *plan) within(hours *campaign.Window) {
	if hours != nil && w.Hours == nil {
		w.Hours, w.Zone = hours.Hours, hours.Zone
	}
}

// ByDestination is the zone of a window that goes by where the number called is.
const ByDestination = "destination"

// schedule makes the rows and says when each is due first.
func (w *plan) schedule(now time.Time) error {
	type question struct {
		at    time.Time
		zones string
	}
	answers := map[question]time.Time{}
	for i, o := range w.orders {
		row := campaign.CampaignRow{To: o.To, From: o.From, Agent: o.Agent, DueAt: now, Variables: o.Variables, Metadata: o.Metadata, Headers: o.Headers}
		if t := w.times[i]; !t.IsZero() {
			if t.After(now.Add(maxAhead)) {
				return inRow(i, api.Bad("scheduled_at: a year ahead at most"))
			}
			t = t.UTC().Truncate(time.Microsecond)
			row.ScheduledAt = &t
			if t.After(now) {
				row.DueAt = t
			}
		}
		if w.Hours != nil {
			if row.Zones = []string{w.Zone}; w.Zone == ByDestination {
				row.Zones = destination.Zones(o.To)
			}
			q := question{row.DueAt, strings.Join(row.Zones, " ")}
			due, known := answers[q]
			if !known {
				zones, err := Locations(row.Zones)
				if err != nil || len(zones) == 0 {
					return inRow(i, api.Bad("call_window: the time zone of this number is not known; name one"))
				}
				if due, known = w.Hours.Next(row.DueAt, zones); !known {
					return inRow(i, api.Bad("call_window: it is never within the window everywhere this number may be; name a time zone"))
				}
				answers[q] = due
			}
			row.DueAt = due
		}
		w.Rows[i] = row
	}
	return nil
}

// Locations are the time zones of those names.
func Locations(names []string) ([]*time.Location, error) {
	zones := make([]*time.Location, len(names))
	for i, name := range names {
		var err error
		if zones[i], err = time.LoadLocation(name); err != nil {
			return nil, err
		}
	}
	return zones, nil
}
