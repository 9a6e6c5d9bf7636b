package calls

import (
	"strconv"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

// Row is a call as lists show it.
type Row struct {
	wire.CallSummary
	Agent string // its name; empty: none, or deleted
	Who   string // the far end
}

// List are calls of one kind.
type List struct {
	Rows []Row
	More bool
}

// Talk is how long it lasted, for templates.
func (c Row) Talk() time.Duration { return time.Duration(c.Duration) * time.Second }

// Runs says whether the length grows: the call is in progress.
func (c Row) Runs() bool { return c.AnsweredAt != nil && c.EndedAt == nil }

// Way says it in words.
func (c Row) Way() string {
	switch c.Direction {
	case "inbound":
		return "Inbound"
	case "outbound":
		return "Outbound"
	}
	return "Web"
}

// Tone is the colour of how a call ended.
func (c Row) Tone() string {
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
func (c Row) State() string {
	if c.EndReason != nil {
		return page.Ending(c.Direction == "outbound", *c.EndReason, c.EndDetail)
	}
	if c.Direction == "web" && c.Status != "connected" {
		return "Starting"
	}
	return map[string]string{"dialing": "Dialling", "ringing": "Ringing", "connected": "Talking"}[c.Status]
}

// Sound is how the call sounded; empty: that is not known.
func (c Row) Sound() string {
	if c.MOS == nil {
		return ""
	}
	return strconv.FormatFloat(*c.MOS, 'f', 1, 64)
}

// Read asks for calls of the account.
func Read(q *page.Request, query string, names map[string]string) (List, error) {
	list, err := page.Read[api.List[wire.CallSummary]](q, "/v1/calls?"+query)
	return List{rowsOfCalls(list.Data, names), list.HasMore}, err
}

// rowsOfCalls shows calls; names are those of agents.
func rowsOfCalls(list []wire.CallSummary, names map[string]string) []Row {
	rows := make([]Row, len(list))
	for i, c := range list {
		rows[i] = Row{CallSummary: c, Who: farEnd(c)}
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
