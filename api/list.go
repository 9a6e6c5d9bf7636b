package api

import (
	"strconv"
	"time"

	"parley/store"
)

// Paging is what every list takes: how long a page is, and where it begins.
type Paging struct {
	Limit  int    `query:"limit" doc:"How many at most." minimum:"1" maximum:"100" default:"20"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; without it the list begins at its first entry." maxLength:"100"`
}

// Following is what lists take that programs ask for again and again.
type Following struct {
	Follow bool `query:"follow" doc:"You ask for the list again and again, to see what is new: such a request is not in the log of requests."`
}

// ShortPaging is Paging for lists that are short in every account: without a limit the
// first page holds 100 entries.
type ShortPaging struct {
	Limit  int    `query:"limit" doc:"How many at most." minimum:"1" maximum:"100" default:"100"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before." maxLength:"400"`
}

// Page asks the store for one entry more than the page has: it decides has_more.
func (in Paging) Page() store.Page { return store.Page{After: in.Cursor, Limit: in.Limit + 1} }

// Sequence reads a cursor that Seq has written; without a cursor it is 0.
func (in Paging) Sequence() (int64, error) {
	if in.Cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(in.Cursor, 10, 64)
	if err != nil || n < 1 {
		return 0, Bad("cursor: send next_cursor of the page before")
	}
	return n, nil
}

// Seq is the cursor of lists whose entries are numbered from 1.
func Seq(n int64) string { return strconv.FormatInt(n, 10) }

// More is the end of every list.
type More struct {
	HasMore    bool    `json:"has_more" doc:"Whether the list goes on."`
	NextCursor *string `json:"next_cursor" doc:"Send it as cursor to read on; null at the end." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

// List is a page of a list.
type List[T any] struct {
	Data []T `json:"data" doc:"The page's entries." nullable:"false"`
	More
}

// Listed is the answer of a route that lists.
type Listed[T any] struct{ Body List[T] }

// Cut makes a page of up to limit+1 entries that the store has found. cursor names an
// entry, view shows one.
func Cut[S, T any](limit int, found []S, cursor func(S) string, view func(*S) T) List[T] {
	var out List[T]
	if len(found) > limit {
		found = found[:limit]
		next := cursor(found[limit-1])
		out.More = More{HasMore: true, NextCursor: &next}
	}
	out.Data = Views(found, view)
	return out
}

// Views are the entries of a list as view shows them.
func Views[S, T any](list []S, view func(*S) T) []T {
	out := make([]T, len(list))
	for i := range list {
		out[i] = view(&list[i])
	}
	return out
}

// Some is a text of an answer, null when it is empty.
func Some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Pages makes a handler's answer of what the store has found, as Cut does, or passes on why
// it failed:
//
//	return api.Pages(in.Limit, id, view)(db.Agents(ctx, account, in.Page()))
func Pages[S, T any](limit int, cursor func(S) string, view func(*S) T) func([]S, error) (*Listed[T], error) {
	return func(found []S, err error) (*Listed[T], error) {
		if err != nil {
			return nil, err
		}
		return &Listed[T]{Cut(limit, found, cursor, view)}, nil
	}
}

// Period is a range of time in a query.
type Period struct {
	From string `query:"from" doc:"Not before this: a date, which begins at midnight UTC, or an RFC 3339 time." maxLength:"40" example:"2026-03-01"`
	To   string `query:"to" doc:"Before this, likewise: 2026-04-01 includes all of March." maxLength:"40" example:"2026-04-01"`
}

// Bounds reads the period; an empty end is the zero time. Its error is ErrBadRequest with
// what is wrong.
func (in Period) Bounds() (r store.Range, err error) {
	if r.From, err = moment("from", in.From); err != nil {
		return r, err
	}
	if r.To, err = moment("to", in.To); err != nil {
		return r, err
	}
	if !r.From.IsZero() && !r.To.IsZero() && !r.From.Before(r.To) {
		return r, Bad("from must be before to")
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
	return time.Time{}, Bad("%s must be a date such as 2026-03-01 or an RFC 3339 time", name)
}

// Reply is the answer of a route whose body is a T and that has no headers of its own.
type Reply[T any] struct{ Body T }

// Body is the answer with this body.
func Body[T any](body T) *Reply[T] { return &Reply[T]{body} }

// Found is the answer with this body, or err.
func Found[T any](body *T, err error) (*Reply[T], error) {
	if err != nil {
		return nil, err
	}
	return Body(*body), nil
}

// Show makes a handler's answer of what the store has found, as view shows it, or passes on
// why it failed:
//
//	return api.Show(viewKey)(keys.Key(ctx, account, in.ID))
func Show[S, T any](view func(S) T) func(S, error) (*Reply[T], error) {
	return func(found S, err error) (*Reply[T], error) {
		if err != nil {
			return nil, err
		}
		return Body(view(found)), nil
	}
}

// Secret is an answer that holds a secret: no cache may store it.
type Secret[T any] struct {
	CacheControl string `header:"Cache-Control"`
	Body         T
}

// NotStored is the answer with this body.
func NotStored[T any](body T) *Secret[T] { return &Secret[T]{"no-store", body} }
