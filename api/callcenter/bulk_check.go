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

// RowCheck is what a row of a batch comes to.
type RowCheck struct {
	Row         int        `json:"row" doc:"Its place, counted from 0." example:"3"`
	To          string     `json:"to" doc:"The number in international format; as it was sent when it is none." example:"+34612345678"`
	OK          bool       `json:"ok" doc:"Whether it would be called."`
	Error       *RowFault  `json:"error,omitempty" doc:"Why not."`
	DueAt       *time.Time `json:"due_at" doc:"When it would be called at the earliest, given a free line; null when it would not."`
	PerMinute   *wire.USD  `json:"per_minute" nullable:"true" doc:"Line and agent, without the language model's tokens; null when it would not be called."`
	DuplicateOf *int       `json:"duplicate_of" nullable:"true" doc:"An earlier row with the same number: it would be called twice. Null: there is none." example:"1"`
}

// RowFault is why a row would be refused.
type RowFault struct {
	Code    string `json:"code" doc:"As the request for the batch would be refused with, or the call." example:"callcenter.destination_not_allowed"`
	Message string `json:"error" doc:"The same for people." example:"This number cannot be called."`
	Detail  string `json:"detail,omitempty" doc:"What exactly, where there is more to say."`
}

// BatchCheck is what a batch comes to.
type BatchCheck struct {
	Rows  []RowCheck `json:"rows" doc:"All rows, in their order." nullable:"false"`
	Good  int        `json:"good" doc:"How many would be called." example:"498"`
	Wrong int        `json:"wrong" doc:"How many would not: as long as there is one, the batch is refused." example:"2"`
	// PerMinute is the sum over the good rows.
	PerMinute wire.USD `json:"per_minute" doc:"What it costs when all who would be called talk for a minute each; every started minute of a line counts."`
}

type batchCheckOutput struct{ Body BatchCheck }

func (s *bulk) check(ctx context.Context, in *struct{ Body NewBatch }) (*batchCheckOutput, error) {
	account := api.AccountOf(ctx)
	if err := pace(s.rate, account); err != nil {
		return nil, err
	}
	c, err := CheckBatch(ctx, s.db, s.card(), s.Batches, account, in.Body)
	if err != nil {
		return nil, err
	}
	return &batchCheckOutput{*c}, nil
}

// CheckBatch says what an account's batch would come to if it were queued now. An error
// is about the batch as a whole.
func CheckBatch(ctx context.Context, db *store.DB, card *billing.RateCard, b Batches, account string, n NewBatch) (*BatchCheck, error) {
	n.Consent = json.RawMessage("true") // it is asked for when calls are
	alone := n
	alone.Rows = []NewRow{{To: "+12025550100", From: "+12025550100", AgentID: "ag_0"}}
	switch _, err := alone.check(); {
	case len(n.Rows) == 0, len(n.Rows) > campaign.MaxCampaignRows:
		_, err = n.check()
		return nil, err
	case err != nil:
		return nil, err
	}
	rows, err := checkRows(ctx, db, b, account, alone, n.Rows)
	if err != nil {
		return nil, err
	}
	c := &BatchCheck{Rows: make([]RowCheck, len(rows))}
	var sum billing.Money
	seen := map[string]int{}
	for i, r := range rows {
		row := RowCheck{Row: i, To: r.to}
		price, err := r.price(card)
		if err != nil {
			p := api.ProblemOf(err)
			if p.Status >= http.StatusInternalServerError {
				return nil, err
			}
			detail := strings.TrimPrefix(strings.TrimPrefix(p.Detail, "rows[0]"), ": ")
			row.Error = &RowFault{p.Code, p.Message, detail}
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
	return c, nil
}

// checkedRow is a row on its way through the checks.
type checkedRow struct {
	to    string
	due   time.Time
	wrong error // the first that was found; nil: none
}

// checkRows checks each row as a batch of its own, all but queued. What has to be asked of
// the database is asked for all rows at once. alone is a batch of one row.
func checkRows(ctx context.Context, db *store.DB, b Batches, account string, alone NewBatch, given []NewRow) ([]checkedRow, error) {
	rows, planned := make([]checkedRow, len(given)), make([]*plan, len(given))
	var orders []Order
	var at []int // the rows of orders
	for i, r := range given {
		rows[i].to = strings.TrimSpace(r.To)
		alone.Rows = given[i : i+1]
		if planned[i], rows[i].wrong = alone.check(); rows[i].wrong == nil {
			orders, at = append(orders, planned[i].orders[0]), append(at, i)
		}
	}
	refused, err := b.CheckEach(ctx, account, orders)
	if err != nil {
		return nil, err
	}
	var numbers []string
	for k, i := range at {
		if rows[i].wrong = refused[k]; rows[i].wrong != nil {
			continue
		}
		rows[i].to, planned[i].orders[0] = orders[k].To, orders[k]
		if rows[i].wrong = planned[i].schedule(db.Now()); rows[i].wrong == nil {
			rows[i].due = planned[i].Rows[0].DueAt
			numbers = append(numbers, rows[i].to)
		}
	}
	listed, err := db.NotToCall(ctx, account, numbers)
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
