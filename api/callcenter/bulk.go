package callcenter

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/campaign"
)

// Batches dial in bulk; cmd provides it.
type Batches interface {
	// Check refuses what Dial would of an account's orders whatever happens meanwhile:
	// numbers, agents, destinations. It brings their numbers into E.164. at is the place
	// of the order that it refuses.
	Check(ctx context.Context, account string, orders []Order) (at int, err error)
	// CheckEach checks every order by itself, with few questions for all: refused has why
	// each is, nil where it is not. err is about none of them.
	CheckEach(ctx context.Context, account string, orders []Order) (refused []error, err error)
	// Wake says that there may be something to dial.
	Wake()
}

// MountBulk adds the routes of batches.
func MountBulk(a *api.API, db *store.DB, card func() *billing.RateCard, b Batches) {
	s := &bulk{Batches: b, db: db, card: card, rate: api.NewBuckets(queueEvery, queueBurst)}
	api.Register(a, callRoutes.Post("/callcenter/bulk-dial", "bulk-dial", "Call up to 500 numbers",
		"Queues a batch of calls, each as `POST /callcenter/dial` would place it, at its own time or at once, and none more than once. The server goes on "+
			"by itself: as many at a time as the account may have sessions, less one line that is kept for callers. A call that no line or no balance is "+
			"there for waits and is tried for 24 hours after its time. Who is busy or does not answer is called again where `retries` says so. `consent_confirmed` is given once for all and recorded with each call. "+
			"One bad row refuses the whole batch; `detail` names it, counted from 0: `rows[3]`. "+
			"With an `Idempotency-Key` header the first answer is repeated for 24 hours.", http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusConflict).OwnChecks().Within(maxBatch), s.create)
	api.Register(a, callRoutes.Get("/callcenter/bulk-dial", "list-batches", "List the batches",
		"Every batch of the account, newest first, with its number of calls by status."), s.list)
	api.Register(a, callRoutes.Get("/callcenter/bulk-dial/{id}", "get-batch", "Read a batch",
		"A batch with the state of each call. A call is summarized by the agent's model soon after its end; that costs tokens and is part of the call's cost.",
		http.StatusNotFound), s.read)
	s.mountWindow(a)
	for _, turn := range []struct{ verb, summary, text string }{
		{"pause", "Pause a batch", "No further call of the batch begins; those in progress go on. Pausing again changes nothing."},
		{"resume", "Resume a batch", "Goes on with a batch that is paused. The 24 hours for which calls are tried begin anew."},
		{"cancel", "Cancel a batch", "Calls that have not begun fail, for good; those in progress go on. A batch that is done stays done."},
	} {
		r := callRoutes.Post("/callcenter/bulk-dial/{id}/"+turn.verb, turn.verb+"-batch", turn.summary, turn.text, http.StatusNotFound)
		api.Register(a, r, func(ctx context.Context, in *batchInput) (*api.Reply[wire.BatchDetail], error) {
			return s.turn(ctx, turn.verb, in.ID)
		})
	}
}

// maxBatch bounds a batch's request, in bytes: 500 rows have 2 KB each.
const maxBatch = 1 << 20

// bulk are the routes of batches.
type bulk struct {
	Batches
	db   *store.DB
	card func() *billing.RateCard
	rate *api.Buckets
}

type batchInput struct {
	ID string `path:"id" doc:"The batch's identifier." maxLength:"100" example:"bulk_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

type batchesOutput struct {
	Body struct {
		Batches []wire.Batch `json:"batches" doc:"All of them, newest first." nullable:"false"`
	}
}

func (s *bulk) list(ctx context.Context, _ *struct{}) (*batchesOutput, error) {
	found, err := campaign.New(s.db).Campaigns(ctx, api.AccountOf(ctx), store.Page{})
	if err != nil {
		return nil, err
	}
	out := &batchesOutput{}
	out.Body.Batches = api.Views(found, batchOf)
	return out, nil
}

func (s *bulk) read(ctx context.Context, in *batchInput) (*api.Reply[wire.BatchDetail], error) {
	return api.Found(s.detail(ctx, api.AccountOf(ctx), in.ID))
}

// detail is a batch as clients see it.
func (s *bulk) detail(ctx context.Context, account, id string) (*wire.BatchDetail, error) {
	c, err := campaign.New(s.db).Campaign(ctx, account, id)
	if err != nil {
		return nil, err
	}
	at := s.db.Now()
	rows := api.Views(c.Rows, func(r *campaign.CampaignRow) wire.BatchRow { return rowOf(r, at) })
	return &wire.BatchDetail{Batch: batchOf(c), Rows: rows}, nil
}

// Why a row of a cancelled batch failed.
const (
	cancelledCode = "callcenter.batch_cancelled"
	cancelledText = "The batch was cancelled before this call began."
)

func (s *bulk) turn(ctx context.Context, verb, id string) (*api.Reply[wire.BatchDetail], error) {
	account := api.AccountOf(ctx)
	var err error
	switch verb {
	case "pause":
		err = campaign.New(s.db).PauseCampaign(ctx, account, id)
	case "resume":
		err = campaign.New(s.db).ResumeCampaign(ctx, account, id)
		s.Wake()
	case "cancel":
		err = campaign.New(s.db).CancelCampaign(ctx, account, id, cancelledCode, cancelledText)
	default:
		err = fmt.Errorf("%q is no turn of a batch", verb)
	}
	if err != nil {
		return nil, err
	}
	return s.read(ctx, &batchInput{id})
}

func batchOf(c *campaign.Campaign) wire.Batch {
	b := wire.Batch{ID: c.ID, Name: c.Name, State: string(c.State), CreatedAt: c.CreatedAt, Total: c.Pending + c.Dialing + c.Sent + c.Failed,
		Counts: wire.Counts{Pending: c.Pending, Dialing: c.Dialing, Sent: c.Sent, Failed: c.Failed}, OnMachine: c.OnMachine, Metadata: c.Metadata}
	if b.OnMachine == "" {
		b.OnMachine = onMachineContinue
	}
	if c.Hours != nil {
		window := windowOf(c.Hours, c.Zone)
		b.CallWindow = &window
	}
	for _, r := range c.Retries {
		b.Retries = append(b.Retries, wire.Retry(r))
	}
	return b
}

func rowOf(r *campaign.CampaignRow, at time.Time) wire.BatchRow {
	v := wire.BatchRow{ID: r.ID, To: r.To, From: r.From, AgentID: r.Agent, ScheduledAt: r.ScheduledAt, Status: string(r.Status), Summary: r.Summary,
		Vars: r.Variables, Headers: r.Headers, Metadata: r.Metadata, Attempt: r.Attempt, RetryOf: r.RetryOf}
	if r.ErrorCode != "" {
		v.Error = &wire.RowError{Code: r.ErrorCode, Message: r.ErrorMessage}
	}
	c := r.Call
	if c == nil {
		return v
	}
	v.CallID, v.StartedAt, v.AnsweredAt, v.EndedAt, v.Cost = &c.ID, &c.OpenedAt, c.StartedAt, c.EndedAt, wire.USD(c.Cost)
	v.EndReason, v.EndDetail, v.AnsweredBy = api.Some(c.EndReason), api.Some(c.EndDetail), api.Some(c.AnsweredBy)
	if c.StartedAt != nil {
		if c.EndedAt != nil {
			at = *c.EndedAt
		}
		v.Duration = max(0, int64(at.Sub(*c.StartedAt)/time.Second))
	}
	return v
}

var resultHeader = []string{"to", "from", "agent_id", "scheduled_at", "status", "call_id", "started_at", "answered_at", "ended_at", "duration", "end_reason", "end_detail",
	"answered_by", "cost", "summary", "error", "attempt"}

func (s *bulk) mountResults(a *api.API, files *export.Sender) {
	r := export.Route(callRoutes.Get("/callcenter/bulk-dial/{id}/results.csv", "export-batch", "Export the results of a batch",
		"A line for each of its calls, in the order in which they were given, and behind them those that call again: "+export.Columns(resultHeader)+"."), []*huma.Param{
		{Name: "id", In: "path", Required: true, Description: "The batch's identifier.", Schema: &huma.Schema{Type: huma.TypeString}, Example: "bulk_06er5bt0v9k1o7m2q3s4t5u6v0"}})
	r.Errors = append(r.Errors, http.StatusNotFound)
	a.Handle(r, api.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		return files.Send(w, r, export.Table{Name: "batch", Header: resultHeader, Next: func(ctx context.Context, _ *store.Statement) ([][]string, bool, error) {
			b, err := s.detail(ctx, api.AccountOf(ctx), r.PathValue("id"))
			if err != nil {
				return nil, false, err
			}
			return api.Views(b.Rows, resultRow), false, nil
		}})
	}))
}

// resultRow is a call of a batch in a table. A text that a spreadsheet would compute, as
// a model may write one, is none there.
func resultRow(r *wire.BatchRow) []string {
	fault := ""
	if r.Error != nil {
		fault = r.Error.Code + ": " + r.Error.Message
	}
	return []string{r.To, r.From, r.AgentID, export.Moment(r.ScheduledAt), r.Status, export.Optional(r.CallID),
		export.Moment(r.StartedAt), export.Moment(r.AnsweredAt), export.Moment(r.EndedAt),
		strconv.FormatInt(r.Duration, 10), export.Optional(r.EndReason), export.Optional(r.EndDetail), export.Optional(r.AnsweredBy),
		billing.Money(r.Cost).String(), export.Words(strings.Join(strings.Fields(export.Optional(r.Summary)), " ")), fault, strconv.Itoa(r.Attempt)}
}
