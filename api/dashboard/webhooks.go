package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	webhookstore "parley/store/webhook"
)

func webhookPages() []page {
	const one = home + "/webhooks/{id}"
	return []page{
		{route: "GET " + home + "/webhooks", serve: webhooksPage},
		{route: "POST " + home + "/webhooks", form: createWebhook},
		{route: "GET " + one, serve: webhookPage},
		{route: "GET " + one + "/deliveries", serve: deliveriesPart},
		{route: "POST " + one, form: changeWebhook},
		{route: "POST " + one + "/enable", form: enableWebhook},
		{route: "POST " + one + "/delete", serve: deleteWebhook},
		{route: "POST " + one + "/rotate", serve: rotateWebhook},
		{route: "POST " + one + "/test", serve: testWebhook},
		{route: "POST " + one + "/deliveries/{delivery}/retry", serve: retryDelivery},
	}
}

const webhooksAt = home + "/webhooks"

// eventChoice is a type of event that a webhook may ask for.
type eventChoice struct {
	Kind, Label string
	Checked     bool
}

var eventLabels = map[string]string{
	store.CallStarted: "A call begins", store.CallAnswered: "A call is answered", store.CallEnded: "A call has ended", store.CallTranscript: "A transcript is ready",
	store.CallSummarized: "A summary is ready", store.CallAnalyzed: "An analysis is ready", "balance.low": "The balance is low", "number.past_due": "A number could not be paid",
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
	Form   *Form
	Events []eventChoice
	Most   int
}

func (q *Request) webhooksView(f *Form) (*webhooksView, error) {
	list, err := read[api.List[wire.Webhook]](q, "/v1/webhooks")
	return &webhooksView{list.Data, f, eventChoices(f.Values["events"]), webhookstore.Max}, err
}

func webhooksPage(q *Request) error { return q.Show("webhooks", "Webhooks")(q.webhooksView(&Form{})) }

// webhookFields are what a form says of a webhook, as the API takes it.
func webhookFields(f *Form) map[string]any {
	events := f.Values["events"]
	if events == nil {
		events = []string{} // all
	}
	return map[string]any{"url": f.Need("url", "Enter the address that receives the events."), "description": f.Value("description"), "events": events}
}

func createWebhook(q *Request, f *Form) error {
	fields := webhookFields(f)
	var made wire.SecretWebhook
	again := func() error { return q.ShowInvalid("webhooks", "webhook-form", "Webhooks")(q.webhooksView(f)) }
	if done, err := q.Submit(f, http.MethodPost, "/v1/webhooks", fields, &made, again); !done {
		return err
	}
	return q.showWebhook(made.ID, made.Secret, nil)
}

type webhookView struct {
	Hook       wire.Webhook
	Form       *Form
	Events     []eventChoice
	Secret     string // shown this once
	Deliveries []wire.Delivery
	Next       string

	cursor string // from which the deliveries are shown
}

// showWebhook is the page of one webhook; f is a form that came back with mistakes.
func (q *Request) showWebhook(id, secret string, f *Form) error {
	v, err := q.webhookView(id, f)
	if err != nil {
		return err
	}
	if f != nil && !f.OK() {
		return q.Invalid("webhook", "webhook-change", "Webhook", v)
	}
	v.Secret = secret
	return q.Page("webhook", "Webhook", v)
}

func (q *Request) webhookView(id string, f *Form) (*webhookView, error) {
	hook, err := read[wire.Webhook](q, Path("/v1/webhooks/", id))
	if err != nil {
		return nil, err
	}
	v := &webhookView{Hook: hook, Form: f, cursor: q.R.URL.Query().Get("cursor")}
	if f == nil {
		v.Form = NewForm("url", v.Hook.URL, "description", v.Hook.Description)
		v.Events = eventChoices(v.Hook.Events)
	} else {
		v.Events = eventChoices(f.Values["events"])
	}
	v.Deliveries, v.Next, err = listed[wire.Delivery](q, Path("/v1/webhooks/", id, "/deliveries"), Path(webhooksAt+"/", id), "cursor", "20", nil)
	return v, err
}

func webhookPage(q *Request) error { return q.showWebhook(q.ID("id"), "", nil) }

// deliveriesPart is what the page asks for until the newest deliveries were tried.
func deliveriesPart(q *Request) error {
	return q.ShowPart("webhook", "deliveries")(q.webhookView(q.ID("id"), nil))
}

// Again is the address of the deliveries that are shown.
func (v *webhookView) Again() string {
	return Path(webhooksAt+"/", v.Hook.ID, "/deliveries") + "?cursor=" + url.QueryEscape(v.cursor)
}

// Busy says whether the newest of the deliveries is about to change: it was not tried yet.
func (v *webhookView) Busy() bool {
	return len(v.Deliveries) > 0 && len(v.Deliveries[0].Attempts) == 0 && v.Deliveries[0].State != "delivered" && v.Hook.Enabled
}

// doWebhook has the API's route of the webhook do something, and says so on its page.
func (q *Request) doWebhook(method, below string, in any, notice string) error {
	return q.Do(method, q.webhookRoute(below), in, Path(webhooksAt+"/", q.ID("id")), notice)
}

// webhookRoute is the API's address of the webhook of the path, or of what is below it.
func (q *Request) webhookRoute(below string) string { return Path("/v1/webhooks/", q.ID("id")) + below }

func changeWebhook(q *Request, f *Form) error {
	again := func() error { return q.showWebhook(q.ID("id"), "", f) }
	if done, err := q.Submit(f, http.MethodPatch, q.webhookRoute(""), webhookFields(f), nil, again); !done {
		return err
	}
	return q.Done(Path(webhooksAt+"/", q.ID("id")), "The webhook was changed.")
}

func enableWebhook(q *Request, f *Form) error {
	on, said := f.Value("enabled") == "yes", "The webhook is off: no events are sent to it until you switch it on again."
	if on {
		said = "The webhook is on: events are sent to it from now on."
	}
	return q.doWebhook(http.MethodPatch, "", map[string]bool{"enabled": on}, said)
}

func deleteWebhook(q *Request) error {
	return q.Do(http.MethodDelete, q.webhookRoute(""), nil, webhooksAt, "The webhook was deleted.")
}

func rotateWebhook(q *Request) error {
	var made wire.SecretWebhook
	if err := q.Call(http.MethodPost, q.webhookRoute("/rotate"), nil, &made); err != nil {
		return err
	}
	return q.showWebhook(q.ID("id"), made.Secret, nil)
}

func testWebhook(q *Request) error {
	return q.doWebhook(http.MethodPost, "/test", nil, "A test event is on its way. Its result is among the deliveries.")
}

func retryDelivery(q *Request) error {
	return q.doWebhook(http.MethodPost, Path("/deliveries/", q.ID("delivery"), "/retry"), nil, "The event is delivered again.")
}
