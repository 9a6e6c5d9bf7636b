package telephony

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/billing"
)

const (
	bulkAt = page.Home + "/bulk"
	// maxList bounds a file of numbers, in bytes; the form around it may be larger.
	maxList     = 256 << 10
	maxBulkForm = 4 * maxList
)

func bulkPages() []page.Page {
	const one = bulkAt + "/{id}"
	return []page.Page{
		{Route: "GET " + bulkAt, Serve: bulkPage},
		{Route: "GET " + bulkAt + "/new", Serve: newBulkPage},
		{Route: "GET " + bulkAt + "/template.csv", Serve: bulkTemplate},
		{Route: "POST " + bulkAt + "/review", Max: maxBulkForm, Serve: reviewBulk},
		{Route: "POST " + bulkAt, Max: maxBulkForm, Serve: queueBulk},
		{Route: "POST " + bulkAt + "/hours", Form: setHours},
		{Route: "GET " + one, Serve: batchPage},
		{Route: "GET " + one + "/progress", Serve: batchPart},
		{Route: "GET " + one + "/results.csv", Serve: batchResults},
		{Route: "POST " + one + "/{turn}", Serve: turnBatch},
	}
}

// bulkListView is the batches, and when people are called.
type bulkListView struct {
	Batches []wire.Batch
	Form    *page.Form // of the hours
}

func newBulkListView(q *page.Request, f *page.Form) (*bulkListView, error) {
	list, err := page.Read[struct{ Batches []wire.Batch }](q, "/callcenter/bulk-dial")
	if err == nil && f == nil {
		f, err = hoursForm(q)
	}
	return &bulkListView{list.Batches, f}, err
}

func bulkPage(q *page.Request) error {
	return q.Show("bulk", "Bulk dial")(newBulkListView(q, nil))
}

// bulkTemplate is a file to begin with.
func bulkTemplate(q *page.Request) error {
	q.W.Header().Set("Content-Type", "text/csv; charset=utf-8")
	q.W.Header().Set("Content-Disposition", `attachment; filename="bulk.csv"`)
	_, err := io.WriteString(q.W, "to,scheduled_at\r\n+34912345678,\r\n+34912345679,2027-01-15T10:00:00+01:00\r\n")
	return err
}

// bulkView is a batch before it is queued.
type bulkView struct {
	dialView
	List  *numberList // as it was sent; nil: not yet
	Check *wire.BatchCheck
	// Variables are the columns that are called like variables of the agent, Headers those like headers of calls.
	Variables, Headers []namedColumn
	Rows               []checkedRow
	More               int // wrong rows that are not shown
}

// namedColumn is a column with values of what it is called.
type namedColumn struct {
	Name string
	At   int
}

// personalise finds the columns that are called like variables of the agent, or like headers of calls.
func (v *bulkView) personalise(q *page.Request) error {
	variables, err := variablesOf(q, v.Form.Value("agent_id"))
	if err != nil {
		return err
	}
	for i, name := range v.List.Header {
		name = strings.TrimSpace(name)
		if i == v.List.To || i == v.List.At {
			continue
		}
		if _, known := variables[name]; known {
			v.Variables = append(v.Variables, namedColumn{name, i})
		} else if header, ok := wire.HeaderName(name); ok {
			v.Headers = append(v.Headers, namedColumn{header, i})
		}
	}
	return nil
}

// variablesOf are those of an agent; of one that does not exist none: the check of the batch says so.
func variablesOf(q *page.Request, agent string) (map[string]string, error) {
	if agent == "" {
		return nil, nil
	}
	a, err := page.Read[struct {
		Settings struct{ Variables map[string]string }
	}](q, page.Path("/v1/agents/", agent))
	if api.ProblemOf(err).Status == http.StatusNotFound {
		return nil, nil
	}
	return a.Settings.Variables, err
}

// cells are the values of a row in columns, by what these are called; nil: the row has none of them.
func (r listRow) cells(columns []namedColumn) (values map[string]string) {
	for _, c := range columns {
		if c.At < len(r.Cells) {
			if values == nil {
				values = map[string]string{}
			}
			values[c.Name] = strings.TrimSpace(r.Cells[c.At])
		}
	}
	return values
}

// Columns are the choices of what the file's columns hold.
func (v *bulkView) Columns() []page.Field {
	options := make([]page.Option, len(v.List.Header))
	for i, name := range v.List.Header {
		options[i] = page.Option{Value: itoa(i), Label: name}
	}
	none := append([]page.Option{{Value: "-1", Label: "None"}}, options...)
	return []page.Field{
		v.Form.Select("column_to", "Numbers are in", itoa(v.List.To), options, "required"),
		v.Form.Select("column_at", "Times are in", itoa(v.List.At), none, "required"),
	}
}

// Machines is the choice of what a machine gets.
func (v *bulkView) Machines() page.Field {
	return v.Form.Select("on_machine", "Voicemail", "continue", []page.Option{{Value: "continue", Label: "The agent talks"},
		{Value: "hangup", Label: "Hang up"}, {Value: "message", Label: "Leave the message below"}}, "required", "width=medium")
}

// Retries is the choice of how often people are called who are busy or do not answer.
func (v *bulkView) Retries() page.Field {
	return v.Form.Select("retry", "Who is busy or does not answer", "", []page.Option{{Value: "", Label: "Is not called again"}, {Value: "2", Label: "Is called once more"},
		{Value: "3", Label: "Is called twice more"}, {Value: "5", Label: "Is called four times more"}}, "width=medium")
}

func newBulkView(q *page.Request, f *page.Form) (*bulkView, error) {
	v, err := newDialView(q, f)
	if err != nil {
		return nil, err
	}
	return &bulkView{dialView: *v}, nil
}

func newBulkPage(q *page.Request) error {
	f, err := hoursForm(q)
	if err != nil {
		return err
	}
	f.Values.Set("retry_minutes", "30")
	return q.Show("bulk-new", "New batch")(newBulkView(q, f))
}

// bulkForm reads the form with its file, which wins over the text of an earlier one.
func bulkForm(q *page.Request) (*page.Form, error) {
	f, text, err := q.FormWithFile(maxBulkForm)
	if errors.Is(err, api.ErrTooLarge) {
		f := page.NewForm()
		f.Fail("file", tooLargeList)
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if len(text) > 0 { // a browser sends an empty one where none was chosen
		f.Values.Set("list", string(text))
		if len(text) <= maxList {
			f.Values.Set("list", asText(text))
		}
		f.Values.Del("column_to")
		f.Values.Del("column_at")
	}
	return f, nil
}

// reviewBulk shows what a batch would do.
func reviewBulk(q *page.Request) error {
	v, err := reviewed(q)
	if err != nil {
		return err
	}
	if !v.Form.OK() || v.List == nil {
		return q.Invalid("bulk-new", "bulk-form", "New batch", v)
	}
	return q.Page("bulk-review", "New batch", v)
}

// reviewed reads the form and has its batch checked.
func reviewed(q *page.Request) (*bulkView, error) {
	f, err := bulkForm(q)
	if err != nil {
		return nil, err
	}
	v, err := newBulkView(q, f)
	if err != nil {
		return nil, err
	}
	list, complaint := readNumbers(f.Value("list"), f.Value("column_to"), f.Value("column_at"))
	if complaint != "" {
		f.Fail("file", complaint)
		return v, nil
	}
	v.List = list
	if err := v.personalise(q); err != nil {
		return nil, err
	}
	batch := v.batch(false)
	if !f.OK() {
		v.List = nil
		return v, nil
	}
	if err := q.Call(http.MethodPost, "/callcenter/bulk-dial/check", batch, &v.Check); err != nil {
		v.List = nil
		return v, f.Refused(err)
	}
	const shown = 100
	for i, r := range v.Check.Rows {
		switch {
		case r.OK && r.DuplicateOf == nil:
		case len(v.Rows) == shown:
			v.More++
		default:
			v.Rows = append(v.Rows, checkedRow{r, list.Lines[i]})
		}
	}
	return v, nil
}

// batch is what the form asks for, as the API takes it; leave leaves out lines that are
// wrong or repeat an earlier number.
func (v *bulkView) batch(leave bool) map[string]any {
	f := v.Form
	rows := []wire.NewRow{}
	for i, r := range v.List.Rows {
		if leave && !v.called(i) {
			continue
		}
		row := wire.NewRow{To: r.To, Vars: r.cells(v.Variables), Headers: r.cells(v.Headers)}
		maps.DeleteFunc(row.Headers, func(_, value string) bool { return value == "" })
		if r.At != "" {
			row.ScheduledAt = &r.At
		}
		rows = append(rows, row)
	}
	b := map[string]any{"name": f.Value("name"), "from": f.Value("from"), "agent_id": f.Value("agent_id"), "rows": rows, "on_machine": f.Value("on_machine")}
	if text := f.Value("message"); text != "" {
		b["message"] = text
	}
	if start, end := f.Value("window_start"), f.Value("window_end"); start != "" || end != "" {
		b["call_window"] = map[string]string{"start": start, "end": end, "timezone": "destination"}
	}
	if rules := retriesOf(f); rules != nil {
		b["retries"] = rules
	}
	return b
}

// retriesOf reads the retry rules from the form. It marks a field that does not hold a number.
func retriesOf(f *page.Form) []wire.Retry {
	if f.Value("retry") == "" {
		return nil
	}
	attempts, err := strconv.Atoi(f.Value("retry"))
	if err != nil {
		f.Fail("retry", "Choose one of the list.")
	}
	minutes, err := strconv.Atoi(f.Value("retry_minutes"))
	if err != nil || minutes < 1 || minutes > 7*24*60 {
		f.Fail("retry_minutes", "Write minutes, from 1 to 10080.")
	}
	return []wire.Retry{{On: "no_answer", Attempts: attempts, After: 60 * minutes}, {On: "busy", Attempts: attempts, After: 60 * minutes}}
}

// queueBulk queues what was reviewed.
func queueBulk(q *page.Request) error {
	v, err := reviewed(q)
	if err != nil {
		return err
	}
	if v.List == nil {
		return q.Invalid("bulk-new", "bulk-form", "New batch", v)
	}
	if v.Form.Value("consent") == "" {
		v.Form.Fail("consent", "Nobody is called who has not agreed.")
		return q.PageWithStatus(http.StatusUnprocessableEntity, "bulk-review", "New batch", v)
	}
	batch := v.batch(v.Form.Value("leave") != "")
	batch["consent_confirmed"] = true
	var made wire.BatchDetail
	if err := q.CallOnce(v.Form, http.MethodPost, "/callcenter/bulk-dial", batch, &made); err != nil {
		if err := v.Form.Refused(err); err != nil {
			return err
		}
	}
	if !v.Form.OK() {
		return q.PageWithStatus(http.StatusUnprocessableEntity, "bulk-review", "New batch", v)
	}
	return q.Done(page.Path(bulkAt+"/", made.ID), "The batch is queued.")
}

// batchPart is what the page asks for again and again. Its seen names the versions that the page shows: what has
// changed is sent, and nothing (204) when nothing has.
func batchPart(q *page.Request) error {
	v, err := newBatchView(q)
	if err != nil {
		return err
	}
	seen := strings.Split(q.R.URL.Query().Get("seen"), ".")
	if slices.Equal(seen, v.versions()) {
		q.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	for i := range v.Chunks {
		v.Chunks[i].New = v.Chunks[i].At >= len(seen)-1
	}
	v.Chunks = slices.DeleteFunc(v.Chunks, func(c batchChunk) bool { return len(seen) > c.At+1 && seen[c.At+1] == c.Version })
	return q.Part("batch", "changes", v)
}

// batchResults sends the result of each call as a file.
func batchResults(q *page.Request) error {
	return q.Relay(page.Path("/callcenter/bulk-dial/", q.ID("id"), "/results.csv"))
}

func turnBatch(q *page.Request) error {
	turn := q.ID("turn")
	said := map[string]string{"pause": "No further call begins until you go on.", "resume": "The batch goes on.", "cancel": "The batch is cancelled."}[turn]
	if said == "" {
		return api.ErrNotFound
	}
	id := q.ID("id")
	return q.Do(http.MethodPost, page.Path("/callcenter/bulk-dial/", id, "/", turn), nil, page.Path(bulkAt+"/", id), said)
}

// checkedRow is a line with what it would do.
type checkedRow struct {
	wire.RowCheck
	Line int // of the file
}

// Why is what is wrong with it, for the sender of the file.
func (r checkedRow) Why() string {
	if r.To == "" {
		return "There is no number in this line."
	}
	detail := r.Error.Detail
	if detail == "" {
		return r.Error.Message
	}
	if what, ok := strings.CutPrefix(detail, "scheduled_at: "); ok {
		return page.Sentence("the time is not understood: it must be " + what)
	}
	return page.Sentence(strings.TrimPrefix(detail, "to: "))
}

// called says whether a row would be called when those are left out that are wrong or
// repeat an earlier number.
func (v *bulkView) called(i int) bool {
	r := v.Check.Rows[i]
	return r.OK && r.DuplicateOf == nil
}

// Called is how many these are, and Out how many would be left out.
func (v *bulkView) Called() (n int) {
	for i := range v.Check.Rows {
		if v.called(i) {
			n++
		}
	}
	return n
}

// Out is how many lines would be left out.
func (v *bulkView) Out() int { return len(v.Check.Rows) - v.Called() }

// Repeated is how many lines are right but for an earlier one with their number.
func (v *bulkView) Repeated() int { return v.Out() - v.Check.Wrong }

// Whole is the sum of a minute with everybody who would be called.
func (v *bulkView) Whole() (sum billing.Money) {
	for i, r := range v.Check.Rows {
		if v.called(i) && r.PerMinute != nil {
			sum += billing.Money(*r.PerMinute)
		}
	}
	return sum
}
