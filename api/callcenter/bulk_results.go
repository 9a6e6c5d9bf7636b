package callcenter

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
)

var resultHeader = []string{"to", "from", "agent_id", "scheduled_at", "status", "call_id", "started_at", "answered_at", "ended_at", "duration", "end_reason", "end_detail",
	"answered_by", "cost", "summary", "error"}

func (s *bulk) mountResults(a *api.API, files *export.Sender) {
	r := export.Route(callRoutes.Get("/callcenter/bulk-dial/{id}/results.csv", "export-batch", "Export the results of a batch",
		"A line for each of its calls, in the order in which they were given: "+export.Columns(resultHeader)+"."), []*huma.Param{
		{Name: "id", In: "path", Required: true, Description: "The batch's identifier.", Schema: &huma.Schema{Type: huma.TypeString}, Example: "bulk_06er5bt0v9k1o7m2q3s4t5u6v0"}})
	r.Errors = append(r.Errors, http.StatusNotFound)
	a.Handle(r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		files.Send(w, r, export.Table{Name: "batch", Header: resultHeader, Next: func(ctx context.Context, _ *store.Statement) ([][]string, bool, error) {
			b, err := s.detail(ctx, api.AccountOf(ctx), r.PathValue("id"))
			rows := make([][]string, len(b.Rows))
			for i := range b.Rows {
				rows[i] = resultRow(&b.Rows[i])
			}
			return rows, false, err
		}})
	}))
}

// resultRow is a call of a batch in a table. A text that a spreadsheet would compute, as
// a model may write one, is none there.
func resultRow(r *wire.BatchRow) []string {
	fault := ""
	if r.Error != nil {
		fault = r.Error.Code + ": " + r.Error.Message
	}
	return []string{r.To, r.From, r.AgentID, at(r.ScheduledAt), r.Status, export.Optional(r.CallID), at(r.StartedAt), at(r.AnsweredAt), at(r.EndedAt),
		strconv.FormatInt(r.Duration, 10), export.Optional(r.EndReason), export.Optional(r.EndDetail), export.Optional(r.AnsweredBy),
		billing.Money(r.Cost).String(), export.Words(strings.Join(strings.Fields(export.Optional(r.Summary)), " ")), fault}
}

func at(t *time.Time) string {
	if t == nil {
		return ""
	}
	return export.Time(*t)
}
