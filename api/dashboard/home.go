package dashboard

import (
	"net/http"
	"time"

	"parley/api/wire"
	"parley/store"
	"parley/store/ledger"
)

func homePages() []page {
	return []page{
		{route: "GET " + home + "/{$}", serve: homePage},
		{route: "GET " + home + "/overview/live", serve: homeLive},
	}
}

// homeCalls is how many calls the overview shows of each kind.
const homeCalls = "8"

// homeView is what is going on in an account.
type homeView struct {
	Account *ledger.Account
	Live    callRows
	Past    callRows
	Agents  []store.AgentName
	Numbers []ledger.Number
	Keys    int
	Phone   bool
	Demo    bool // its numbers are on no telephone network
}

// callRow is a call as lists show it.
type callRow struct {
	wire.CallSummary
	Agent string // its name; empty: none, or deleted
	Who   string // the far end
}

// callRows are calls of one kind.
type callRows struct {
	Rows []callRow
	More bool
}

// Talk is how long it lasted, for templates.
func (c callRow) Talk() time.Duration { return time.Duration(c.Duration) * time.Second }

// Runs says whether the length grows: somebody talks.
func (c callRow) Runs() bool { return c.AnsweredAt != nil && c.EndedAt == nil }

// Way says it in words.
func (c callRow) Way() string {
	switch c.Direction {
	case "inbound":
		return "Called in"
	case "outbound":
		return "Called out"
	}
	return "Web"
}

// Tone is the colour of how a call ended.
func (c callRow) Tone() string {
	if c.EndReason == nil {
		return "info"
	}
	switch *c.EndReason {
	case "failed", "balance_exhausted":
		return "bad"
	case "busy", "no_answer", "rejected", "voicemail", "max_duration", "unknown":
		return "warn"
	}
	return "good"
}

// State says it in words.
func (c callRow) State() string {
	if c.EndReason != nil {
		return ending(c.Direction == "outbound", *c.EndReason, c.EndDetail)
	}
	if c.Direction == "web" && c.Status != "connected" {
		return "Starting"
	}
	return map[string]string{"dialing": "Dialling", "ringing": "Ringing", "connected": "Talking"}[c.Status]
}

// listCalls asks for calls of the account.
func (q *Request) listCalls(query string, names map[string]string) (callRows, error) {
	var list struct {
		Data    []wire.CallSummary `json:"data"`
		HasMore bool               `json:"has_more"`
	}
	if err := q.Call(http.MethodGet, "/v1/calls?"+query, nil, &list); err != nil {
		return callRows{}, err
	}
	rows := callRows{More: list.HasMore}
	for _, c := range list.Data {
		row := callRow{CallSummary: c, Who: c.From}
		if c.Direction == "outbound" {
			row.Who = c.To
		}
		if c.AgentID != nil {
			row.Agent = names[*c.AgentID]
		}
		rows.Rows = append(rows.Rows, row)
	}
	return rows, nil
}

// agentNames are those of the account's agents, by identifier and newest first.
func (q *Request) agentNames() (map[string]string, []store.AgentName, error) {
	agents, err := q.DB.AgentNames(q.Context(), q.Account())
	if err != nil {
		return nil, nil, err
	}
	names := map[string]string{}
	for _, a := range agents {
		names[a.ID] = a.Name
	}
	return names, agents, nil
}

func homePage(q *Request) error {
	v := homeView{Phone: q.Telephony, Demo: q.Browser.Demo}
	names, agents, err := q.agentNames()
	if err != nil {
		return err
	}
	v.Agents = agents
	if v.Account, err = ledger.New(q.DB).Account(q.Context(), q.Account()); err != nil {
		return err
	}
	if v.Numbers, err = ledger.New(q.DB).Numbers(q.Context(), q.Account(), store.Page{}); err != nil {
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
	if v.Live, err = q.listCalls("state=live&limit="+homeCalls, names); err != nil {
		return err
	}
	if v.Past, err = q.listCalls("state=ended&limit="+homeCalls, names); err != nil {
		return err
	}
	return q.Page("home", "Overview", v)
}

// homeLive is the part of the overview that is asked for again and again.
func homeLive(q *Request) error {
	names, _, err := q.agentNames()
	if err != nil {
		return err
	}
	live, err := q.listCalls("state=live&limit="+homeCalls, names)
	if err != nil {
		return err
	}
	account, err := ledger.New(q.DB).Account(q.Context(), q.Account())
	if err != nil {
		return err
	}
	return q.Part("home", "live", homeView{Account: account, Live: live})
}
