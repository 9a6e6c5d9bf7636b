package wallet

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/ledger/statement"
)

func viewUsage(g *statement.UsageGroup) wire.Usage {
	out := wire.Usage{Key: api.Some(g.Name), Amount: wire.USD(g.Amount), Components: make([]wire.Used, len(g.Items))}
	for i, item := range g.Items {
		out.Components[i] = wire.Used{Component: item.Component, Quantity: item.Quantity, Unit: units[item.Component].name, Amount: wire.USD(item.Amount)}
	}
	inOrder(out.Components, func(u wire.Used) string { return u.Component })
	return out
}

type usageInput struct {
	GroupBy string `query:"group_by" doc:"What is summed up together." enum:"day,agent,call,component" default:"day"`
	api.Period
	api.Paging
}

type usageList struct {
	GroupBy string     `json:"group_by" doc:"As it was asked for." enum:"day,agent,call,component"`
	From    *time.Time `json:"from" doc:"Null: since the account was made."`
	To      *time.Time `json:"to" doc:"Null: until now."`
	api.List[wire.Usage]
	Total   *wire.USD `json:"total" nullable:"true" doc:"The sum of all groups, of other pages too; on the first page only, else null."`
	Accrued wire.USD  `json:"accrued" doc:"What sessions in progress have used and no group holds yet, whatever the range."`
}

// page is what the query asks for.
func (in *usageInput) page() (p statement.UsagePage, err error) {
	p.By = statement.Grouping(in.GroupBy)
	if p.Range, err = in.Bounds(); err != nil {
		return p, err
	}
	if in.Cursor != "" {
		p.Before = &in.Cursor
	}
	return p, nil
}

func (m *wallet) usage(ctx context.Context, in *usageInput) (*api.Reply[usageList], error) {
	p, err := in.page()
	if err != nil {
		return nil, err
	}
	p.Limit = in.Limit + 1 // whether there is one more decides has_more
	out := api.Body(usageList{GroupBy: in.GroupBy, From: optional(p.From), To: optional(p.To)})
	var groups []statement.UsageGroup
	err = m.db.Statement(ctx, api.AccountOf(ctx), func(s *store.Statement) error {
		if groups, err = statement.Usage(ctx, s, p); err != nil {
			return err
		}
		if p.Before == nil {
			total, err := statement.Charged(ctx, s, p.Range)
			if err != nil {
				return err
			}
			out.Body.Total = (*wire.USD)(&total)
		}
		var accrued billing.Money
		accrued, err = statement.Accrued(ctx, s)
		out.Body.Accrued = wire.USD(accrued)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Body.List = api.Cut(in.Limit, groups, func(g statement.UsageGroup) string { return g.Name }, viewUsage)
	return out, nil
}

// usageHeader names the columns; a component needs no column for its group.
func usageHeader(by statement.Grouping) []string {
	header := []string{"component", "quantity", "unit", "amount"}
	if by != statement.ByComponent {
		header = append([]string{string(by)}, header...)
	}
	return header
}

func usageParams() []*huma.Param {
	by := param("group_by", "What is summed up together.", "day")
	by.Schema.Enum, by.Schema.Default = []any{"day", "agent", "call", "component"}, "day"
	return append([]*huma.Param{by}, rangeParams()...)
}

func (m *wallet) usageCSV(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	in := usageInput{GroupBy: q.Get("group_by"), Period: queryRange(q)}
	switch statement.Grouping(in.GroupBy) {
	case "":
		in.GroupBy = string(statement.ByDay)
	case statement.ByDay, statement.ByAgent, statement.ByCall, statement.ByComponent:
	default:
		return api.Bad("group_by must be day, agent, call or component")
	}
	p, err := in.page()
	if err != nil {
		return err
	}
	p.Limit = export.Batch
	return m.files.Send(w, r, export.Table{Name: "usage", Header: usageHeader(p.By), Next: func(ctx context.Context, s *store.Statement) (rows [][]string, more bool, err error) {
		groups, err := statement.Usage(ctx, s, p)
		for i := range groups {
			rows = append(rows, usageRows(p.By, &groups[i])...)
			p.Before = &groups[i].Name
		}
		return rows, len(groups) == p.Limit, err
	}})
}

// usageRows are a group's lines. As in the ledger's, no cell is computed by a
// spreadsheet: an agent's name, which its owner wrote, is none of them.
func usageRows(by statement.Grouping, g *statement.UsageGroup) [][]string {
	var rows [][]string
	for _, u := range viewUsage(g).Components {
		row := []string{u.Component, strconv.FormatInt(u.Quantity, 10), u.Unit, billing.Money(u.Amount).String()}
		if by != statement.ByComponent {
			row = append([]string{g.Name}, row...)
		}
		rows = append(rows, row)
	}
	return rows
}

// unit is what a component's quantity counts, and how many of it the rate card's
// price buys.
type unit struct {
	name string
	per  int64
}

var units = func() map[string]unit {
	token := unit{"token", 1_000_000}
	return map[string]unit{
		billing.AgentTime.String():      {"second", 60},
		billing.LineTime.String():       {"minute", 1},
		billing.ReplyIn.String():        token,
		billing.ReplyOut.String():       token,
		billing.SpeculativeIn.String():  token,
		billing.SpeculativeOut.String(): token,
		billing.SummaryIn.String():      token,
		billing.SummaryOut.String():     token,
		billing.TTSChars.String():       {"character", 1_000_000},
		billing.STTTime.String():        {"second", 60},
		billing.DenoiseTime.String():    {"second", 60},
		billing.CRMCalls.String():       {"event", 1},
		billing.WebSearches.String():    {"event", 1},
		billing.AudioIn.String():        token,
		billing.AudioCached.String():    token,
		billing.AudioOut.String():       token,
		billing.OwnIn.String():          token,
		billing.OwnOut.String():         token,
		billing.Segments.String():       {"segment", 1},
		numberMonth:                     {"month", 1},
	}
}()

// numberMonth is the component that no session has: a month of a telephone number.
const numberMonth = "number"

// rank is a component's place on a bill.
var rank = func() map[string]int {
	order := map[string]int{}
	for c := range billing.NumComponents {
		order[c.String()] = int(c)
	}
	order[numberMonth] = int(billing.NumComponents)
	return order
}()

// inOrder sorts lines as on a bill.
func inOrder[T any](lines []T, component func(T) string) {
	slices.SortStableFunc(lines, func(a, b T) int { return cmp.Compare(rank[component(a)], rank[component(b)]) })
}
