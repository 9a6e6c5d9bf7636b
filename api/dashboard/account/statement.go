package account

import (
	"cmp"
	"net/http"
	"net/url"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

// statementView is what moved the balance, line by line.
type statementView struct {
	Lines  []statementLine
	Filter *page.Form
	More   string // address of older ones
	Ledger string // of the same as a file
	Usage  string
}

// statementLine is an entry of the ledger in words.
type statementLine struct {
	wire.Entry
	What string
	Call string // address of the session's receipt; empty: none
}

// entryKinds are the kinds that can be picked, with their words.
var entryKinds = []page.Option{
	{Value: "", Label: "Everything"}, {Value: "usage", Label: "Usage"}, {Value: "topup", Label: "Top-ups"}, {Value: "refund", Label: "Refunds"},
	{Value: "bonus", Label: "Bonus credit"}, {Value: "adjustment", Label: "Adjustments"}, {Value: "dispute", Label: "Disputes"}, {Value: "expiry", Label: "Expired credit"},
}

// Kinds are the choices, for templates.
func (v *statementView) Kinds() page.Field {
	return v.Filter.Select("kind", "Type", "", entryKinds, "required", "width=short")
}

func statementPage(q *page.Request) error {
	v, period := &statementView{Filter: page.NewForm()}, url.Values{}
	for _, name := range []string{"from", "to", "kind"} {
		if value := q.R.URL.Query().Get(name); value != "" {
			v.Filter.Values.Set(name, value)
			period.Set(name, value)
		}
	}
	entries, older, err := page.Listed[wire.Entry](q, "/v1/ledger", balanceAt+"/statement", "cursor", "50", period)
	if err != nil && api.ProblemOf(err).Status == http.StatusBadRequest {
		return q.ShowInvalid("statement", "statement", "Statement")(v, v.Filter.Refused(err))
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		v.Lines = append(v.Lines, line(e))
	}
	v.More = older
	v.Ledger = "/v1/ledger.csv?" + period.Encode()
	period.Del("kind")
	period.Set("group_by", "call")
	v.Usage = "/v1/usage.csv?" + period.Encode()
	return q.Page("statement", "Statement", v)
}

func line(e wire.Entry) statementLine {
	l := statementLine{Entry: e}
	one := map[string]string{"topup": "Top-up", "refund": "Refund", "adjustment": "Adjustment", "dispute": "Dispute", "welcome": "Welcome credit"}
	l.What = cmp.Or(one[e.Kind], page.LabelOf(entryKinds, e.Kind))
	if e.Kind == "usage" && e.Component != nil {
		l.What = componentName(*e.Component)
	}
	if e.SessionID != nil {
		l.Call = page.Path(balanceAt+"/receipts/", *e.SessionID)
	}
	return l
}

// receiptView is what one session cost.
type receiptView struct {
	wire.Receipt
	Rows []receiptRow
}

// receiptRow is a line of a receipt in words.
type receiptRow struct {
	wire.Line
	What string
}

func receiptPage(q *page.Request) error {
	r, err := page.Read[wire.Receipt](q, page.Path("/v1/calls/", q.ID("id"), "/receipt"))
	v := &receiptView{Receipt: r}
	for _, l := range r.Lines {
		v.Rows = append(v.Rows, receiptRow{l, componentName(l.Component)})
	}
	return q.Show("receipt", "Receipt")(v, err)
}
