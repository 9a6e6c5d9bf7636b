package account

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store"
	webhookstore "parley/store/webhook"
)

func webhookPages() []page.Page {
	const one = page.Home + "/webhooks/{id}"
	return []page.Page{
		{Route: "GET " + page.Home + "/webhooks", Serve: webhooksPage},
		{Route: "POST " + page.Home + "/webhooks", Form: createWebhook},
		{Route: "GET " + one, Serve: webhookPage},
		{Route: "GET " + one + "/deliveries", Serve: deliveriesPart},
		{Route: "POST " + one, Form: changeWebhook},
		{Route: "POST " + one + "/enable", Form: enableWebhook},
		{Route: "POST " + one + "/delete", Serve: deleteWebhook},
		{Route: "POST " + one + "/rotate", Serve: rotateWebhook},
		{Route: "POST " + one + "/test", Serve: testWebhook},
		{Route: "POST " + one + "/deliveries/{delivery}/retry", Serve: retryDelivery},
	}
}

const webhooksAt = page.Home + "/webhooks"

// eventChoice is a type of event that a webhook may ask for.
type eventChoice struct {
	Kind, Label string
	Checked     bool
}

var eventLabels = map[string]string{
	store.CallIncoming: "A call comes in to a number that asks this webhook",
	store.CallStarted:  "A call begins", store.CallAnswered: "A call is answered", store.CallEnded: "A call has ended", store.CallTranscript: "A transcript is ready",
	store.CallSummarized: "A summary is ready", store.CallAnalyzed: "An analysis is ready", "balance.low": "The balance is low", "number.past_due": "A number could not be paid",
	store.MessageReceived: "A text message comes in", store.MessageDelivered: "A text message is delivered", store.MessageFailed: "A text message has failed",
	"number.released": "A number was released", "recharge.failed": "An automatic recharge failed", "dispute.opened": "A payment is disputed",
	"webhook.disabled": "A webhook was switched off", "spending.limit": "A limit of spending is reached, or nearly",
	"engine_key.refused": "A vendor refused your key for an engine",
}

func eventChoices(chosen []string) []eventChoice {
	var all []eventChoice
	for _, k := range webhookstore.Kinds() {
		all = append(all, eventChoice{k, cmp.Or(eventLabels[k], k), slices.Contains(chosen, k)})
	}
	return all
}

type webhooksView struct {
	Hooks  []wire.Webhook
	Form   *page.Form
	Events []eventChoice
	Most   int
}

func newWebhooksView(q *page.Request, f *page.Form) (*webhooksView, error) {
	list, err := page.Read[api.List[wire.Webhook]](q, "/v1/webhooks")
	return &webhooksView{list.Data, f, eventChoices(f.Values["events"]), webhookstore.Max}, err
}

func webhooksPage(q *page.Request) error {
	return q.Show("webhooks", "Webhooks")(newWebhooksView(q, &page.Form{}))
}

// webhookFields are what a form says of a webhook, as the API takes it.
func webhookFields(f *page.Form) map[string]any {
	events := f.Values["events"]
	if events == nil {
		events = []string{} // all
	}
	return map[string]any{"url": f.Need("url", "Enter the address that receives the events."), "description": f.Value("description"), "events": events}
}

func createWebhook(q *page.Request, f *page.Form) error {
	fields := webhookFields(f)
	var made wire.SecretWebhook
	again := func() error { return q.ShowInvalid("webhooks", "webhook-form", "Webhooks")(newWebhooksView(q, f)) }
	if done, err := q.Submit(f, http.MethodPost, "/v1/webhooks", fields, &made, again); !done {
		return err
	}
	return showWebhook(q, made.ID, made.Secret, nil)
}

type webhookView struct {
	Hook       wire.Webhook
	Form       *page.Form
	Events     []eventChoice
	Secret     string // shown this once
	Deliveries []wire.Delivery
	Next       string

	cursor string // from which the deliveries are shown
}

// showWebhook is the page of one webhook; f is a form that came back with mistakes.
func showWebhook(q *page.Request, id, secret string, f *page.Form) error {
	v, err := newWebhookView(q, id, f)
	if err != nil {
		return err
	}
	if f != nil && !f.OK() {
		return q.Invalid("webhook", "webhook-change", "Webhook", v)
	}
	v.Secret = secret
	return q.Page("webhook", "Webhook", v)
}

func newWebhookView(q *page.Request, id string, f *page.Form) (*webhookView, error) {
	hook, err := page.Read[wire.Webhook](q, page.Path("/v1/webhooks/", id))
	if err != nil {
		return nil, err
	}
	v := &webhookView{Hook: hook, Form: f, cursor: q.R.URL.Query().Get("cursor")}
	if f == nil {
		v.Form = page.NewForm("url", v.Hook.URL, "description", v.Hook.Description)
		v.Events = eventChoices(v.Hook.Events)
	} else {
		v.Events = eventChoices(f.Values["events"])
	}
	v.Deliveries, v.Next, err = page.Listed[wire.Delivery](q, page.Path("/v1/webhooks/", id, "/deliveries"), page.Path(webhooksAt+"/", id), "cursor", "20", nil)
	return v, err
}

func webhookPage(q *page.Request) error { return showWebhook(q, q.ID("id"), "", nil) }

// deliveriesPart is what the page asks for until the newest deliveries were tried.
func deliveriesPart(q *page.Request) error {
	v, err := newWebhookView(q, q.ID("id"), nil)
	if q.HTMX() && api.ProblemOf(err).Status == http.StatusNotFound { // it was deleted between two questions
		q.W.WriteHeader(page.StopAsking)
		return nil
	}
	return q.ShowPart("webhook", "deliveries")(v, err)
}

// Again is the address of the deliveries that are shown.
func (v *webhookView) Again() string {
	return page.Path(webhooksAt+"/", v.Hook.ID, "/deliveries") + "?cursor=" + url.QueryEscape(v.cursor)
}

// Asked is when a program asked last for the events of a webhook that listens.
func (v *webhookView) Asked() time.Time { return v.Hook.ListensUntil.Add(-webhookstore.ListenFor) }

// Busy says whether the newest of the deliveries is about to change: it was not tried yet.
func (v *webhookView) Busy() bool {
	return len(v.Deliveries) > 0 && len(v.Deliveries[0].Attempts) == 0 && v.Deliveries[0].State != "delivered" && v.Hook.Enabled
}

// doWebhook has the API's route of the webhook do something, and says so on its page.
func doWebhook(q *page.Request, method, below string, in any, notice string) error {
	return q.Do(method, webhookRoute(q, below), in, page.Path(webhooksAt+"/", q.ID("id")), notice)
}

// webhookRoute is the API's address of the webhook of the path, or of what is below it.
func webhookRoute(q *page.Request, below string) string {
	return page.Path("/v1/webhooks/", q.ID("id")) + below
}

func changeWebhook(q *page.Request, f *page.Form) error {
	again := func() error { return showWebhook(q, q.ID("id"), "", f) }
	if done, err := q.Submit(f, http.MethodPatch, webhookRoute(q, ""), webhookFields(f), nil, again); !done {
		return err
	}
	return q.Done(page.Path(webhooksAt+"/", q.ID("id")), "The webhook was changed.")
}

func enableWebhook(q *page.Request, f *page.Form) error {
	on, said := f.Value("enabled") == "yes", "The webhook is off: no events are sent to it until you switch it on again."
	if on {
		said = "The webhook is on: events are sent to it from now on."
	}
	return doWebhook(q, http.MethodPatch, "", map[string]bool{"enabled": on}, said)
}

func deleteWebhook(q *page.Request) error {
	return q.Do(http.MethodDelete, webhookRoute(q, ""), nil, webhooksAt, "The webhook was deleted.")
}

func rotateWebhook(q *page.Request) error {
	var made wire.SecretWebhook
	if err := q.Call(http.MethodPost, webhookRoute(q, "/rotate"), nil, &made); err != nil {
		return err
	}
	return showWebhook(q, q.ID("id"), made.Secret, nil)
}

func testWebhook(q *page.Request) error {
	return doWebhook(q, http.MethodPost, "/test", nil, "A test event is on its way. Its result is among the deliveries.")
}

func retryDelivery(q *page.Request) error {
	return doWebhook(q, http.MethodPost, page.Path("/deliveries/", q.ID("delivery"), "/retry"), nil, "The event is delivered again.")
}
