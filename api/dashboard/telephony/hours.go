package telephony

import (
	"net/http"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

const windowPath = "/callcenter/call-window"

// hoursForm is the form of the account's hours; empty: people are called at any time.
func hoursForm(q *page.Request) (*page.Form, error) {
	w, err := page.Read[wire.CallWindow](q, windowPath)
	if api.ProblemOf(err).Status == http.StatusNotFound {
		err = nil
	}
	return page.NewForm("window_start", w.Start, "window_end", w.End), err
}

// setHours sets the account's hours, by the clocks where the numbers called are; empty ones remove them.
func setHours(q *page.Request, f *page.Form) error {
	start, end := f.Value("window_start"), f.Value("window_end")
	if start == "" && end == "" {
		return q.Do(http.MethodDelete, windowPath, nil, bulkAt, "People are called at any time.")
	}
	if start == "" || end == "" || start == end {
		f.Fail("window_start", "Say when calls begin and when they end.")
	}
	hours := wire.CallWindow{Start: start, End: end, Timezone: "destination"}
	again := func() error {
		return q.ShowInvalid("bulk", "bulk-hours", "Bulk dial")(newBulkListView(q, f))
	}
	if done, err := q.Submit(f, http.MethodPut, windowPath, hours, nil, again); !done {
		return err
	}
	return q.Done(bulkAt, "People are called from "+start+" to "+end+" only, by their own clocks.")
}
