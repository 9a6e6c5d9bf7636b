package wallet

import (
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
)

// optional is t, or nothing when it is no bound.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
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

func queryRange(q url.Values) api.Period { return api.Period{From: q.Get("from"), To: q.Get("to")} }
