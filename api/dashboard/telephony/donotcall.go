package telephony

import (
	"net/http"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

const (
	DoNotCallAt    = page.Home + "/do-not-call"
	DoNotCallTitle = "Do not call"
	doNotCallRoute = "/v1/do-not-call"
)

func doNotCallPages() []page.Page {
	return []page.Page{
		{Route: "GET " + DoNotCallAt, Serve: doNotCallPage},
		{Route: "POST " + DoNotCallAt, Form: addDoNotCall},
		{Route: "POST " + DoNotCallAt + "/remove", Form: removeDoNotCall},
	}
}

// doNotCallView is the list, or the one number that was looked for.
type doNotCallView struct {
	Form, Find *page.Form
	Rows       []wire.DoNotCall
	Next       string // address of older ones
	Sought     string // the number that was looked for; empty: none
}

// sources say in words who put a number on the list.
var sources = map[string]string{"api": "You", "agent": "Agent", "operator": "Operator", "message": "Text message"}

// Source is who put a number on the list.
func (v *doNotCallView) Source(r wire.DoNotCall) string { return sources[r.Source] }

func newDoNotCallView(q *page.Request, f *page.Form) (*doNotCallView, error) {
	v := &doNotCallView{Form: f, Find: page.NewForm("find", q.R.URL.Query().Get("find"))}
	if v.Sought = v.Find.Value("find"); v.Sought != "" {
		one, err := page.Read[wire.DoNotCall](q, page.Path(doNotCallRoute+"/", v.Sought))
		switch p := api.ProblemOf(err); p.Status {
		case http.StatusNotFound:
			return v, nil
		case http.StatusBadRequest:
			return v, v.Find.Refused(err)
		}
		v.Rows = []wire.DoNotCall{one}
		return v, err
	}
	var err error
	v.Rows, v.Next, err = page.Listed[wire.DoNotCall](q, doNotCallRoute, DoNotCallAt, "cursor", "50", nil)
	return v, err
}

func doNotCallPage(q *page.Request) error {
	return q.Show("do-not-call", DoNotCallTitle)(newDoNotCallView(q, page.NewForm("number", "", "reason", "")))
}

func addDoNotCall(q *page.Request, f *page.Form) error {
	in := wire.NewListed{Number: f.Need("number", "Enter a number in international format, such as +34612345678."), Reason: f.Value("reason")}
	again := func() error {
		return q.ShowInvalid("do-not-call", "do-not-call-form", DoNotCallTitle)(newDoNotCallView(q, f))
	}
	var listed wire.DoNotCall
	if done, err := q.Submit(f, http.MethodPost, doNotCallRoute, in, &listed, again); !done {
		return err
	}
	return q.Done(DoNotCallAt, listed.Number+" is on the do-not-call list.")
}

func removeDoNotCall(q *page.Request, f *page.Form) error {
	number := f.Value("number")
	if number == "" {
		return api.ErrBadRequest
	}
	return q.Do(http.MethodDelete, page.Path(doNotCallRoute+"/", number), nil, DoNotCallAt, number+" is no longer on the do-not-call list.")
}
