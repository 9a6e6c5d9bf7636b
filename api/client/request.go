package client

import (
	"context"
	"net/http"
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
	v := picked(map[string]string{"method": q.Method, "route": q.Route, "outcome": q.Outcome, "code": q.Code, "key_id": q.Key, "from": q.From, "to": q.To,
		"limit": strconv.Itoa(q.Limit)})
	out, err := ask[struct {
		Data    []wire.RequestSummary `json:"data"`
		HasMore bool                  `json:"has_more"`
	}](ctx, c, http.MethodGet, c.query(v, "v1", "requests"), nil)
	if err != nil {
		return nil, false, err
	}
	return out.Data, out.HasMore, nil
}

// Request reads a request with its body and the command that sends it again.
func (c *Client) Request(ctx context.Context, id string) (*wire.RequestDetail, error) {
	return ask[wire.RequestDetail](ctx, c, http.MethodGet, c.address("v1", "requests", id), nil)
}
