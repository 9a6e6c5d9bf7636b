package telephony

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
)

const numbersAt = page.Home + "/numbers"

func numberPages() []page.Page {
	const one = numbersAt + "/{id}"
	return []page.Page{
		{Route: "GET " + numbersAt, Serve: numbersPage},
		{Route: "POST " + numbersAt, Form: buyNumber},
		{Route: "GET " + numbersAt + "/search", Serve: searchPage},
		{Route: "GET " + numbersAt + "/buy", Serve: buyPage},
		{Route: "POST " + one + "/assign", Form: assignNumber},
		{Route: "GET " + one + "/rules", Serve: rulesPage},
		{Route: "POST " + one + "/rules", Form: saveRules},
		{Route: "POST " + one + "/pace", Form: paceNumber},
		{Route: "GET " + one + "/release", Serve: releasePage},
		{Route: "POST " + one + "/release", Form: releaseNumber},
		{Route: "GET " + page.Home + "/dial", Serve: dialPage},
		{Route: "POST " + page.Home + "/dial", Form: dial},
	}
}

// countryNames are the countries whose numbers are sold, as the search names them.
var countryNames = []page.Option{{Value: "ES", Label: "Spain"}, {Value: "US", Label: "United States"}, {Value: "UK", Label: "United Kingdom"},
	{Value: "DE", Label: "Germany"}, {Value: "FR", Label: "France"}, {Value: "IT", Label: "Italy"}, {Value: "PT", Label: "Portugal"}}

// Country is where a number is, in words.
func (v *numbersView) Country(code string) string {
	if code == "GB" { // the search says UK
		code = "UK"
	}
	return page.LabelOf(countryNames, code)
}

// ownNumbers are those of the account.
func ownNumbers(q *page.Request) ([]wire.Number, error) {
	list, err := page.Read[struct{ Numbers []wire.Number }](q, "/callcenter/numbers")
	return list.Numbers, err
}

// agentOptions are the account's agents to choose from, after some other choices.
func agentOptions(q *page.Request, first ...page.Option) ([]page.Option, error) {
	_, agents, err := page.AgentNames(q)
	return append(first, page.AgentOptions(agents)...), err
}

var nobody = page.Option{Value: "", Label: "Nobody"}

type numbersView struct {
	Numbers  []wire.Number
	Agents   []page.Option
	Webhooks []page.Option // none: the account has none
	Price    billing.Money // of a month
}

// Answers is the choice of who answers a number.
func (v *numbersView) Answers(n wire.Number) page.Field {
	chosen := ""
	if n.AgentID != nil {
		chosen = *n.AgentID
	}
	f := (&page.Form{}).Select("agent_id", "Who answers "+n.PhoneNumber, chosen, v.Agents, "required")
	f.Name = "agent_id-" + n.ID // each on the page is another
	return f
}

// Asks is the choice of the webhook that is asked about calls to a number.
func (v *numbersView) Asks(n wire.Number) page.Field {
	chosen := ""
	if n.WebhookID != nil {
		chosen = *n.WebhookID
	}
	f := (&page.Form{}).Select("webhook_id", "Webhook that decides about calls to "+n.PhoneNumber, chosen, v.Webhooks)
	f.Name = "webhook_id-" + n.ID // each on the page is another
	return f
}

// webhookOptions are the account's webhooks to choose from.
func webhookOptions(q *page.Request) ([]page.Option, error) {
	list, err := page.Read[api.List[wire.Webhook]](q, "/v1/webhooks")
	if err != nil || len(list.Data) == 0 {
		return nil, err
	}
	options := []page.Option{{Value: "", Label: "Ask nobody first"}}
	for _, w := range list.Data {
		options = append(options, page.Option{Value: w.ID, Label: "Ask " + cmp.Or(w.Description, w.URL)})
	}
	return options, nil
}

func numbersPage(q *page.Request) error {
	numbers, err := ownNumbers(q)
	if err != nil {
		return err
	}
	agents, err := agentOptions(q, nobody)
	if err != nil {
		return err
	}
	hooks, err := webhookOptions(q)
	return q.Show("numbers", "Numbers")(&numbersView{numbers, agents, hooks, q.Card().NumberPerMonth()}, err)
}

// searchView is numbers for sale.
type searchView struct {
	Form   *page.Form
	Asked  bool
	Offers []wire.Offer
	Price  billing.Money // of a month
	Next   string        // address of the next page
	Whole  string        // of the search in the whole country
}

// Countries is the choice of where.
func (v *searchView) Countries() page.Field {
	return v.Form.Select("country", "Country", "ES", countryNames, "required", "width=short")
}

func searchPage(q *page.Request) error {
	asked := q.R.URL.Query()
	v := &searchView{Form: page.NewForm("country", asked.Get("country"), "region_code", asked.Get("region_code"), "locality", asked.Get("locality")),
		Asked: asked.Get("country") != "", Price: q.Card().NumberPerMonth()}
	if !v.Asked {
		return q.Page("numbers-search", "Get a number", v)
	}
	at, err := strconv.Atoi(asked.Get("page"))
	if err != nil || at < 1 {
		at = 1
	}
	query := url.Values{"country_code": {v.Form.Value("country")}, "page": {strconv.Itoa(at)}}
	for _, name := range []string{"region_code", "locality"} {
		if value := v.Form.Value(name); value != "" {
			query.Set(name, value)
		}
	}
	var found struct {
		Numbers []wire.Offer `json:"numbers"`
		HasMore bool         `json:"has_more"`
	}
	again := func() error { return q.Invalid("numbers-search", "search", "Get a number", v) }
	if done, err := q.Submit(v.Form, http.MethodGet, "/callcenter/numbers/search?"+query.Encode(), nil, &found, again); !done {
		return err
	}
	v.Offers, v.Whole = found.Numbers, numbersAt+"/search?"+url.Values{"country": {v.Form.Value("country")}}.Encode()
	if found.HasMore {
		more := url.Values{"country": {v.Form.Value("country")}, "region_code": {v.Form.Value("region_code")}, "locality": {v.Form.Value("locality")},
			"page": {strconv.Itoa(at + 1)}}
		v.Next = numbersAt + "/search?" + more.Encode()
	}
	return q.Page("numbers-search", "Get a number", v)
}

// buyView is a purchase before it is confirmed.
type buyView struct {
	Form   *page.Form
	Number string
	Price  billing.Money
	Agents []page.Option
}

// Answers is the choice of who will answer.
func (v *buyView) Answers() page.Field {
	return v.Form.Select("agent_id", "Who answers it", "", v.Agents, "required", "width=medium")
}

func newBuyView(q *page.Request, f *page.Form) (*buyView, error) {
	agents, err := agentOptions(q, nobody)
	return &buyView{f, f.Value("number"), q.Card().NumberPerMonth(), agents}, err
}

func buyPage(q *page.Request) error {
	v, err := newBuyView(q, page.NewForm("number", q.R.URL.Query().Get("number")))
	if err != nil {
		return err
	}
	if len(v.Agents) > 1 {
		v.Form.Values.Set("agent_id", v.Agents[1].Value)
	}
	return q.Page("numbers-buy", "Buy a number", v)
}

func buyNumber(q *page.Request, f *page.Form) error {
	var bought wire.Number
	err := q.CallOnce(f, http.MethodPost, "/callcenter/numbers", map[string]string{"phone_number": f.Value("number"), "agent_id": f.Value("agent_id")}, &bought)
	if err == nil {
		if bought.Status == "pending" {
			return q.Done(numbersAt, bought.PhoneNumber+" is ordered and paid. It works as soon as the carrier has activated it.")
		}
		return q.Done(numbersAt, bought.PhoneNumber+" is yours.")
	}
	if err := f.Refused(err); err != nil {
		return err
	}
	return q.ShowInvalid("numbers-buy", "buy-form", "Buy a number")(newBuyView(q, f))
}

func assignNumber(q *page.Request, f *page.Form) error {
	id := q.ID("id")
	var n wire.Number
	to := map[string]string{"agent_id": f.Value("agent_id-" + id)}
	if asked := "webhook_id-" + id; f.Values.Has(asked) {
		to["webhook_id"] = f.Value(asked)
	}
	if err := q.Call(http.MethodPost, page.Path("/callcenter/numbers/", id, "/assign"), to, &n); err != nil {
		return err
	}
	who := "Nobody"
	if n.AgentName != nil {
		who = *n.AgentName
	}
	unless := ""
	if n.WebhookID != nil {
		unless = ", unless the webhook says otherwise"
	}
	return q.Done(numbersAt, fmt.Sprintf("%s answers %s from now on%s.", who, n.PhoneNumber, unless))
}

// releaseView is a number that is about to be given back.
type releaseView struct {
	wire.Number
	Form *page.Form
}

func newReleaseView(q *page.Request, f *page.Form) (*releaseView, error) {
	all, err := ownNumbers(q)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		if n.ID == q.ID("id") {
			return &releaseView{n, f}, nil
		}
	}
	return nil, store.ErrNotFound
}

func releasePage(q *page.Request) error {
	return q.Show("numbers-release", "Release a number")(newReleaseView(q, &page.Form{}))
}

// releaseNumber wants the number typed: it cannot be had again.
func releaseNumber(q *page.Request, f *page.Form) error {
	v, err := newReleaseView(q, f)
	if err != nil {
		return err
	}
	if strings.NewReplacer(" ", "", "-", "").Replace(f.Value("number")) != v.PhoneNumber {
		f.Fail("number", "Type "+v.PhoneNumber+" to release it.")
		return q.Invalid("numbers-release", "release-form", "Release a number", v)
	}
	return q.Do(http.MethodDelete, page.Path("/callcenter/numbers/", v.ID), nil, numbersAt, v.PhoneNumber+" was released.")
}

// dialView is a call before it is placed.
type dialView struct {
	Form    *page.Form
	Numbers []page.Option
	Agents  []page.Option
}

// From and Agent are the choices.
func (v *dialView) From() page.Field {
	return v.Form.Select("from", "From your number", "", v.Numbers, "required", "width=medium")
}

func (v *dialView) Agent() page.Field {
	return v.Form.Select("agent_id", "Who speaks", "", v.Agents, "required", "width=medium")
}

func newDialView(q *page.Request, f *page.Form) (*dialView, error) {
	v := &dialView{Form: f}
	all, err := ownNumbers(q)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		v.Numbers = append(v.Numbers, page.Option{Value: n.PhoneNumber, Label: n.PhoneNumber})
	}
	if len(v.Numbers) > 1 {
		v.Numbers = append(v.Numbers, page.Option{Value: "local", Label: "The nearest to whom you call"})
	}
	v.Agents, err = agentOptions(q)
	return v, err
}

func dialPage(q *page.Request) error {
	return q.Show("dial", "Place a call")(newDialView(q, page.NewForm()))
}

func dial(q *page.Request, f *page.Form) error {
	f.Need("to", "Say whom to call.")
	if f.Value("consent") == "" {
		f.Fail("consent", "Nobody is called who has not agreed.")
	}
	headers := headerLines(f)
	if f.OK() {
		var placed wire.Placed
		err := q.CallOnce(f, http.MethodPost, "/callcenter/dial", map[string]any{"from": f.Value("from"), "to": f.Value("to"), "agent_id": f.Value("agent_id"),
			"consent_confirmed": true, "headers": headers}, &placed)
		if err == nil {
			return q.Done(page.Path(page.CallsAt+"/", placed.CallID), "Calling "+placed.To+".")
		}
		if p := api.ProblemOf(err); p.Code == api.ProblemOf(api.ErrDestination).Code {
			f.Fail("to", page.Sentence(cmp.Or(p.Detail, p.Message)))
		} else if err := f.Refused(err); err != nil {
			return err
		}
	}
	return q.ShowInvalid("dial", "dial-form", "Place a call")(newDialView(q, f))
}

// headerLines are the headers that the call carries, one a line as SIP writes them: X-Customer-Id: 42.
func headerLines(f *page.Form) wire.CallHeaders {
	headers := wire.CallHeaders{}
	for line := range strings.Lines(f.Value("headers")) {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); ok {
			headers[name] = value
		} else if name != "" {
			f.Fail("headers", "Write a name, a colon and the value on each line.")
		}
	}
	headers, wrong := headers.Read()
	if wrong != "" {
		f.Fail("headers", page.Sentence(strings.TrimPrefix(strings.TrimPrefix(wrong, "headers: "), "headers.")))
	}
	return headers
}
