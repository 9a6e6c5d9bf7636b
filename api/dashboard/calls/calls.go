package calls

import (
	"net/http"
	"net/url"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

const (
	liveAt  = page.Home + "/live"
	viewsAt = page.Home + "/call-views"
)

func callPages() []page.Page {
	return []page.Page{
		{Route: "GET " + page.CallsAt, Serve: callsPage},
		{Route: "POST " + viewsAt, Form: saveView},
		{Route: "POST " + viewsAt + "/{id}/rename", Form: renameView},
		{Route: "POST " + viewsAt + "/{id}/delete", Serve: deleteView},
		{Route: "GET " + page.CallsAt + "/{id}", Serve: callPage},
		{Route: "GET " + page.CallsAt + "/{id}/meter", Serve: meterPart},
		{Route: "GET " + page.CallsAt + "/{id}/signalling", Serve: signallingPart},
		{Route: "POST " + page.CallsAt + "/{id}/hangup", Serve: hangUp},
		{Route: "GET " + page.CallsAt + "/{id}/recording/delete", Serve: dropRecordingPage},
		{Route: "POST " + page.CallsAt + "/{id}/recording/delete", Serve: dropRecording},
		{Route: "POST " + page.CallsAt + "/{id}/keep", Serve: keepWithCall},
		{Route: "GET " + page.CallsAt + "/{id}/delete", Serve: forgetPage},
		{Route: "POST " + page.CallsAt + "/{id}/delete", Serve: forget},
		{Route: "GET " + liveAt, Serve: livePage},
		{Route: "GET " + liveAt + "/rows", Serve: livePart},
		{Route: "GET " + liveAt + "/{id}", Serve: callPage},
	}
}

// callsView is the history, as far as the filter lets it through.
type callsView struct {
	List
	Form   *page.Form
	Agents []page.Option
	Next   string // address of older ones
	Table  string // of the same as a file
	// Filtered says whether not all are asked for.
	Filtered bool
	savedViews
}

// callFilters are what the history can be narrowed down and sorted by, in the address of the page
// as in the API's.
var callFilters = []string{"q", "direction", "agent_id", "number", "tag", "header", "end_reason", "from", "to", "sort"}

// Directions, Who and Ends are the choices.
func (v *callsView) Directions() page.Field { return directionField(v.Form) }

func (v *callsView) Who() page.Field { return agentField(v.Form, v.Agents) }

// directionField chooses a direction of calls.
func directionField(f *page.Form) page.Field {
	return f.Select("direction", "Direction", "", []page.Option{{Value: "", Label: "All"}, {Value: "inbound", Label: "Inbound"},
		{Value: "outbound", Label: "Outbound"}, {Value: "web", Label: "Web"}}, "required")
}

// agentField chooses an agent.
func agentField(f *page.Form, agents []page.Option) page.Field {
	return f.Select("agent_id", "Agent", "", append([]page.Option{{Value: "", Label: "All"}}, agents...), "required")
}

// eitherHungUp says user_hangup of calls of all directions.
const eitherHungUp = "Caller or callee hung up"

func (v *callsView) Ends() page.Field {
	all := []page.Option{{Value: "", Label: "All"}}
	for _, reason := range []string{"user_hangup", "agent_hangup", "completed", "api_hangup", "no_answer", "busy", "rejected", "voicemail",
		"failed", "balance_exhausted", "max_duration", "unknown"} {
		label := page.EndWords[reason]
		if reason == "user_hangup" {
			label = eitherHungUp
		}
		all = append(all, page.Option{Value: reason, Label: label})
	}
	return v.Form.Select("end_reason", "Outcome", "", all, "required")
}

// Sorts are the orders of the list.
func (v *callsView) Sorts() page.Field {
	return v.Form.Select("sort", "Order", "", []page.Option{{Value: "", Label: "Newest first"}, {Value: "oldest", Label: "Oldest first"},
		{Value: "longest", Label: "Longest first"}, {Value: "most_expensive", Label: "Most expensive first"}, {Value: "worst_sound", Label: "Worst sound first"}}, "required")
}

// BySound says whether the list is sorted by how calls sounded, and shows it.
func (v *callsView) BySound() bool { return v.Form.Values.Get("sort") == "worst_sound" }

func callsPage(q *page.Request) error {
	v, err := newCallsView(q, q.R.URL.Query())
	if err == nil && !v.Form.OK() {
		return q.Invalid("calls", "calls", "Call history", v)
	}
	return q.Show("calls", "Call history")(v, err)
}

// newCallsView lists the calls that are asked for, by the names of an address of the page.
func newCallsView(q *page.Request, asked url.Values) (*callsView, error) {
	names, agents, err := page.AgentNames(q)
	if err != nil {
		return nil, err
	}
	v := &callsView{Form: page.NewForm(), Agents: page.AgentOptions(agents)}
	filter := viewOf(asked)
	for _, name := range callFilters {
		v.Form.Values.Set(name, asked.Get(name))
	}
	v.Query = filter.Encode()
	v.Filtered = len(filter) > 0 && v.Query != "sort="+filter.Get("sort") || asked.Get("cursor") != ""
	if err := addViews(q, v); err != nil {
		return nil, err
	}
	filter.Set("state", "ended")
	v.Table = "/v1/calls.csv?" + filter.Encode()
	found, older, err := page.Listed[wire.CallSummary](q, "/v1/calls", page.CallsAt, "cursor", "50", filter)
	if err != nil && api.ProblemOf(err).Status == http.StatusBadRequest {
		return v, v.Form.Refused(err)
	}
	v.List, v.Next = List{rowsOfCalls(found, names), older != ""}, older
	return v, err
}

// Live are the calls in progress, most of them.
func Live(q *page.Request, most string) (List, error) {
	names, _, err := page.AgentNames(q)
	if err != nil {
		return List{}, err
	}
	return Read(q, "state=live&limit="+most, names)
}

func livePage(q *page.Request) error { return q.Show("live", "Live calls")(Live(q, "100")) }

// livePart is what the page asks for again and again.
func livePart(q *page.Request) error { return q.ShowPart("live", "live-rows")(Live(q, "100")) }

// doCall has the API's route of the call of the path, or of what is below it, do something.
func doCall(q *page.Request, method, below, notice string) error {
	id := q.ID("id")
	return q.Do(method, page.Path("/v1/calls/", id)+below, nil, page.Path(page.CallsAt+"/", id), notice)
}

// hangUp ends a call.
func hangUp(q *page.Request) error {
	return doCall(q, http.MethodPost, "/hangup", "The call was hung up.")
}

// keepWithCall stores the tags, with commas between, and the note.
func keepWithCall(q *page.Request) error {
	f, err := q.Form()
	if err != nil {
		return err
	}
	tags, note := []string{}, f.Value("note")
	for tag := range strings.SplitSeq(f.Value("tags"), ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	id := q.ID("id")
	return q.Do(http.MethodPatch, page.Path("/v1/calls/", id), wire.CallChange{Tags: &tags, Note: &note}, page.Path(page.CallsAt+"/", id), "Saved.")
}

// dropRecordingPage asks whether a recording is to be deleted.
func dropRecordingPage(q *page.Request) error {
	v, err := newCallView(q)
	if err == nil && v.Call.Recording == nil {
		err = api.ErrNotFound
	}
	return q.Show("call-recording-delete", "Delete a recording")(v, err)
}

func dropRecording(q *page.Request) error {
	return doCall(q, http.MethodDelete, "/recording", "The recording was deleted.")
}

// forgetPage asks whether what was said in a call is to be deleted.
func forgetPage(q *page.Request) error {
	return q.Show("call-delete", "Delete transcript and recording")(newCallView(q))
}

func forget(q *page.Request) error {
	return doCall(q, http.MethodDelete, "", "The transcript and the recording were deleted.")
}
