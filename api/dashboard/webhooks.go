package dashboard

import (
	"net/http"
	"net/url"
	"slices"

	"parley/api/webhook"
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
}

func eventChoices(chosen []string) []eventChoice {
	var all []eventChoice
	for _, k := range webhookstore.Kinds() {
		label := eventLabels[k]
		if label == "" {
			label = k
		}
		all = append(all, eventChoice{k, label, slices.Contains(chosen, k)})
	}
	return all
}

type webhooksView struct {
	Hooks  []webhook.Webhook
	Form   *Form
	Events []eventChoice
	Most   int
}

func (q *Request) webhooksView(f *Form) (*webhooksView, error) {
	var list struct {
		Data []webhook.Webhook `json:"data"`
	}
	if err := q.Call(http.MethodGet, "/v1/webhooks", nil, &list); err != nil {
		return nil, err
	}
	return &webhooksView{list.Data, f, eventChoices(f.Values["events"]), webhookstore.Max}, nil
}

func webhooksPage(q *Request) error {
	v, err := q.webhooksView(&Form{})
	if err != nil {
		return err
	}
	return q.Page("webhooks", "Webhooks", v)
}

// webhookFields are what a form says of a webhook, as the API takes it.
func webhookFields(f *Form) map[string]any {
	events := f.Values["events"]
	if events == nil {
		events = []string{} // all
	}
	return map[string]any{"url": f.Need("url", "Enter the address that is to be told."), "description": f.Value("description"), "events": events}
}

func createWebhook(q *Request, f *Form) error {
	fields := webhookFields(f)
	var made struct {
		webhook.Webhook
		Secret string `json:"secret"`
	}
	if f.OK() {
		if err := f.Refused(q.Call(http.MethodPost, "/v1/webhooks", fields, &made)); err != nil {
			return err
		}
	}
	if !f.OK() {
		v, err := q.webhooksView(f)
		if err != nil {
			return err
		}
		return q.Invalid("webhooks", "webhook-form", "Webhooks", v)
	}
	return q.showWebhook(made.ID, made.Secret, nil)
}

type webhookView struct {
	Hook       webhook.Webhook
	Form       *Form
	Events     []eventChoice
	Secret     string // shown this once
	Deliveries []webhook.Delivery
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
	v := &webhookView{Form: f, cursor: q.R.URL.Query().Get("cursor")}
	if err := q.Call(http.MethodGet, Path("/v1/webhooks/", id), nil, &v.Hook); err != nil {
		return nil, err
	}
	if f == nil {
		v.Form = NewForm("url", v.Hook.URL, "description", v.Hook.Description)
		v.Events = eventChoices(v.Hook.Events)
	} else {
		v.Events = eventChoices(f.Values["events"])
	}
	var list struct {
		Data []webhook.Delivery `json:"data"`
		Next *string            `json:"next_cursor"`
	}
	err := q.Call(http.MethodGet, Path("/v1/webhooks/", id, "/deliveries")+"?limit=20&cursor="+url.QueryEscape(v.cursor), nil, &list)
	v.Deliveries = list.Data
	if list.Next != nil {
		v.Next = Path(webhooksAt+"/", id) + "?cursor=" + url.QueryEscape(*list.Next)
	}
	return v, err
}

func webhookPage(q *Request) error { return q.showWebhook(q.ID("id"), "", nil) }

// deliveriesPart is what the page asks for until the newest deliveries were tried.
func deliveriesPart(q *Request) error {
	v, err := q.webhookView(q.ID("id"), nil)
	if err != nil {
		return err
	}
	return q.Part("webhook", "deliveries", v)
}

// Again is the address of the deliveries that are shown.
func (v *webhookView) Again() string {
	return Path(webhooksAt+"/", v.Hook.ID, "/deliveries") + "?cursor=" + url.QueryEscape(v.cursor)
}

// Busy says whether the newest of the deliveries is about to change: it was not tried yet.
func (v *webhookView) Busy() bool {
	return len(v.Deliveries) > 0 && len(v.Deliveries[0].Attempts) == 0 && v.Deliveries[0].State != "delivered" && v.Hook.Enabled
}

func changeWebhook(q *Request, f *Form) error {
	fields := webhookFields(f)
	if f.OK() {
		if err := f.Refused(q.Call(http.MethodPatch, Path("/v1/webhooks/", q.ID("id")), fields, nil)); err != nil {
			return err
		}
	}
	if !f.OK() {
		return q.showWebhook(q.ID("id"), "", f)
	}
	return q.Done(Path(webhooksAt+"/", q.ID("id")), "The webhook was changed.")
}

func enableWebhook(q *Request, f *Form) error {
	on := f.Value("enabled") == "yes"
	if err := q.Call(http.MethodPatch, Path("/v1/webhooks/", q.ID("id")), map[string]bool{"enabled": on}, nil); err != nil {
		return err
	}
	if on {
		return q.Done(Path(webhooksAt+"/", q.ID("id")), "The webhook is on: events are sent to it from now on.")
	}
	return q.Done(Path(webhooksAt+"/", q.ID("id")), "The webhook is off: no events are sent to it until you switch it on again.")
}

func deleteWebhook(q *Request) error {
	if err := q.Call(http.MethodDelete, Path("/v1/webhooks/", q.ID("id")), nil, nil); err != nil {
		return err
	}
	return q.Done(webhooksAt, "The webhook was deleted.")
}

func rotateWebhook(q *Request) error {
	var made struct {
		Secret string `json:"secret"`
	}
	if err := q.Call(http.MethodPost, Path("/v1/webhooks/", q.ID("id"), "/rotate"), nil, &made); err != nil {
		return err
	}
	return q.showWebhook(q.ID("id"), made.Secret, nil)
}

func testWebhook(q *Request) error {
	if err := q.Call(http.MethodPost, Path("/v1/webhooks/", q.ID("id"), "/test"), nil, nil); err != nil {
		return err
	}
	return q.Done(Path(webhooksAt+"/", q.ID("id")), "A test event is on its way. What comes of it is among the deliveries.")
}

func retryDelivery(q *Request) error {
	if err := q.Call(http.MethodPost, Path("/v1/webhooks/", q.ID("id"), "/deliveries/", q.ID("delivery"), "/retry"), nil, nil); err != nil {
		return err
	}
	return q.Done(Path(webhooksAt+"/", q.ID("id")), "The event is delivered again.")
}
