package callcenter

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
	"parley/store"
	"parley/store/campaign"
)

// MountBulkTools adds the routes of batches around their dialling: what is wrong with one
// before it is queued, and its results as a file.
func MountBulkTools(a *api.API, db *store.DB, files *export.Sender, card func() *billing.RateCard, b Batches) {
	s := &bulk{Batches: b, db: db, card: card, rate: api.NewBuckets(queueEvery, queueBurst)}
	api.Register(a, callRoutes.Post("/callcenter/bulk-dial/check", "check-batch", "Check a batch before it is queued",
		"Takes what `POST /callcenter/bulk-dial` takes, and says of every row whether it would be refused and why, when it would be called first, and what a minute costs. "+
			"Nothing is queued and nobody is called, and `consent_confirmed` may be left out. What is wrong with the batch as a whole refuses the request, as it would when it is queued.").OwnChecks().Within(maxBatch), s.check)
	s.mountResults(a, files)
}

// check says what an account's batch would come to if it were queued now. An error is about the
// batch as a whole.
func (s *bulk) check(ctx context.Context, in *struct{ Body wire.NewBatch }) (*api.Reply[wire.BatchCheck], error) {
	account := api.AccountOf(ctx)
	if err := pace(s.rate, account); err != nil {
		return nil, err
	}
	n, card := in.Body, s.card()
	n.Consent = json.RawMessage("true") // it is asked for when calls are
	alone := n
	alone.Rows = []wire.NewRow{{To: "+12025550100", From: "+12025550100", AgentID: "ag_0"}}
	switch _, err := planOf(&alone); {
	case len(n.Rows) == 0, len(n.Rows) > campaign.MaxCampaignRows:
		_, err = planOf(&n)
		return nil, err
	case err != nil:
		return nil, err
	}
	rows, err := s.checkRows(ctx, account, alone, n.Rows)
	if err != nil {
		return nil, err
	}
	c := wire.BatchCheck{Rows: make([]wire.RowCheck, len(rows))}
	var sum billing.Money
	seen := map[string]int{}
	for i, r := range rows {
		row := wire.RowCheck{Row: i, To: r.to}
		price, err := r.price(card)
		if err != nil {
			p := api.ProblemOf(err)
			if p.Status >= http.StatusInternalServerError {
				return nil, err
			}
			detail := strings.TrimPrefix(strings.TrimPrefix(p.Detail, "rows[0]"), ": ")
			row.Error = &wire.RowFault{Code: p.Code, Message: p.Message, Detail: detail}
			c.Wrong++
		} else {
			row.OK, row.DueAt, row.PerMinute = true, &r.due, (*wire.USD)(&price)
			sum += price
			c.Good++
		}
		if first, twice := seen[row.To]; twice {
			row.DuplicateOf = &first
		} else if row.To != "" {
			seen[row.To] = i
		}
		c.Rows[i] = row
	}
	c.PerMinute = wire.USD(sum)
	return api.Body(c), nil
}

// checkedRow is a row on its way through the checks.
type checkedRow struct {
	to    string
	due   time.Time
	wrong error // the first that was found; nil: none
}

// checkRows checks each row as a batch of its own, all but queued. What has to be asked of
// the database is asked for all rows at once. alone is a batch of one row.
func (s *bulk) checkRows(ctx context.Context, account string, alone wire.NewBatch, given []wire.NewRow) ([]checkedRow, error) {
	rows, planned := make([]checkedRow, len(given)), make([]*plan, len(given))
	var orders []Order
	var at []int // the rows of orders
	for i, r := range given {
		rows[i].to = strings.TrimSpace(r.To)
		alone.Rows = given[i : i+1]
		if planned[i], rows[i].wrong = planOf(&alone); rows[i].wrong == nil {
			orders, at = append(orders, planned[i].orders[0]), append(at, i)
		}
	}
	refused, err := s.CheckEach(ctx, account, orders)
	if err != nil {
		return nil, err
	}
	hours, err := s.accountsWindow(ctx, account)
	if err != nil {
		return nil, err
	}
	var numbers []string
	for k, i := range at {
		if rows[i].wrong = refused[k]; rows[i].wrong != nil {
			continue
		}
		rows[i].to, planned[i].orders[0] = orders[k].To, orders[k]
		planned[i].within(hours)
		if rows[i].wrong = planned[i].schedule(s.db.Now()); rows[i].wrong == nil {
			rows[i].due = planned[i].Rows[0].DueAt
			numbers = append(numbers, rows[i].to)
		}
	}
	listed, err := s.db.NotToCall(ctx, account, numbers)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].wrong == nil && slices.Contains(listed, rows[i].to) {
			rows[i].wrong = store.ErrDoNotCall
		}
	}
	return rows, nil
}

// price is what a minute of the row's call costs, or why it is refused.
func (r *checkedRow) price(card *billing.RateCard) (billing.Money, error) {
	if r.wrong != nil {
		return 0, r.wrong
	}
	to, err := destination.ClassifyFictional(r.to) // what may be called was decided above
	if err != nil {
		return 0, api.Detail(api.ErrDestination, err.Error())
	}
	tariff, err := card.Tariff(to.Terms())
	if err != nil {
		return 0, err
	}
	bill, err := tariff.Price(billing.Usage{billing.AgentTime: minute, billing.LineTime: minute})
	return bill.Total(), err
}

// minute is one, in the milliseconds of usage.
const minute = 60_000
