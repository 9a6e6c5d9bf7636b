package dashboard

import (
	"parley/api/dashboard/calls"
	"parley/api/dashboard/page"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
)

func homePages() []page.Page {
	return []page.Page{
		{Route: "GET " + page.Home + "/{$}", Serve: homePage},
		{Route: "GET " + page.Home + "/overview/live", Serve: homeLive},
	}
}

// homeCalls is how many calls the overview shows of each kind.
const homeCalls = "8"

// homeView is what is going on in an account.
type homeView struct {
	Account *ledger.Account
	Live    calls.List
	Past    calls.List
	Agents  []store.AgentName
	Numbers []numbers.Number
	Keys    int
	Figures *calls.Insights // of the last days; nil in parts of the page
	Phone   bool
	Demo    bool // its numbers are on no telephone network
}

func homePage(q *page.Request) error {
	v := homeView{Phone: q.Telephony, Demo: q.Browser.Demo}
	names, agents, err := page.AgentNames(q)
	if err != nil {
		return err
	}
	v.Agents = agents
	if v.Account, err = q.Ledger.Account(q.Context(), q.Account()); err != nil {
		return err
	}
	if v.Numbers, err = numbers.New(q.DB).Numbers(q.Context(), q.Account(), store.Page{}); err != nil {
		return err
	}
	keys, err := q.People.Keys(q.Context(), q.Account(), store.Page{})
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.RevokedAt == nil {
			v.Keys++
		}
	}
	if v.Figures, err = calls.Lately(q, names); err != nil {
		return err
	}
	if v.Live, err = calls.Read(q, "state=live&limit="+homeCalls, names); err != nil {
		return err
	}
	v.Past, err = calls.Read(q, "state=ended&limit="+homeCalls, names)
	return q.Show("home", "Overview")(v, err)
}

// homeLive is the part of the overview that is asked for again and again.
func homeLive(q *page.Request) error {
	live, err := calls.Live(q, homeCalls)
	if err != nil {
		return err
	}
	account, err := q.Ledger.Account(q.Context(), q.Account())
	return q.ShowPart("home", "live")(homeView{Account: account, Live: live}, err)
}
