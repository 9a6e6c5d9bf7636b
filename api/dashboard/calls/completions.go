package calls

import (
	"net/http"
	"strconv"
	"time"

	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store"
)

// askedRow is a question to the language model of a call.
type askedRow struct {
	wire.CallCompletion
	Time time.Duration // of the call
}

// askedWords say how questions ended.
var askedWords = map[string]string{"pending": "No answer yet", "done": "Answered", "cut": "Not wanted any more", "failed": "Failed"}

// Ended says how the question ended.
func (r askedRow) Ended() string { return askedWords[r.Outcome] }

func asked(c wire.CallCompletion) askedRow {
	return askedRow{c, time.Duration(c.At * float64(time.Second))}
}

type askedView struct {
	ID   string // the call's
	Rows []askedRow
}

// completionsPart is asked for when an owner opens it.
func completionsPart(q *page.Request) error {
	list, err := page.Read[wire.CallCompletions](q, page.Path("/v1/calls/", q.ID("id"), "/completions"))
	v := askedView{ID: q.ID("id")}
	for _, c := range list.Data {
		v.Rows = append(v.Rows, asked(c))
	}
	return q.ShowPart("call", "completions")(v, err)
}

// completionView is a question with all that the model was given.
type completionView struct {
	ID    string // the call's
	Asked askedRow
	wire.CallCompletionDetail
}

// Speaker is who an entry of the conversation is from, in a word.
func (v completionView) Speaker(m wire.CompletionMessage) string {
	switch m.Role {
	case "agent":
		return "Agent"
	case "tool":
		return "Function"
	}
	return "Caller"
}

func completionPage(q *page.Request) error {
	no, err := strconv.Atoi(q.ID("no"))
	if err != nil {
		return store.ErrNotFound
	}
	c, err := page.Read[wire.CallCompletionDetail](q, page.Path("/v1/calls/", q.ID("id"), "/completions/", strconv.Itoa(no)))
	return q.Show("completion", "What the model was asked")(completionView{q.ID("id"), asked(c.CallCompletion), c}, err)
}

// completionPages are those about what models were asked.
func completionPages() []page.Page {
	const all = page.CallsAt + "/{id}/completions"
	return []page.Page{
		{Route: http.MethodGet + " " + all, Open: page.Owners, Serve: completionsPart},
		{Route: http.MethodGet + " " + all + "/{no}", Open: page.Owners, Serve: completionPage},
	}
}
