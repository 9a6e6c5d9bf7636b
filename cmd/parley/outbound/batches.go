package outbound

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/cmd/parley/conversation"
	"parley/media/isolate"
	"parley/pipeline/session"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/campaign"
	"parley/store/ledger"
)

const (
	// batchTick is how often a node looks for rows that are due, besides when it has
	// reason to, while there are some.
	batchTick = time.Second
	// quietFor is how long it leaves them alone when none will be due within that time: hints
	// tell of new ones, and looks of those that no hint has told of.
	quietFor = time.Minute
	// expireEvery is how often rows are looked for whose day is over.
	expireEvery = time.Minute
	// maxClaims is how many rows a node takes at once: what it does not get to dial
	// others could have dialled.
	maxClaims = 50
	// placeWait is how long a claimed row waits for its trunk before it is given back.
	// The lease of its claim is longer.
	placeWait = 10 * time.Second
	// tryAgain is when a row is tried again that had no balance.
	tryAgain = time.Minute
	// rest is how long a node leaves rows to others that cannot take calls.
	rest = 2 * time.Second
	// returnPatience is for giving a row back when the node stops.
	returnPatience = 3 * time.Second
)

// Batches dials what was queued in bulk. Each node runs one; the database decides which of them
// dials a row.
type Batches struct {
	rows    *campaign.Store
	dialler *Dialler
	life    store.Node
	counts  *api.Counts
	wake    chan struct{}
	quiet   time.Duration // is quietFor

	mu      sync.Mutex
	resting time.Time // until then others may have the rows
}

// NewBatches dials the rows of batches by a dialler, for this life of the node. Refused rows are
// counted.
func NewBatches(rows *campaign.Store, dialler *Dialler, life store.Node, counts *api.Counts) *Batches {
	return &Batches{rows: rows, dialler: dialler, life: life, counts: counts, wake: make(chan struct{}, 1), quiet: quietFor}
}

// Wake implements callcenter.Batches. Nil Batches have nothing to do.
func (b *Batches) Wake() {
	if b == nil {
		return
	}
	select {
	case b.wake <- struct{}{}:
	default: // it will look
	}
}

// Check implements callcenter.Batches: first all numbers, then all agents, then all
// destinations, as the order of refusals wants it.
func (b *Batches) Check(ctx context.Context, account string, orders []callcenter.Order) (at int, err error) {
	for _, check := range b.dialler.checks(ctx, account) {
		for i := range orders {
			if err := check(&orders[i]); err != nil {
				return i, err
			}
		}
	}
	return 0, nil
}

// CheckEach implements callcenter.Batches.
func (b *Batches) CheckEach(ctx context.Context, account string, orders []callcenter.Order) ([]error, error) {
	checks, refused := b.dialler.checks(ctx, account), make([]error, len(orders))
	for i := range orders {
		for _, check := range checks {
			if refused[i] = check(&orders[i]); refused[i] != nil {
				break
			}
		}
	}
	return refused, ctx.Err()
}

// checks are those of an order's number, its agent and its destination. Each number and each
// agent of many orders is looked up once.
func (d *Dialler) checks(ctx context.Context, account string) [3]func(*callcenter.Order) error {
	type answer struct {
		own string
		err error
	}
	type spoken struct {
		plan conversation.Plan
		err  error
	}
	nearest := d.nearest(ctx, account, nil) // a number that rests now may call when the row is due
	callers, speakers := map[string]answer{}, map[string]spoken{}
	return [3]func(*callcenter.Order) error{
		func(o *callcenter.Order) error {
			if o.From == callcenter.Nearest {
				own, err := nearest(o.To)
				if err == nil {
					o.From = own.E164
				}
				return err
			}
			from, known := callers[o.From]
			if !known {
				var line Line
				line, from.err = d.caller(ctx, account, o.From, o.To)
				from.own = line.Number
				callers[o.From] = from
			}
			if from.err == nil {
				o.From = from.own
			}
			return from.err
		},
		func(o *callcenter.Order) error {
			who, known := speakers[o.Agent]
			if !known {
				var stored *store.Agent
				if stored, who.err = d.speaker(ctx, account, o.Agent); who.err == nil {
					who.plan = conversation.PlanOf(stored, d.Log)
				}
				speakers[o.Agent] = who
			}
			if who.err != nil {
				return who.err
			}
			return who.plan.Check(o.Variables)
		},
		func(o *callcenter.Order) error {
			to, err := d.Destinations.check(o.To)
			if err == nil {
				o.To = to.E164
			}
			return err
		},
	}
}

// Run dials rows as they become due, until ctx ends. Calls that have begun go on.
func (b *Batches) Run(ctx context.Context) error {
	var rows sync.WaitGroup
	defer rows.Wait()
	b.rows.Hints().On(store.HintRows, b.Wake)
	b.rows.LookForRows()
	tick := time.NewTicker(batchTick)
	defer tick.Stop()
	var expired, quiet time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.wake:
		case <-tick.C:
			if time.Now().Before(quiet) {
				continue
			}
		}
		isolate.Do("cmd/parley/outbound/batches", nil, func() {
			now := b.dialler.Store.Now()
			if now.Sub(expired) >= expireEvery {
				expired = now
				b.expire(ctx)
			}
			if !b.rested(now) {
				return
			}
			quiet = time.Time{}
			if soon, err := b.rows.RowsWithin(ctx, b.quiet); err == nil && !soon {
				quiet = time.Now().Add(b.quiet)
				return
			}
			for _, line := range b.due(ctx) {
				rows.Add(1)
				left := line
				isolate.Go("cmd/parley/outbound/rows", nil, func() { b.dialAll(ctx, &left) }, func() {
					for i := range left { // after a panic
						b.giveBack(ctx, &left[i], b.dialler.Store.Now().Add(rest), "", "")
					}
				}, rows.Done)
			}
		})
	}
}

func (b *Batches) rested(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.After(b.resting)
}

// due claims rows; those from one number belong together, for they share a trunk. A node
// that drains claims none: it would refuse them, and others can take them now.
func (b *Batches) due(ctx context.Context) (lines [][]campaign.ClaimedRow) {
	if b.dialler.Calls.Draining() {
		return nil
	}
	rows, err := b.rows.ClaimRows(ctx, b.life, b.dialler.Destinations.Card().Wallet(), maxClaims)
	if err != nil {
		b.dialler.Log.Warn("rows of batches are not dialled now", "err", err)
		return nil
	}
	for _, r := range rows {
		i := slices.IndexFunc(lines, func(l []campaign.ClaimedRow) bool { return l[0].From == r.From })
		if i < 0 {
			i, lines = len(lines), append(lines, nil)
		}
		lines[i] = append(lines[i], r)
	}
	return lines
}

// expire fails rows that could not be dialled for a day.
func (b *Batches) expire(ctx context.Context) {
	p := api.ProblemOf(store.ErrConcurrency)
	n, err := b.rows.ExpireRows(ctx, p.Code, "There was no line for this call within 24 hours of its time.")
	if err != nil {
		b.dialler.Log.Warn("rows of batches do not expire now", "err", err)
	}
	if n > 0 {
		b.dialler.Log.Info("calls of batches could not be placed within a day", "rows", n)
	}
}

// dialAll dials claimed rows, one after another as their trunk has places, and takes each
// off the list.
func (b *Batches) dialAll(ctx context.Context, rows *[]campaign.ClaimedRow) {
	for until := time.Now().Add(placeWait); len(*rows) > 0; *rows = (*rows)[1:] {
		b.dialClaimed(ctx, &(*rows)[0], until)
	}
}

func (b *Batches) dialClaimed(ctx context.Context, r *campaign.ClaimedRow, until time.Time) {
	if opens, open := open(r, b.dialler.Store.Now()); !open {
		b.giveBack(ctx, r, opens, "", "")
		return
	}
	var place *trunk.Reservation
	ok := true
	if line, err := b.dialler.caller(ctx, r.Account, r.From, r.To); err == nil { // an error is for the call to find out
		place, ok = b.takePlace(ctx, line.Caller, until)
	}
	if !ok {
		b.giveBack(ctx, r, r.DueAt, "", "")
		return
	}
	dialled := false
	defer func() {
		if !dialled {
			place.Free()
		}
	}()
	if err := b.dialRow(ctx, r, place); err != nil {
		b.refused(ctx, r, err)
		return
	}
	dialled = true
}

// open says whether the callee's clock allows a call now, and if not when it will.
func open(r *campaign.ClaimedRow, now time.Time) (opens time.Time, ok bool) {
	if r.Manner.Hours == nil {
		return now, true
	}
	zones, err := callcenter.Locations(r.Zones)
	if err != nil { // known when the row was queued: an hour will bring another node, or version
		return now.Add(time.Hour), false
	}
	opens, ok = r.Manner.Hours.Next(now, zones)
	if !ok {
		opens = now.Add(time.Hour)
	}
	return opens, ok && opens.Equal(now)
}

// takePlace waits for a place on the trunk; false: there is none in time. No trunk at
// all is for the call to find out.
func (b *Batches) takePlace(ctx context.Context, from trunk.Caller, until time.Time) (*trunk.Reservation, bool) {
	for {
		place, wait := b.dialler.Phone.Reserve(from)
		if place != nil || wait == 0 {
			return place, ctx.Err() == nil || place == nil
		}
		if time.Now().Add(wait).After(until) {
			return nil, false
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, false
		}
	}
}

// dialRow is a single call, as Dial makes it.
func (b *Batches) dialRow(ctx context.Context, r *campaign.ClaimedRow, place *trunk.Reservation) error {
	m := r.Manner
	placed, err := b.dialler.dial(ctx, api.Principal{Account: r.Account, Key: m.Key}, callcenter.Order{From: r.From, To: r.To, Agent: r.Agent,
		RingTimeout: m.RingTimeout, MaxDuration: m.MaxDuration, OnMachine: m.OnMachine, Message: m.Message, IP: m.IP, Variables: r.Variables, Metadata: r.Metadata, Headers: r.Headers}, &r.RowClaim, place)
	if err == nil {
		b.dialler.Log.Debug("a call of a batch begins", "batch", r.Campaign, "row", r.ID, "session", placed.CallID)
	}
	return err
}

// refused handles a row that was not dialled: it waits for a line or for balance, is left to
// other nodes, or fails.
func (b *Batches) refused(ctx context.Context, r *campaign.ClaimedRow, err error) {
	p := api.ProblemOf(err)
	now := b.dialler.Store.Now()
	switch {
	case errors.Is(err, store.ErrClaimLost): // paused, cancelled, or another's
		b.giveBack(ctx, r, r.DueAt, "", "")
	case errors.Is(err, store.ErrConcurrency): // it is claimed again when a line is free
		b.giveBack(ctx, r, now.Add(rest), p.Code, p.Message)
	case errors.Is(err, store.ErrPace):
		due := now.Add(tryAgain)
		if paced, ok := errors.AsType[*ledger.Paced](err); ok {
			due = paced.Until
		}
		b.giveBack(ctx, r, due, p.Code, p.Message)
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrTopupRequired), errors.Is(err, store.ErrSpending):
		b.giveBack(ctx, r, now.Add(tryAgain), p.Code, p.Message)
	case errors.Is(err, session.ErrDraining), errors.Is(err, session.ErrFull), errors.Is(err, store.ErrFenced),
		errors.Is(err, store.ErrUnavailable), ctx.Err() != nil:
		b.mu.Lock()
		b.resting = now.Add(rest)
		b.mu.Unlock()
		b.giveBack(ctx, r, r.DueAt, "", "")
	case p.Status >= 500 || p.Retryable:
		b.dialler.Log.Error("a call of a batch could not begin", "batch", r.Campaign, "row", r.ID, "err", err)
		b.giveBack(ctx, r, now.Add(tryAgain), p.Code, p.Message)
	default:
		b.counts.Refuse(err)
		message := p.Message
		if p.Detail != "" {
			message += " " + p.Detail
		}
		if err := b.rows.FailRow(ctx, r, p.Code, message); err != nil {
			b.dialler.Log.Warn("a refused call of a batch was not stored", "row", r.ID, "err", err) // its claim runs out
		}
	}
}

// giveBack returns a row, for any node to claim. When that fails the claim runs out.
func (b *Batches) giveBack(ctx context.Context, r *campaign.ClaimedRow, due time.Time, code, message string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnPatience)
	defer cancel()
	if err := b.rows.ReturnRow(ctx, r, due, code, message); err != nil {
		b.dialler.Log.Warn("a call of a batch was not given back", "row", r.ID, "err", err)
	}
}
