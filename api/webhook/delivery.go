package webhook

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/webhook"
)

func viewDelivery(d *webhook.Delivery) wire.Delivery {
	out := wire.Delivery{ID: d.Event, Type: d.Kind, About: d.About, State: string(d.State), Attempts: make([]wire.Attempt, len(d.Attempts)),
		CreatedAt: d.CreatedAt, NextAt: d.NextAt, EndedAt: d.DoneAt}
	for i, a := range d.Attempts {
		out.Attempts[i] = wire.Attempt{At: a.At, Status: a.Status, LatencyMS: a.TookMS, Answer: a.Answer, Error: a.Failure}
	}
	return out
}

type deliveriesInput struct {
	OneWebhook
	api.Paging
}

func (m *webhooks) deliveries(ctx context.Context, in *deliveriesInput) (*api.Listed[wire.Delivery], error) {
	return api.Pages(in.Limit, func(d webhook.Delivery) string { return d.Event }, viewDelivery)(m.hooks.Deliveries(ctx, api.AccountOf(ctx), in.ID, in.Page()))
}

func (m *webhooks) test(ctx context.Context, in *OneWebhook) (*api.Reply[wire.Delivery], error) {
	return api.Show(viewDelivery)(m.hooks.Test(ctx, api.AccountOf(ctx), in.ID))
}

// OneDelivery names a delivery in an address.
type OneDelivery struct {
	OneWebhook
	Delivery string `path:"delivery" doc:"The delivery's identifier." maxLength:"100" example:"evt_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func (m *webhooks) retry(ctx context.Context, in *OneDelivery) (*api.Reply[wire.Delivery], error) {
	return api.Show(viewDelivery)(m.hooks.Retry(ctx, api.AccountOf(ctx), in.ID, in.Delivery))
}

// describe adds to the document what is sent to webhooks.
func describe(a *api.API) {
	doc := a.Document()
	warning := reflect.TypeFor[accountWarning]()
	kinds := map[string]struct {
		summary string
		body    reflect.Type
	}{
		store.CallIncoming:     {"A call rings: who answers it?", reflect.TypeFor[callIncoming]()},
		store.CallStarted:      {"A call began to ring, to be dialled or to be set up", reflect.TypeFor[callBegun]()},
		store.CallAnswered:     {"A call was answered; told within seconds", reflect.TypeFor[callBegun]()},
		store.CallEnded:        {"A call ended", reflect.TypeFor[callEnded]()},
		store.CallTranscript:   {"The transcript of a call that was answered, after its end", reflect.TypeFor[callTranscript]()},
		store.CallSummarized:   {"A call of a batch was summarized", reflect.TypeFor[callSummary]()},
		store.CallAnalyzed:     {"A call was analyzed, or could not be", reflect.TypeFor[callAnalyzed]()},
		store.MessageReceived:  {"A text message came in", reflect.TypeFor[textMessage]()},
		store.MessageDelivered: {"A text message was delivered", reflect.TypeFor[textMessage]()},
		store.MessageFailed:    {"A text message was not sent, or not delivered", reflect.TypeFor[textMessage]()},
		webhook.Test:           {"A test was asked for", reflect.TypeFor[testEvent]()},

		string(store.WarnBalanceLow):      {"The balance is low", warning},
		string(store.WarnNumberPastDue):   {"A number's month could not be paid", warning},
		string(store.WarnNumberReleased):  {"A number is lost", warning},
		string(store.WarnRechargeFailed):  {"An automatic recharge failed", warning},
		string(store.WarnDisputeOpened):   {"A payment is disputed", warning},
		string(store.WarnWebhookDisabled): {"Another webhook was disabled", warning},
		string(store.WarnSpending):        {"A day's limit of spending is nearly reached, or reached", warning},
		string(store.WarnEngineKey):       {"A vendor refused the account's key for its engine", warning},
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
	ask := doc.Webhooks[store.CallIncoming].Post
	ask.Description = "Asked of the webhook of the called number, whatever its events are, and sent once. The answer decides who takes the call. " +
		"Without one within two seconds, or with one that cannot be used, the number's own agent does, and the call says why."
	ask.Responses = map[string]*huma.Response{
		"200": {Description: "Who answers.", Content: map[string]*huma.MediaType{"application/json": {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[wire.IncomingAnswer](), true, "")}}},
		"204": {Description: "The number's own agent answers."},
	}
}

func header(name, what string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: what, Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
}
