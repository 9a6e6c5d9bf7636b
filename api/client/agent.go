package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"parley/api/wire"
)

// AgentList lists the account's agents with these metadata, the newest first: at most so many. more says whether there
// are others.
func (c *Client) AgentList(ctx context.Context, metadata map[string]string, most int) (list []wire.AgentDefinition, more bool, err error) {
	v := url.Values{}
	for name, value := range metadata {
		v.Set("metadata["+name+"]", value)
	}
	return pages[wire.AgentDefinition](ctx, c, most, v, "v1", "agents")
}

// Agent reads an agent.
func (c *Client) Agent(ctx context.Context, id string) (*wire.AgentDefinition, error) {
	return ask[wire.AgentDefinition](ctx, c, http.MethodGet, c.address("v1", "agents", id), nil)
}

// CreateAgent makes an agent of a document.
func (c *Client) CreateAgent(ctx context.Context, document json.RawMessage) (*wire.AgentDefinition, error) {
	return ask[wire.AgentDefinition](ctx, c, http.MethodPost, c.address("v1", "agents"), document)
}

// ReplaceAgent makes an agent what a document says, if it has that version still; 0: whatever it has. What has changed
// it since is an Error with the status 412.
func (c *Client) ReplaceAgent(ctx context.Context, id string, version int64, document json.RawMessage) (*wire.AgentDefinition, error) {
	var header []string
	if version != 0 {
		header = []string{"If-Match", fmt.Sprintf("%q", strconv.FormatInt(version, 10))}
	}
	return decode[wire.AgentDefinition](ctx, c)(c.send(ctx, http.MethodPut, c.address("v1", "agents", id), document, header...))
}

// CheckAgent says what is wrong with a document and, with the identifier of an agent, what of it the document would
// change. Nothing is stored.
func (c *Client) CheckAgent(ctx context.Context, id string, document json.RawMessage) (*wire.AgentCheck, error) {
	return ask[wire.AgentCheck](ctx, c, http.MethodPost, c.query(picked(map[string]string{"agent_id": id}), "v1", "agents", "validate"), document)
}

// DeleteAgent deletes an agent.
func (c *Client) DeleteAgent(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "agents", id), nil)
}

// AgentVersions lists what an agent was, the newest first: at most so many. more says whether there are others.
func (c *Client) AgentVersions(ctx context.Context, id string, most int) (list []wire.AgentDefinition, more bool, err error) {
	return pages[wire.AgentDefinition](ctx, c, most, url.Values{}, "v1", "agents", id, "versions")
}

// AgentVersion reads what an agent was.
func (c *Client) AgentVersion(ctx context.Context, id string, version int64) (*wire.AgentDefinition, error) {
	return ask[wire.AgentDefinition](ctx, c, http.MethodGet, c.address("v1", "agents", id, "versions", strconv.FormatInt(version, 10)), nil)
}

// AgentSchema reads the JSON Schema of agents.
func (c *Client) AgentSchema(ctx context.Context) (json.RawMessage, error) {
	text, err := ask[json.RawMessage](ctx, c, http.MethodGet, c.address("v1", "agents", "schema"), nil)
	if err != nil {
		return nil, err
	}
	return *text, nil
}
