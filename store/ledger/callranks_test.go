package ledger_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/media/quality"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// TestCallsAreSorted: by age, length, cost and sound, page by page, those of the same rank in one order; a call that
// lasts, and one that nobody measured, are where their rank is known; what is charged later counts.
func TestCallsAreSorted(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	acc, other := f.NewAccount(50*usd), f.NewAccount(50*usd)
	names, sessions := map[string]string{}, map[string]*ledger.Session{}
	call := func(account, name string, talk time.Duration, mos float64, ends bool) {
		t.Helper()
		s, err := f.StartSession(f.At(t0.Add(time.Duration(len(names))*time.Second)), f.Request(account, inboundES))
		f.OK(err)
		names[s.ID], sessions[name] = name, s
		sound := func() {
			if mos > 0 {
				f.OK(h.SaveWire(f.Context(), account, s.ID, history.Wire{Quality: &quality.Report{MOS: mos}}))
			}
		}
		if len(names)%2 == 0 { // either may be stored first
			sound()
		}
		if ends {
			u := billing.Usage{billing.AgentTime: talk.Milliseconds()}
			_, err = f.CloseSession(f.At(t0.Add(time.Hour)), s, ledger.Closing{Reason: "user_hangup", StartedAt: t0.Add(time.Hour - talk), EndedAt: t0.Add(time.Hour), Usage: u})
			f.OK(err)
		}
		sound()
	}
	call(acc, "a", 2*time.Minute, 4.1, true)
	call(acc, "b", 2*time.Minute, 4.1, true)
	call(acc, "c", 5*time.Minute, 3.5, true)
	call(acc, "d", 5*time.Second+time.Millisecond, 0, true)
	call(acc, "e", 2*time.Minute, 1.25, true)
	call(acc, "f", 0, 0, false) // it lasts
	call(other, "x", 9*time.Minute, 1, true)
	list := func(sort history.CallSort, limit int, p history.CallPage) string {
		t.Helper()
		var out []string
		for p.Sort, p.Limit = sort, limit; ; {
			page, err := h.Calls(f.Context(), acc, p)
			f.OK(err)
			for _, c := range page {
				out = append(out, names[c.ID])
				p.After = c.ID
			}
			if len(page) < limit || len(out) > 20 {
				return strings.Join(out, "")
			}
		}
	}
	for sort, want := range map[history.CallSort]string{history.Newest: "fedcba", history.Oldest: "abcdef", history.Longest: "cebad", history.MostExpensive: "cebad", history.WorstSound: "ecab"} {
		for _, limit := range []int{1, 2, 3, 100} {
			if got := list(sort, limit, history.CallPage{}); got != want {
				t.Errorf("%q by pages of %d: %s, want %s", sort, limit, got, want)
			}
		}
	}
	if got := list(history.Longest, 1, history.CallPage{State: history.EndedCalls, Range: store.Range{From: t0.Add(time.Second)}}); got != "cebd" {
		t.Errorf("with filters: %s", got)
	}
	for _, sort := range []history.CallSort{history.Longest, history.WorstSound} {
		if page, err := h.Calls(f.Context(), acc, history.CallPage{Sort: sort, Page: store.Page{After: sessions["x"].ID}}); err != nil || len(page) != 0 {
			t.Errorf("after another account's: %v, %v", page, err)
		}
	}
	f.OK(f.DB.Statement(f.Context(), acc, func(s *store.Statement) error {
		page, err := history.CallsAt(f.Context(), s, history.CallPage{Sort: history.Longest, Page: store.Page{Limit: 1}})
		if err == nil && (len(page) != 1 || names[page[0].ID] != "c") {
			t.Errorf("of one moment: %v", page)
		}
		return err
	}))
	// What is charged after the call.
	_, err := f.DB.Pool().Exec(f.Context(), "update session_usage set amount_nano = amount_nano + 1000000000000 where session_id = $1", sessions["d"].ID)
	f.OK(err)
	if got := list(history.MostExpensive, 2, history.CallPage{}); got != "dceba" {
		t.Errorf("after more was charged: %s", got)
	}
	// Calls of before are ranked in the same way.
	ranked := func() (all string) {
		t.Helper()
		f.OK(f.DB.Pool().QueryRow(f.Context(), "select string_agg(r::text, ' ' order by session_id) from call_ranks r").Scan(&all))
		return all
	}
	before := ranked()
	text, err := os.ReadFile("../migrations/00083_rank_calls.sql")
	f.OK(err)
	_, statement, _ := strings.Cut(string(text), "-- +goose Up")
	for _, sql := range []string{"delete from call_ranks", statement} {
		_, err = f.DB.Pool().Exec(f.Context(), sql)
		f.OK(err)
	}
	if after := ranked(); after != before {
		t.Errorf("ranks of before are\n%s, want\n%s", after, before)
	}
}
