package dashboard

import (
	"net/http"
	"net/url"

	"parley/api"
)

const (
	callsAt = home + "/calls"
	liveAt  = home + "/live"
)

func callPages() []page {
	return []page{
		{route: "GET " + callsAt, serve: callsPage},
		{route: "GET " + callsAt + "/{id}", serve: callPage},
		{route: "GET " + callsAt + "/{id}/meter", serve: meterPart},
		{route: "GET " + callsAt + "/{id}/signalling", serve: signallingPart},
		{route: "POST " + callsAt + "/{id}/hangup", serve: hangUp},
		{route: "GET " + callsAt + "/{id}/recording/delete", serve: dropRecordingPage},
		{route: "POST " + callsAt + "/{id}/recording/delete", serve: dropRecording},
		{route: "GET " + callsAt + "/{id}/delete", serve: forgetPage},
		{route: "POST " + callsAt + "/{id}/delete", serve: forget},
		{route: "GET " + liveAt, serve: livePage},
		{route: "GET " + liveAt + "/rows", serve: livePart},
		{route: "GET " + liveAt + "/{id}", serve: callPage},
	}
}

// callsView is the history, as far as the filter lets it through.
type callsView struct {
	callRows
	Form   *Form
	Agents []Option
	Next   string // address of older ones
	Table  string // of the same as a file
	// Filtered says whether not all are asked for.
	Filtered bool
}

// callFilters are what the history can be narrowed down by, in the address of the page
// as in the API's.
var callFilters = []string{"direction", "agent_id", "number", "end_reason", "from", "to"}

// Directions, Who and Ends are the choices.
func (v *callsView) Directions() Field {
	return v.Form.Select("direction", "Way", "", []Option{{Value: "", Label: "All"}, {Value: "inbound", Label: "Called in"},
		{Value: "outbound", Label: "Called out"}, {Value: "web", Label: "Web"}}, "required")
}

func (v *callsView) Who() Field {
	return v.Form.Select("agent_id", "Agent", "", append([]Option{{Value: "", Label: "All"}}, v.Agents...), "required")
}

func (v *callsView) Ends() Field {
	all := []Option{{Value: "", Label: "All"}}
	for _, reason := range []string{"user_hangup", "agent_hangup", "completed", "api_hangup", "no_answer", "busy", "rejected", "voicemail",
		"failed", "balance_exhausted", "max_duration", "unknown"} {
		label := endWords[reason]
		if reason == "user_hangup" {
			label = "Caller or callee hung up"
		}
		all = append(all, Option{Value: reason, Label: label})
	}
	return v.Form.Select("end_reason", "End", "", all, "required")
}

func callsPage(q *Request) error {
	names, agents, err := q.agentNames()
	if err != nil {
		return err
	}
	v := &callsView{Form: &Form{Values: url.Values{}}}
	for _, a := range agents {
		v.Agents = append(v.Agents, Option{Value: a.ID, Label: a.Name})
	}
	asked, filter := q.R.URL.Query(), url.Values{}
	for _, name := range callFilters {
		if value := asked.Get(name); value != "" {
			filter.Set(name, value)
		}
		v.Form.Values.Set(name, asked.Get(name))
	}
	v.Filtered = len(filter) > 0 || asked.Get("cursor") != ""
	filter.Set("state", "ended")
	v.Table = "/v1/calls.csv?" + filter.Encode()
	query := url.Values{"limit": {"50"}, "cursor": {asked.Get("cursor")}}
	for name, value := range filter {
		query[name] = value
	}
	v.callRows, err = q.listCalls(query.Encode(), names)
	if err != nil && api.ProblemOf(err).Status == http.StatusBadRequest {
		if err := v.Form.Refused(err); err != nil {
			return err
		}
		return q.Invalid("calls", "calls", "Call history", v)
	}
	if err != nil {
		return err
	}
	if v.More && len(v.Rows) > 0 {
		filter.Set("cursor", v.Rows[len(v.Rows)-1].ID)
		v.Next = callsAt + "?" + filter.Encode()
	}
	return q.Page("calls", "Call history", v)
}

// liveRows are the calls in progress.
func (q *Request) liveRows() (callRows, error) {
	names, _, err := q.agentNames()
	if err != nil {
		return callRows{}, err
	}
	return q.listCalls("state=live&limit=100", names)
}

func livePage(q *Request) error {
	rows, err := q.liveRows()
	if err != nil {
		return err
	}
	return q.Page("live", "Live calls", rows)
}

// livePart is what the page asks for again and again.
func livePart(q *Request) error {
	rows, err := q.liveRows()
	if err != nil {
		return err
	}
	return q.Part("live", "live-rows", rows)
}

// hangUp ends a call, and goes back to where it was asked for.
func hangUp(q *Request) error {
	id := q.ID("id")
	if err := q.Call(http.MethodPost, Path("/v1/calls/", id, "/hangup"), nil, nil); err != nil {
		return err
	}
	return q.Done(Path(callsAt+"/", id), "The call was hung up.")
}

// dropRecordingPage asks whether a recording is to be deleted.
func dropRecordingPage(q *Request) error {
	v, err := q.callView()
	if err != nil {
		return err
	}
	if v.Call.Recording == nil {
		return api.ErrNotFound
	}
	return q.Page("call-recording-delete", "Delete a recording", v)
}

func dropRecording(q *Request) error {
	id := q.ID("id")
	if err := q.Call(http.MethodDelete, Path("/v1/calls/", id, "/recording"), nil, nil); err != nil {
		return err
	}
	return q.Done(Path(callsAt+"/", id), "The recording was deleted.")
}

// forgetPage asks whether what was said in a call is to be deleted.
func forgetPage(q *Request) error {
	v, err := q.callView()
	if err != nil {
		return err
	}
	return q.Page("call-delete", "Delete what was said", v)
}

func forget(q *Request) error {
	id := q.ID("id")
	if err := q.Call(http.MethodDelete, Path("/v1/calls/", id), nil, nil); err != nil {
		return err
	}
	return q.Done(Path(callsAt+"/", id), "What was said was deleted.")
}
