package wallet

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/store"
)

// Period is the time that a statement is about.
type Period struct {
	From string `query:"from" doc:"Not before this: a date, which begins at midnight UTC, or an RFC 3339 time." maxLength:"40" example:"2026-03-01"`
	To   string `query:"to" doc:"Before this, likewise: 2026-04-01 includes all of March." maxLength:"40" example:"2026-04-01"`
}

// Bounds are the period's; api.ErrBadRequest says what is wrong with it.
func (in Period) Bounds() (r store.Range, err error) {
	if r.From, err = moment("from", in.From); err != nil {
		return r, err
	}
	if r.To, err = moment("to", in.To); err != nil {
		return r, err
	}
	if !r.From.IsZero() && !r.To.IsZero() && !r.From.Before(r.To) {
		return r, bad("from must be before to")
	}
	return r, nil
}

// moment reads a date or a time; an empty one is no bound.
func moment(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, bad("%s must be a date such as 2026-03-01 or an RFC 3339 time", name)
}

// optional is t, or nothing when it is no bound.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Paging is how all lists are paged.
type Paging struct {
	Limit  int    `query:"limit" doc:"How many at most." minimum:"1" maximum:"100" default:"20"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; without it the list begins with the newest." maxLength:"100"`
}

// sequence reads the cursor of the ledger's list.
func (in Paging) sequence() (int64, error) {
	if in.Cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(in.Cursor, 10, 64)
	if err != nil || n < 1 {
		return 0, bad("cursor: send next_cursor of the page before")
	}
	return n, nil
}

// name reads the cursor of the list of groups.
func (in Paging) name() (*string, error) {
	if in.Cursor == "" {
		return nil, nil
	}
	if strings.ContainsRune(in.Cursor, 0) {
		return nil, bad("cursor: send next_cursor of the page before")
	}
	return &in.Cursor, nil
}

func param(name, doc, example string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{example}}}
}

func rangeParams() []*huma.Param {
	return []*huma.Param{
		param("from", "Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.", "2026-03-01"),
		param("to", "Before this, likewise: 2026-04-01 includes all of March.", "2026-04-01"),
	}
}

func queryRange(q url.Values) Period { return Period{From: q.Get("from"), To: q.Get("to")} }
