package telephony

import (
	"net/http"
	"net/url"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

const (
	MessagesAt    = page.Home + "/messages"
	MessagesTitle = "Text messages"
	messagesRoute = "/v1/messages"
)

func messagePages() []page.Page {
	return []page.Page{{Route: "GET " + MessagesAt, Serve: messagesPage}, {Route: "POST " + MessagesAt, Form: sendMessage}}
}

// messagesView is the list, and the form that sends one.
type messagesView struct {
	Form, Filter *page.Form
	Numbers      []page.Option // that can send; none: there is no form
	Rows         []messageRow
	Next         string // address of older ones
}

// messageRow is a message of the list.
type messageRow struct{ wire.Message }

// statuses are the states of messages in words, and how they look.
var statuses = map[string][2]string{"queued": {"Queued", ""}, "sent": {"Sent", ""}, "delivered": {"Delivered", "good"}, "failed": {"Failed", "bad"}, "received": {"Received", "good"}}

// Said is its status in words, and Tone how that looks.
func (r messageRow) Said() string { return statuses[r.Status][0] }
func (r messageRow) Tone() string { return statuses[r.Status][1] }

// From is the choice of a sender.
func (v *messagesView) From() page.Field {
	return v.Form.Select("from", "From your number", "", v.Numbers, "required", "width=medium")
}

// Direction is the choice of which messages are listed.
func (v *messagesView) Direction() page.Field {
	return v.Filter.Select("direction", "Direction", "", []page.Option{{Value: "", Label: "All"}, {Value: "inbound", Label: "Received"}, {Value: "outbound", Label: "Sent"}}, "plain", "width=medium")
}

func newMessagesView(q *page.Request, f *page.Form) (*messagesView, error) {
	v := &messagesView{Form: f, Filter: page.NewForm("direction", q.R.URL.Query().Get("direction"))}
	all, err := ownNumbers(q)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		if n.MonthlyPrice > 0 && n.TrunkID == nil { // those that were given by hand send none
			v.Numbers = append(v.Numbers, page.Option{Value: n.PhoneNumber, Label: n.PhoneNumber})
		}
	}
	filter := url.Values{}
	if d := v.Filter.Value("direction"); d == "inbound" || d == "outbound" {
		filter.Set("direction", d)
	}
	found, next, err := page.Listed[wire.Message](q, messagesRoute, MessagesAt, "cursor", "50", filter)
	for _, m := range found {
		v.Rows = append(v.Rows, messageRow{m})
	}
	v.Next = next
	return v, err
}

func messagesPage(q *page.Request) error {
	return q.Show("messages", MessagesTitle)(newMessagesView(q, page.NewForm()))
}

func sendMessage(q *page.Request, f *page.Form) error {
	in := wire.NewMessage{From: f.Value("from"), To: f.Need("to", "Say whom it is for."), Text: f.Need("text", "Say what to send.")}
	var sent wire.Message
	if f.OK() {
		if err := f.Refused(q.CallOnce(f, http.MethodPost, messagesRoute, in, &sent)); err != nil {
			return err
		}
	}
	if !f.OK() {
		return q.ShowInvalid("messages", "message-form", MessagesTitle)(newMessagesView(q, f))
	}
	return q.Done(MessagesAt, "The message to "+sent.To+" is on its way.")
}
