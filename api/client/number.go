package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"parley/api/wire"
)

// Numbers lists the account's telephone numbers.
func (c *Client) Numbers(ctx context.Context) ([]wire.Number, error) {
	list, err := ask[struct{ Numbers []wire.Number }](ctx, c, http.MethodGet, c.address("callcenter", "numbers"), nil)
	if err != nil {
		return nil, err
	}
	return list.Numbers, nil
}

// NumberQuery picks numbers for sale. Country is as the API has it, such as ES; Page counts from 1.
type NumberQuery struct {
	Country, Region, Locality string
	Page                      int
}

// SearchNumbers finds numbers for sale. more says whether there is another page.
func (c *Client) SearchNumbers(ctx context.Context, q NumberQuery) (list []wire.Offer, more bool, err error) {
	v := picked(map[string]string{"country_code": q.Country, "region_code": q.Region, "locality": q.Locality, "page": strconv.Itoa(q.Page)})
	found, err := ask[struct {
		Numbers []wire.Offer `json:"numbers"`
		HasMore bool         `json:"has_more"`
	}](ctx, c, http.MethodGet, c.query(v, "callcenter", "numbers", "search"), nil)
	if err != nil {
		return nil, false, err
	}
	return found.Numbers, found.HasMore, nil
}

// BuyNumber buys a number that the search has found, for an agent, or for nobody when agent is empty. Asked again under
// the same key, it buys nothing twice.
func (c *Client) BuyNumber(ctx context.Context, number, agent, key string) (*wire.Number, error) {
	in := map[string]string{"phone_number": number}
	if agent != "" {
		in["agent_id"] = agent
	}
	return decode[wire.Number](ctx, c)(c.send(ctx, http.MethodPost, c.address("callcenter", "numbers"), in, "Idempotency-Key", key))
}

// Assignment is who answers a number, the webhook that is asked about its calls, and how many are placed from it in an hour;
// empty and 0: none and no limit, nil: as before.
type Assignment struct {
	Agent   *string `json:"agent_id,omitempty"`
	Webhook *string `json:"webhook_id,omitempty"`

	CallsPerHour *int `json:"calls_per_hour,omitempty"`
}

// AssignNumber changes the assignment of a number, by its identifier.
func (c *Client) AssignNumber(ctx context.Context, id string, to Assignment) (*wire.Number, error) {
	return ask[wire.Number](ctx, c, http.MethodPost, c.address("callcenter", "numbers", id, "assign"), to)
}

// ReleaseNumber gives a number back for good, by its identifier.
func (c *Client) ReleaseNumber(ctx context.Context, id string) (*wire.Released, error) {
	return ask[wire.Released](ctx, c, http.MethodDelete, c.address("callcenter", "numbers", id), nil)
}

// DoNotCall lists the numbers that the account does not call, the newest first: at most so many. more says whether
// there are others.
func (c *Client) DoNotCall(ctx context.Context, most int) (list []wire.DoNotCall, more bool, err error) {
	return pages[wire.DoNotCall](ctx, c, most, url.Values{}, "v1", "do-not-call")
}

// AddDoNotCall puts a number on the do-not-call list.
func (c *Client) AddDoNotCall(ctx context.Context, n wire.NewListed) (*wire.DoNotCall, error) {
	return ask[wire.DoNotCall](ctx, c, http.MethodPost, c.address("v1", "do-not-call"), n)
}

// CheckDoNotCall is the entry of a number; an Error with the status 404 says that it is not on the list.
func (c *Client) CheckDoNotCall(ctx context.Context, number string) (*wire.DoNotCall, error) {
	return ask[wire.DoNotCall](ctx, c, http.MethodGet, c.address("v1", "do-not-call", number), nil)
}

// RemoveDoNotCall takes a number off the do-not-call list.
func (c *Client) RemoveDoNotCall(ctx context.Context, number string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "do-not-call", number), nil)
}

// Imported is what an import of the do-not-call list has done.
type Imported struct {
	Added int `json:"added"` // numbers that were not on the list
	Known int `json:"known"` // lines whose number was
}

// ImportDoNotCall adds numbers in CSV to the do-not-call list, all or none.
func (c *Client) ImportDoNotCall(ctx context.Context, csv io.Reader) (*Imported, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address("v1", "do-not-call.csv").String(), csv)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "text/csv")
	return decode[Imported](ctx, c)(c.request(r))
}

// Table reads one of the exports as CSV, with a header line: usage, ledger, calls, consents or do-not-call, all rows of
// it. The caller closes it; a Read that fails has not got all of it.
func (c *Client) Table(ctx context.Context, name string) (io.ReadCloser, error) {
	return c.table(ctx, nil, name)
}

func (c *Client) table(ctx context.Context, v url.Values, name string) (io.ReadCloser, error) {
	resp, err := c.send(ctx, http.MethodGet, c.query(v, "v1", name+".csv"), nil)
	if err != nil {
		return nil, err
	}
	return &answer{body: resp.Body, r: &bounded{r: resp.Body, left: maxTable}, c: c, ctx: ctx}, nil
}
