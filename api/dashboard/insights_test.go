package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// TestInsights: the figures of the account's calls, as charts and as tables, of what is asked for.
func TestInsights(t *testing.T) {
	x := newExchange(t)
	// On the page today's last call is not the only one: one of three days ago was not answered.
	node, _, err := ledger.New(x.DB).RegisterNode(t.Context(), "node2", "127.0.0.1:1")
	x.OK(err)
	before := time.Now().UTC().AddDate(0, 0, -3)
	s, err := ledger.New(x.DB).StartSession(storetest.At(t.Context(), before), ledger.Start{Node: node, Account: x.Account, From: "+34911234567", To: "+34612345678",
		Terms: billing.Terms{Kind: billing.Outbound, Country: "ES"}, Card: billing.DefaultRateCard()})
	x.OK(err)
	_, err = ledger.New(x.DB).CloseSession(storetest.At(t.Context(), before), s, ledger.Closing{Reason: "no_answer"})
	x.OK(err)

	for path, want := range map[string][]string{
		"/app/insights": {`<p class="value">2</p><p class="note">1 answered`, `<p class="value">50.0 %</p>`, ">Caller or callee hung up<", ">No answer<", ">haiku<", "Until the answer is heard", "No agent",
			"Ana &lt;script&gt;", `>30 days</a>`, `aria-current="page">30 days`, "<title>" + before.Format("2 Jan 2006") + ": 1</title>", ">100 %<", `<th scope="row">` + before.Format(time.DateOnly) + "</th>"},
		"/app/insights?direction=outbound":                    {`<p class="value">1</p><p class="note">0 answered`, "No turn was answered", `<p class="value">–</p>`},
		"/app/insights?direction=web":                         {"No calls"},
		"/app/insights?from=2001-01-01&to=2001-02-01":         {"No calls", `value="2001-01-01"`},
		"/app/insights?from=2001-01-01":                       {"400 days at most", `value="2001-01-01"`},
		"/app/insights?from=nonsense":                         {"must be a date"},
		"/app/insights?agent_id=ag_nobody&direction=outbound": {"No calls", "agent_id=ag_nobody&amp;direction=outbound&amp;from="},
		"/app/calls": {`<th scope="col" class="number">Wait (p50)</th>`, `data-label="Wait (p50)">–</td>`},
	} {
		page := x.Get(path)
		for _, w := range want {
			if !strings.Contains(page.Body, w) {
				t.Errorf("%s: no %q in\n%s", path, w, page.Body)
			}
		}
		if strings.Contains(page.Body, "<script>alert") {
			t.Errorf("%s holds what somebody said as it was said", path)
		}
	}
	if page := x.Get("/app/insights?from=nonsense"); page.Status != http.StatusUnprocessableEntity {
		t.Errorf("a day that is none: %d", page.Status)
	}
	_, err = history.New(x.DB).CountCalls(t.Context())
	x.OK(err)
	if page := x.Get("/app/calls"); !strings.Contains(page.Body, `data-label="Wait (p50)">210 ms</td>`) {
		t.Error("a call that was counted does not say what half of its turns took")
	}
	other, err := ledger.New(x.DB).CreateAccount(t.Context(), "Other", billing.DefaultRateCard())
	x.OK(err)
	foreign, err := ledger.New(x.DB).StartSession(t.Context(), ledger.Start{Node: node, Account: other.ID, Terms: billing.Terms{Kind: billing.Web}, Card: billing.DefaultRateCard()})
	x.OK(err)
	_, err = ledger.New(x.DB).CloseSession(t.Context(), foreign, ledger.Closing{Reason: "failed"})
	x.OK(err)
	if page := x.Get("/app/insights"); strings.Contains(page.Body, ">Failed<") || !strings.Contains(page.Body, `<p class="value">2</p>`) {
		t.Error("a foreign call counts")
	}
}
