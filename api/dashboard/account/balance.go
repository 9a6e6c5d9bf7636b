package account

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/billing"
)

const balanceAt = page.Home + "/balance"

func balancePages() []page.Page {
	return []page.Page{
		{Route: "GET " + balanceAt, Serve: balancePage},
		{Route: "POST " + balanceAt + "/topups", Form: topUp},
		{Route: "POST " + balanceAt + "/recharge", Form: setRecharge},
		{Route: "POST " + balanceAt + "/limit", Open: page.Owners, Serve: setAccountLimit},
		{Route: "GET " + balanceAt + "/statement", Serve: statementPage},
		{Route: "GET " + balanceAt + "/receipts/{id}", Serve: receiptPage},
	}
}

// balanceView is what there is, how it grows and what it went to.
type balanceView struct {
	Wallet wire.Balance
	Days   int // how many the usage is of
	From   string
	Chart  chart
	ByKind []spent
	Spent  billing.Money // in all these days
	Limit  *page.Limit

	Payments bool // whether the server takes any
	TopUps   []wire.TopUp
	Recharge wire.AutoRecharge
	Owner    bool       // whether the user decides about it
	Form     *page.Form // of a top-up
	Settings *page.Form // of automatic recharge
	Least    string
	Most     string
	Back     *wire.TopUp // the one whose payment page was just left
}

// spent is a line of a sum.
type spent struct {
	Name     string
	Quantity int64
	Unit     string
	Amount   billing.Money
}

// chart is what each day cost, for a script to draw: Costs has a line for each name.
type chart struct {
	Days  []string    `json:"days"`
	Names []string    `json:"names"`
	Costs [][]float64 `json:"costs"`
}

// periods are the choices, in days.
var periods = []int{7, 30, 90}

// Periods are the choices, for templates.
func (v *balanceView) Periods() []int { return periods }

// Ends says in words and colour how a top-up stands.
func (v *balanceView) Ends(state string) []string {
	switch state {
	case "succeeded":
		return []string{"Paid", "good"}
	case "failed":
		return []string{"Failed", "bad"}
	case "canceled":
		return []string{"Given up", ""}
	}
	return []string{"Not paid yet", "warn"}
}

// Failures of automatic recharge in words.
func (v *balanceView) Failures(reason string) string {
	switch reason {
	case "card_declined":
		return "The card was declined."
	case "authentication_required":
		return "The bank wants you to confirm each charge, which cannot be done without you."
	case "no_card":
		return "There is no saved card any more."
	case "refunded":
		return "Money went back to a card and left the balance below the threshold."
	}
	return "The payment provider could not be used."
}

func balancePage(q *page.Request) error {
	return q.Show("balance", "Balance")(newBalanceView(q))
}

func newBalanceView(q *page.Request) (*balanceView, error) {
	rules := q.Card().Wallet()
	v := &balanceView{Days: 30, Form: page.NewForm("amount", "50"), Least: rules.MinTopup.String(), Most: rules.MaxTopup.String()}
	if days, err := strconv.Atoi(q.R.URL.Query().Get("days")); err == nil && slices.Contains(periods, days) {
		v.Days = days
	}
	if err := payments(q, v); err != nil { // first: looking at a payment may settle it
		return nil, err
	}
	var err error
	if v.Wallet, err = page.Read[wire.Balance](q, "/v1/balance"); err != nil {
		return nil, err
	}
	if v.Limit, err = accountLimit(q); err != nil {
		return nil, err
	}
	return v, usage(q, v)
}

// payments adds top-ups and automatic recharge where the server takes payments.
func payments(q *page.Request, v *balanceView) error {
	var err error
	if v.Recharge, err = page.Read[wire.AutoRecharge](q, "/v1/auto-recharge"); err != nil {
		if api.ProblemOf(err).Status == http.StatusNotFound {
			return nil
		}
		return err
	}
	v.Payments, v.Owner = true, q.Principal().Money
	r := &v.Recharge
	v.Settings = page.NewForm("threshold", dollars(r.Threshold), "recharge", dollars(r.Amount), "monthly_cap", dollars(r.MonthlyCap))
	if r.Enabled {
		v.Settings.Values.Set("enabled", "on")
	}
	if id := q.R.URL.Query().Get("topup"); id != "" {
		if v.Back, err = page.Read[*wire.TopUp](q, page.Path("/v1/topups/", id)); err != nil && api.ProblemOf(err).Status != http.StatusNotFound {
			return err
		}
	}
	list, err := page.Read[api.List[wire.TopUp]](q, "/v1/topups?limit=10") // after the one above, which may have been settled by reading it
	v.TopUps = list.Data
	return err
}

// dollars writes an amount as people enter it.
func dollars(u wire.USD) string { return billing.Money(u).String() }

// usage adds what the last days went to.
func usage(q *page.Request, v *balanceView) error {
	last := q.DB.Now().UTC().Truncate(24 * time.Hour)
	first := last.AddDate(0, 0, 1-v.Days)
	v.From = first.Format(time.DateOnly)
	ask := func(by string) ([]wire.Usage, error) {
		list, err := page.Read[api.List[wire.Usage]](q, "/v1/usage?limit=100&group_by="+by+"&from="+v.From)
		return list.Data, err
	}
	kinds, err := ask("component")
	if err != nil {
		return err
	}
	for _, g := range kinds {
		for _, u := range g.Components {
			v.ByKind = append(v.ByKind, spent{componentName(u.Component), u.Quantity, u.Unit, billing.Money(u.Amount)})
			v.Spent += billing.Money(u.Amount)
		}
	}
	slices.SortStableFunc(v.ByKind, func(a, b spent) int { return cmp.Compare(b.Amount, a.Amount) })
	days, err := ask("day")
	if err != nil {
		return err
	}
	v.Chart = drawn(first, last, days)
	return nil
}

// drawn is the chart of what the days from first to last cost.
func drawn(first, last time.Time, days []wire.Usage) chart {
	c := chart{Names: usageGroups}
	at := map[string]int{}
	for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
		at[d.Format(time.DateOnly)] = len(c.Days)
		c.Days = append(c.Days, d.Format(time.DateOnly))
	}
	c.Costs = make([][]float64, len(c.Names))
	for i := range c.Costs {
		c.Costs[i] = make([]float64, len(c.Days))
	}
	for _, g := range days {
		if g.Key == nil {
			continue
		}
		day, ok := at[*g.Key]
		if !ok {
			continue // midnight has passed since
		}
		for _, u := range g.Components {
			c.Costs[usageGroup(u.Component)][day] += float64(u.Amount) / float64(billing.USD)
		}
	}
	return c
}

// usageGroups are what charts tell apart, as many as there are colours.
var usageGroups = []string{"Conversation", "Telephone", "Language model", "Speech", "Tools"}

// usageGroup is the index of a component's.
func usageGroup(component string) int {
	switch {
	case component == billing.AgentTime.String():
		return 0
	case component == billing.LineTime.String(), component == "number":
		return 1
	case strings.HasPrefix(component, "llm_"):
		return 2
	case component == billing.CRMCalls.String(), component == billing.WebSearches.String():
		return 4
	}
	return 3
}

// componentNames are the components of a bill in words.
var componentNames = map[string]string{
	billing.AgentTime.String(): "Conversation", billing.LineTime.String(): "Telephone line", "number": "Telephone numbers",
	billing.ReplyIn.String(): "LLM input", billing.ReplyOut.String(): "LLM output",
	billing.SpeculativeIn.String(): "Speculative replies, input", billing.SpeculativeOut.String(): "Speculative replies, output",
	billing.SummaryIn.String(): "Summaries, read", billing.SummaryOut.String(): "Summaries, written",
	billing.TTSChars.String(): "Speech from text", billing.STTTime.String(): "Transcription", billing.DenoiseTime.String(): "Noise removal",
	billing.CRMCalls.String(): "CRM calls", billing.WebSearches.String(): "Web searches",
	billing.AudioIn.String(): "Speech model, heard", billing.AudioCached.String(): "Speech model, heard before", billing.AudioOut.String(): "Speech model, spoken",
	billing.OwnIn.String(): "Language model on your key, read", billing.OwnOut.String(): "Language model on your key, written",
	billing.Segments.String(): "Text messages, segments",
}

func componentName(component string) string {
	return cmp.Or(componentNames[component], component)
}

// topUp makes a page to pay on and sends the browser there.
func topUp(q *page.Request, f *page.Form) error {
	amount := f.Amount("amount", "Say how many dollars.")
	var made wire.TopUp
	again := func() error { return balanceAgain(q, "topup-form", func(v *balanceView) { v.Form = f }) }
	if done, err := q.Submit(f, http.MethodPost, "/v1/topups", map[string]billing.Money{"amount": amount}, &made, again); !done {
		return err
	}
	if made.URL == "" {
		return again()
	}
	return q.Go(made.URL)
}

// balanceAgain shows the page with a form of it that cannot be taken, which set enters.
func balanceAgain(q *page.Request, part string, set func(*balanceView)) error {
	v, err := newBalanceView(q)
	if err == nil {
		set(v)
	}
	return q.ShowInvalid("balance", part, "Balance")(v, err)
}

// setRecharge saves the settings of automatic recharge.
func setRecharge(q *page.Request, f *page.Form) error {
	in := map[string]any{
		"enabled": f.Value("enabled") != "", "threshold": f.Amount("threshold", "Say below which balance."),
		"amount": f.Amount("recharge", "Say how much each time."), "monthly_cap": f.Amount("monthly_cap", "Say how much in a month."),
	}
	again := func() error { return balanceAgain(q, "recharge-form", func(v *balanceView) { v.Settings = f }) }
	if done, err := q.Submit(f, http.MethodPut, "/v1/auto-recharge", in, nil, again); !done {
		return err
	}
	return q.Done(balanceAt, "Automatic recharge was saved.")
}
