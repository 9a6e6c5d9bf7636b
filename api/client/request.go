package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"parley/api/wire"
)

// RequestQuery picks requests. Empty fields pick all. Outcome is done, refused or failed; From and To are dates or RFC
// 3339 times, the second not included. Limit is from 1 to 100.
type RequestQuery struct {
	Method, Route, Outcome, Code, Key, From, To string
	Limit                                       int
}

// Requests lists the latest requests that are picked, the newest first. more says that there are more of them than the
// limit.
func (c *Client) Requests(ctx context.Context, q RequestQuery) (list []wire.RequestSummary, more bool, err error) {
	v := q.values()
	v.Set("limit", strconv.Itoa(q.Limit))
	out, err := ask[struct {
		Data    []wire.RequestSummary `json:"data"`
		HasMore bool                  `json:"has_more"`
	}](ctx, c, http.MethodGet, c.query(v, "v1", "requests"), nil)
	if err != nil {
		return nil, false, err
	}
	return out.Data, out.HasMore, nil
}

func (q *RequestQuery) values() url.Values {
	return picked(map[string]string{"method": q.Method, "route": q.Route, "outcome": q.Outcome, "code": q.Code, "key_id": q.Key, "from": q.From, "to": q.To})
}

// FollowRequests reads the requests that are picked, whatever the limit, the newest first, as far as they are wanted, for
// somebody who does so again and again: the log of requests has nothing of it. An error comes last.
func (c *Client) FollowRequests(ctx context.Context, q RequestQuery) iter.Seq2[wire.RequestSummary, error] {
	v := q.values()
	v.Set("limit", strconv.Itoa(pageSize))
	v.Set("follow", "true")
	return each[wire.RequestSummary](ctx, c, v, "v1", "requests")
}

// Request reads a request with its body and the command that sends it again.
func (c *Client) Request(ctx context.Context, id string) (*wire.RequestDetail, error) {
	return ask[wire.RequestDetail](ctx, c, http.MethodGet, c.address("v1", "requests", id), nil)
}
