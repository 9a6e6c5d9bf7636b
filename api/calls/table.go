package calls

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/history"
)

// tableBatch is how many calls are read at once: each brings what was said in it.
const tableBatch = 100

var tableHeader = []string{"id", "created_at", "answered_at", "ended_at", "direction", "from", "to", "agent_id", "agent_version", "status", "duration",
	"end_reason", "end_detail", "answered_by", "cost", "mos", "wait_p50_ms", "metadata", "tags"}

// Words that a query may have, as the list's schema has them.
var (
	directions = []string{"", string(billing.Web), string(billing.Inbound), string(billing.Outbound)}
	callStates = []string{"", string(history.LiveCalls), string(history.EndedCalls)}
)

func (m *calls) mountTable(a *api.API) {
	words := func(name, doc, example string, enum ...any) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: doc, Example: example, Schema: &huma.Schema{Type: huma.TypeString, Enum: enum}}
	}
	r := routes.Get("/v1/calls.csv", "export-calls", "Export calls",
		"The calls that `GET /v1/calls` lists, in the same order: "+export.Columns(tableHeader)+". A caller who is no telephone number, as exchanges may write one, "+
			"begins with an apostrophe where a spreadsheet would compute it.")
	a.Handle(export.Route(r, []*huma.Param{
		words("direction", "Only these.", "outbound", "web", "inbound", "outbound"),
		words("agent_id", "Only calls of this agent, also one that was deleted.", "ag_06er5bt0v9k1o7m2q3s4t5u6v0"),
		words("number", "Only calls from or to this number, in international format.", "+34612345678"),
		words("end_reason", "Only calls that ended so.", "no_answer"),
		words("state", "Only calls in progress, or only those that are over.", "ended", "live", "ended"),
		{Name: "metadata", In: "query", Description: "Only calls with this metadata, such as metadata[order]=42.", Style: "deepObject", Explode: new(true),
			Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}},
		words("header", "Only calls with this header: its name, a colon and the whole value.", "X-Customer-Id:42"),
		words("tag", "Only calls with this tag.", "complaint"),
		words("q", "Only calls in which these words were said.", "refund"),
		words("sort", "What comes first, as in the list.", "longest", "newest", "oldest", "longest", "most_expensive", "worst_sound"),
		words("from", "Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.", "2026-03-01"),
		words("to", "Before this, likewise.", "2026-04-01"),
	}), api.HandlerFunc(m.table))
}

// Wanted reads the filter of a list of calls from a query; what is wrong with it is
// api.ErrBadRequest. Its page is the first, without a limit.
func Wanted(q url.Values) (history.CallPage, error) {
	in := listInput{Direction: q.Get("direction"), AgentID: q.Get("agent_id"), Number: q.Get("number"), EndReason: q.Get("end_reason"), State: q.Get("state"), Header: q.Get("header"), Tag: q.Get("tag"), Said: q.Get("q"), Sort: q.Get("sort"),
		Period: api.Period{From: q.Get("from"), To: q.Get("to")}}
	for name, values := range q {
		if name, ok := strings.CutPrefix(name, "metadata["); ok {
			if in.Metadata == nil {
				in.Metadata = wire.Metadata{}
			}
			in.Metadata[strings.TrimSuffix(name, "]")] = values[0]
		}
	}
	switch {
	case !slices.Contains(directions, in.Direction):
		return history.CallPage{}, api.Bad("direction: web, inbound or outbound")
	case !slices.Contains(callStates, in.State):
		return history.CallPage{}, api.Bad("state: live or ended")
	case sorts[in.Sort] == "" && in.Sort != "" && in.Sort != "newest":
		return history.CallPage{}, api.Bad("sort: newest, oldest, longest, most_expensive or worst_sound")
	case strings.ContainsRune(in.AgentID+in.EndReason+in.Tag+in.Said+in.Header, 0):
		return history.CallPage{}, api.ErrBadRequest
	}
	p, err := in.page()
	p.Limit = 0
	return p, err
}

// table is GET /v1/calls.csv.
func (m *calls) table(w http.ResponseWriter, r *http.Request) error {
	p, err := Wanted(r.URL.Query())
	if err != nil {
		return err
	}
	p.Limit = tableBatch
	now := m.db.Now()
	return m.files.Send(w, r, export.Table{Name: "calls", Header: tableHeader, Next: func(ctx context.Context, s *store.Statement) (rows [][]string, more bool, err error) {
		found, err := history.CallsAt(ctx, s, p)
		for i := range found {
			rows = append(rows, tableRow(summary(&found[i], now)))
			p.After = found[i].ID
		}
		return rows, len(found) == p.Limit, err
	}})
}

func tableRow(c wire.CallSummary) []string {
	version, mos, wait, metadata := "", "", "", ""
	if len(c.Metadata) > 0 {
		text, _ := json.Marshal(c.Metadata) // texts can be written
		metadata = string(text)
	}
	if c.Version != nil {
		version = strconv.FormatInt(*c.Version, 10)
	}
	if c.MOS != nil {
		mos = strconv.FormatFloat(*c.MOS, 'f', -1, 64)
	}
	if c.Wait != nil {
		wait = strconv.FormatInt(*c.Wait, 10)
	}
	return []string{c.ID, export.Time(c.CreatedAt), export.Moment(c.AnsweredAt), export.Moment(c.EndedAt),
		c.Direction, party(c.From), party(c.To), export.Optional(c.AgentID), version,
		c.Status, strconv.FormatInt(c.Duration, 10), export.Optional(c.EndReason), export.Optional(c.EndDetail), export.Optional(c.AnsweredBy),
		billing.Money(c.Cost).String(), mos, wait, metadata, export.Words(strings.Join(c.Tags, ", "))}
}

// party is who called or was called. A carrier passes on what a caller sent: only what
// is a number is let through as one.
func party(s string) string {
	if digits, ok := strings.CutPrefix(s, "+"); ok && strings.Trim(digits, "0123456789") == "" {
		return s
	}
	return export.Words(s)
}
