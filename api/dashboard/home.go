package dashboard

import (
	"strconv"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store"
	"parley/store/ledger"
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
	Live    callRows
	Past    callRows
	Agents  []store.AgentName
	Numbers []ledger.Number
	Keys    int
	Figures *insightsView // of the last days; nil in parts of the page
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

// Runs says whether the length grows: the call is in progress.
func (c callRow) Runs() bool { return c.AnsweredAt != nil && c.EndedAt == nil }

// Way says it in words.
func (c callRow) Way() string {
	switch c.Direction {
	case "inbound":
		return "Inbound"
	case "outbound":
		return "Outbound"
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

// Sound is how the call sounded; empty: that is not known.
func (c callRow) Sound() string {
	if c.MOS == nil {
		return ""
	}
	return strconv.FormatFloat(*c.MOS, 'f', 1, 64)
}

// listCalls asks for calls of the account.
func listCalls(q *page.Request, query string, names map[string]string) (callRows, error) {
	list, err := page.Read[api.List[wire.CallSummary]](q, "/v1/calls?"+query)
	return callRows{rowsOfCalls(list.Data, names), list.HasMore}, err
}

// rowsOfCalls shows calls; names are those of agents.
func rowsOfCalls(list []wire.CallSummary, names map[string]string) []callRow {
	rows := make([]callRow, len(list))
	for i, c := range list {
		rows[i] = callRow{CallSummary: c, Who: farEnd(c)}
		if c.AgentID != nil {
			rows[i].Agent = names[*c.AgentID]
		}
	}
	return rows
}

// farEnd is the number that talks with the agent.
func farEnd(c wire.CallSummary) string {
	if c.Direction == "outbound" {
		return c.To
	}
	return c.From
}

// agentNames are those of the account's agents, by identifier and newest first.
func agentNames(q *page.Request) (map[string]string, []store.AgentName, error) {
	agents, err := q.DB.AgentNames(q.Context(), q.Account())
	names := map[string]string{}
	for _, a := range agents {
		names[a.ID] = a.Name
	}
	return names, agents, err
}

// optionsOf are agents to choose from.
func optionsOf(agents []store.AgentName) []page.Option {
	out := make([]page.Option, len(agents))
	for i, a := range agents {
		out[i] = page.Option{Value: a.ID, Label: a.Name}
	}
	return out
}

func homePage(q *page.Request) error {
	v := homeView{Phone: q.Telephony, Demo: q.Browser.Demo}
	names, agents, err := agentNames(q)
	if err != nil {
		return err
	}
	v.Agents = agents
	if v.Account, err = q.Ledger.Account(q.Context(), q.Account()); err != nil {
		return err
	}
	if v.Numbers, err = q.Ledger.Numbers(q.Context(), q.Account(), store.Page{}); err != nil {
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
	if v.Figures, err = lately(q, names); err != nil {
		return err
	}
	if v.Live, err = listCalls(q, "state=live&limit="+homeCalls, names); err != nil {
		return err
	}
	v.Past, err = listCalls(q, "state=ended&limit="+homeCalls, names)
	return q.Show("home", "Overview")(v, err)
}

// homeLive is the part of the overview that is asked for again and again.
func homeLive(q *page.Request) error {
	live, err := liveRows(q, homeCalls)
	if err != nil {
		return err
	}
	account, err := q.Ledger.Account(q.Context(), q.Account())
	return q.ShowPart("home", "live")(homeView{Account: account, Live: live}, err)
}
