package account

import (
	"net/http"
	"net/url"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

const RequestsAt = page.Home + "/requests"

func requestPages() []page.Page {
	return []page.Page{
		{Route: "GET " + RequestsAt, Serve: requestsPage},
		{Route: "GET " + RequestsAt + "/{id}", Serve: requestPage},
	}
}

// requestRow is a request in the list.
type requestRow struct{ wire.RequestSummary }

// Tone is the colour of its outcome.
func (r requestRow) Tone() string {
	switch {
	case r.Status >= http.StatusInternalServerError:
		return "bad"
	case r.Status >= http.StatusBadRequest:
		return "warn"
	}
	return "good"
}

// requestsView is the log, as far as the filter lets it through.
type requestsView struct {
	Form     *page.Form
	Keys     []page.Option
	Rows     []requestRow
	Next     string // address of older ones
	Filtered bool
}

// requestFilters are what the log can be narrowed down by, in the address of the page as in the API's.
var requestFilters = []string{"outcome", "method", "key_id", "code", "from", "to"}

// Outcomes, Methods and With are the choices.
func (v *requestsView) Outcomes() page.Field {
	return v.Form.Select("outcome", "Outcome", "", []page.Option{{Value: "", Label: "All"}, {Value: "done", Label: "Done"},
		{Value: "refused", Label: "Refused (4xx)"}, {Value: "failed", Label: "Failed (5xx)"}}, "required")
}

func (v *requestsView) Methods() page.Field {
	all := []page.Option{{Value: "", Label: "All"}}
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		all = append(all, page.Option{Value: m, Label: m})
	}
	return v.Form.Select("method", "Method", "", all, "required")
}

func (v *requestsView) With() page.Field {
	return v.Form.Select("key_id", "Key", "", append([]page.Option{{Value: "", Label: "All"}}, v.Keys...), "required")
}

func requestsPage(q *page.Request) error {
	keys, err := page.Read[api.List[wire.APIKey]](q, "/v1/keys?limit=100")
	if err != nil {
		return err
	}
	v := &requestsView{Form: page.NewForm()}
	for _, k := range keys.Data {
		v.Keys = append(v.Keys, page.Option{Value: k.ID, Label: k.Name})
	}
	asked, filter := q.R.URL.Query(), url.Values{}
	for _, name := range requestFilters {
		if value := asked.Get(name); value != "" {
			filter.Set(name, value)
		}
		v.Form.Values.Set(name, asked.Get(name))
	}
	v.Filtered = len(filter) > 0 || asked.Get("cursor") != ""
	found, older, err := page.Listed[wire.RequestSummary](q, "/v1/requests", RequestsAt, "cursor", "50", filter)
	if err != nil && api.ProblemOf(err).Status == http.StatusBadRequest {
		return q.ShowInvalid("requests", "requests", "Requests")(v, v.Form.Refused(err))
	}
	for _, r := range found {
		v.Rows = append(v.Rows, requestRow{r})
	}
	v.Next = older
	return q.Show("requests", "Requests")(v, err)
}

// requestView is one request.
type requestView struct {
	requestRow
	Detail wire.RequestDetail
}

func requestPage(q *page.Request) error {
	d, err := page.Read[wire.RequestDetail](q, page.Path("/v1/requests/", q.ID("id")))
	return q.Show("request", "Request")(requestView{requestRow{d.RequestSummary}, d}, err)
}
