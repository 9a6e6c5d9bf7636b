package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/api/dashboard/dashboardtest"
	"parley/billing"

	"parley/store/campaign"

	"parley/store/ledger"
)

// TestPollsReadNamesOnly: what pages ask for every few seconds reads the names of agents, and not their documents.
func TestPollsReadNamesOnly(t *testing.T) {
	w := newWorld(t)
	conn, err := pgx.Connect(t.Context(), w.Database)
	w.OK(err)
	defer conn.Close(t.Context())
	for _, column := range []string{"prompt", "tools", "settings"} { // whoever reads them fails
		_, err = conn.Exec(t.Context(), "alter table agents rename "+column+" to not_"+column)
		w.OK(err)
	}
	for _, path := range []string{"/app/overview/live", "/app/live/rows", "/app/bulk/{batch}/progress", "/app/calls/{lasts}/meter"} {
		if a := w.Get(w.at(path)); a.Status != http.StatusOK {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
}

var nextPoll = regexp.MustCompile(`hx-get="(/app/bulk/[^"]*/progress[^"]*)"`)

// TestBatchSendsChanges: a page that follows a batch gets the rows that have changed, and nothing when nothing has.
func TestBatchSendsChanges(t *testing.T) {
	s := newShop(t)
	from := s.buy()
	var list strings.Builder
	for i := range 120 {
		fmt.Fprintf(&list, "34912345%03d\n", i)
	}
	at := s.Post("/app/bulk", "list", list.String(), "name", "Friday", "from", from, "agent_id", s.agent, "on_machine", "continue", "consent", "on").Header.Get("Location")
	poll := func(a dashboardtest.Answer) string {
		t.Helper()
		m := nextPoll.FindStringSubmatch(a.Body)
		if m == nil {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return html.UnescapeString(m[1])
	}
	wantRows := func(a dashboardtest.Answer, want ...bool) {
		t.Helper()
		for i, w := range want {
			if strings.Contains(a.Body, fmt.Sprintf(`id="rows-%d"`, i)) != w {
				t.Errorf("part %d of the rows: want it %v", i, w)
			}
		}
	}
	page := s.Get(at)
	wantRows(page, true, true, true, false)
	next := poll(page)
	if a := s.Get(next); a.Status != http.StatusNoContent || a.Body != "" {
		t.Errorf("nothing has changed: %d %s", a.Status, a.Body)
	}
	s.OK(campaign.New(s.DB).PauseCampaign(t.Context(), s.Account, strings.TrimPrefix(at, "/app/bulk/")))
	a := s.Get(next)
	wantRows(a, false, false, false)
	if !strings.Contains(a.Body, `id="resume"`) {
		t.Error("the page does not learn that the batch is paused")
	}
	s.OK(campaign.New(s.DB).ResumeCampaign(t.Context(), s.Account, strings.TrimPrefix(at, "/app/bulk/")))
	tab := s.Tab()
	tab.Go(at)
	dashboardtest.Eval[any](tab, `void (window.kept = document.querySelector("#rows-1"))`)
	node, _, err := ledger.New(s.DB).RegisterNode(t.Context(), "node", "127.0.0.1:1")
	s.OK(err)
	claimed, err := campaign.New(s.DB).ClaimRows(t.Context(), node, billing.DefaultRateCard().Wallet(), 1)
	s.OK(err)
	s.OK(campaign.New(s.DB).FailRow(t.Context(), &claimed[0], "callcenter.not_placed", "Nobody could be called."))
	wantRows(s.Get(next), true, false, false)
	tab.Wait(`document.querySelector("#rows-0 tr").textContent.includes("Nobody could be called.")`)
	tab.Wait(`window.kept === document.querySelector("#rows-1") && document.querySelectorAll("tbody tr").length === 120 && document.querySelector("progress").value === 0`)
	s.OK(campaign.New(s.DB).CancelCampaign(t.Context(), s.Account, strings.TrimPrefix(at, "/app/bulk/"), "callcenter.batch_cancelled", "The batch was cancelled."))
	tab.Wait(`document.querySelector("#rows-2").textContent.includes("The batch was cancelled.") && !document.querySelector("[hx-get*=progress]")`)
}
