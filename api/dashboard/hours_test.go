package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"parley/store/campaign"
)

// TestHoursPage sets when people are called, which new batches propose, and removes it again.
func TestHoursPage(t *testing.T) {
	s := newShop(t)
	s.buy()
	for _, wrong := range [][]string{{"window_start", "09:00", "window_end", ""}, {"window_start", "09:00", "window_end", "09:00"}} {
		if page := s.Post("/app/bulk/hours", wrong...); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "Say when calls begin and when they end.") {
			t.Errorf("%v: %d %s", wrong, page.Status, page.Body)
		}
	}
	if page := s.Post("/app/bulk/hours", "window_start", "09:00", "window_end", "20:00"); page.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	w, err := campaign.New(s.DB).Window(t.Context(), s.Account)
	s.OK(err)
	if from, to := w.Hours.Strings(); from != "09:00" || to != "20:00" || w.Zone != "destination" {
		t.Errorf("kept is %s to %s by %s", from, to, w.Zone)
	}
	for _, at := range []string{"/app/bulk", "/app/bulk/new"} {
		if page := s.Get(at); !strings.Contains(page.Body, `value="09:00"`) || !strings.Contains(page.Body, `value="20:00"`) {
			t.Errorf("%s does not show the hours", at)
		}
	}
	if page := s.Post("/app/bulk/hours", "window_start", "", "window_end", ""); page.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	if w, err := campaign.New(s.DB).Window(t.Context(), s.Account); err == nil {
		t.Errorf("kept is still %+v", w)
	}
}

// TestBulkRetries: a batch calls again those who are busy or do not answer, as its form says, and its page says so.
func TestBulkRetries(t *testing.T) {
	s := newShop(t)
	fields := []string{"list", "34912345678\r\n", "from", s.buy(), "agent_id", s.agent, "on_machine", "continue", "consent", "on", "retry", "3"}
	if page := s.Post("/app/bulk/review", append(fields, "retry_minutes", "soon")...); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "from 1 to 10080") {
		t.Errorf("a wait that is none: %d %s", page.Status, page.Body)
	}
	page := s.Post("/app/bulk", append(fields, "retry_minutes", "45")...)
	at := page.Header.Get("Location")
	b, err := campaign.New(s.DB).Campaign(t.Context(), s.Account, strings.TrimPrefix(at, "/app/bulk/"))
	if err != nil || len(b.Retries) != 2 || b.Retries[0] != (campaign.Retry{On: "no_answer", Attempts: 3, After: 2700}) || b.Retries[1] != (campaign.Retry{On: "busy", Attempts: 3, After: 2700}) {
		t.Fatalf("%d %+v %v", page.Status, b, err)
	}
	if page := s.Get(at); !strings.Contains(page.Body, "Busy: 3 calls at most, 45 minutes apart.") {
		t.Errorf("the page of the batch: %s", page.Body)
	}
}
