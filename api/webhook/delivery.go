package webhook

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/store"
	"parley/store/webhook"
)

// Delivery is one event on its way to a webhook.
type Delivery struct {
	ID        string     `json:"id" doc:"Of the event, and in the header webhook-id." example:"evt_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Type      string     `json:"type" doc:"What happened." example:"call.ended"`
	About     string     `json:"about" doc:"The call, or the event of the account; of a test the event itself." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	State     string     `json:"state" doc:"Pending, delivered or given up." enum:"pending,delivered,failed" example:"delivered"`
	Attempts  []Attempt  `json:"attempts" doc:"The last twenty, oldest first." nullable:"false"`
	CreatedAt time.Time  `json:"created_at" doc:"When it happened."`
	NextAt    *time.Time `json:"next_at" doc:"When it is tried next; null: never."`
	EndedAt   *time.Time `json:"ended_at" doc:"When it arrived or was given up; null while it is on its way."`
}

// Attempt is one request of a delivery.
type Attempt struct {
	At        time.Time `json:"at" doc:"When it was made."`
	Status    int       `json:"status" doc:"Of the answer; 0: there was none." example:"200"`
	LatencyMS int64     `json:"latency_ms" doc:"How long the answer took." example:"83"`
	Answer    string    `json:"answer,omitempty" doc:"The first kilobyte of its body." example:"ok"`
	Error     string    `json:"error,omitempty" doc:"Why there was no answer." example:"the service did not answer in time"`
}

func viewDelivery(d *webhook.Delivery) Delivery {
	out := Delivery{ID: d.Event, Type: d.Kind, About: d.About, State: string(d.State), Attempts: make([]Attempt, len(d.Attempts)),
		CreatedAt: d.CreatedAt, NextAt: d.NextAt, EndedAt: d.DoneAt}
	for i, a := range d.Attempts {
		out.Attempts[i] = Attempt{a.At, a.Status, a.TookMS, a.Answer, a.Failure}
	}
	return out
}

type deliveriesInput struct {
	OneWebhook
	api.Paging
}

func (m *webhooks) deliveries(ctx context.Context, in *deliveriesInput) (*api.Listed[Delivery], error) {
	found, err := m.hooks.Deliveries(ctx, api.AccountOf(ctx), in.ID, in.Page())
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(d webhook.Delivery) string { return d.Event }, viewDelivery), nil
}

type deliveryOutput struct{ Body Delivery }

func (m *webhooks) test(ctx context.Context, in *OneWebhook) (*deliveryOutput, error) {
	d, err := m.hooks.Test(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &deliveryOutput{viewDelivery(d)}, nil
}

func (m *webhooks) retry(ctx context.Context, in *struct {
	OneWebhook
	Delivery string `path:"delivery" doc:"The delivery's identifier." maxLength:"100" example:"evt_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*deliveryOutput, error) {
	d, err := m.hooks.Retry(ctx, api.AccountOf(ctx), in.ID, in.Delivery)
	if err != nil {
		return nil, err
	}
	return &deliveryOutput{viewDelivery(d)}, nil
}

// describe adds to the document what is sent to webhooks.
func describe(a *api.API) {
	doc := a.Document()
	warning := reflect.TypeFor[accountWarning]()
	kinds := map[string]struct {
		summary string
		body    reflect.Type
	}{
		store.CallStarted:    {"A call began to ring, to be dialled or to be set up", reflect.TypeFor[callBegun]()},
		store.CallAnswered:   {"A call was answered; told within seconds", reflect.TypeFor[callBegun]()},
		store.CallEnded:      {"A call ended", reflect.TypeFor[callEnded]()},
		store.CallTranscript: {"What was said in a call that was answered, after its end", reflect.TypeFor[callTranscript]()},
		store.CallSummarized: {"A call of a batch was summarized", reflect.TypeFor[callSummary]()},
		store.CallAnalyzed:   {"A call was analyzed, or could not be", reflect.TypeFor[callAnalyzed]()},
		webhook.Test:         {"A test was asked for", reflect.TypeFor[testEvent]()},

		string(store.WarnBalanceLow):      {"The balance is low", warning},
		string(store.WarnNumberPastDue):   {"A number's month could not be paid", warning},
		string(store.WarnNumberReleased):  {"A number is lost", warning},
		string(store.WarnRechargeFailed):  {"An automatic recharge failed", warning},
		string(store.WarnDisputeOpened):   {"A payment is disputed", warning},
		string(store.WarnWebhookDisabled): {"Another webhook was disabled", warning},
		string(store.WarnSpending):        {"A day's limit of spending is nearly reached, or reached", warning},
	}
	doc.Webhooks = map[string]*huma.PathItem{}
	for kind, k := range kinds {
		doc.Webhooks[kind] = &huma.PathItem{Post: &huma.Operation{
			OperationID: "told-" + strings.ReplaceAll(kind, ".", "-"), Tags: []string{"Webhooks"}, Summary: k.summary, Security: []map[string][]string{},
			Parameters: []*huma.Param{
				header(headerID, "Names the event, at every attempt: take it once."),
				header(headerTimestamp, "Unix seconds of the attempt: refuse what is more than five minutes off."),
				header(headerSignature, "v1,BASE64 for each secret, separated by spaces: HMAC-SHA256 of ID.TIMESTAMP.BODY with the secret's bytes."),
			},
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				"application/json": {Schema: doc.Components.Schemas.Schema(k.body, true, "")}}},
			Responses: map[string]*huma.Response{
				"2XX": {Description: "The event is taken. Anything else, and no answer within five seconds, has it sent again."},
				"410": {Description: http.StatusText(http.StatusGone) + ": nothing more is sent, the webhook is disabled."}},
		}}
	}
}

func header(name, what string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: what, Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
}
