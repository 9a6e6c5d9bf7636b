package client

import (
	"bufio"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"parley/api/wire"
)

// Dial places a call.
func (c *Client) Dial(ctx context.Context, call wire.NewCall) (*wire.Placed, error) {
	return ask[wire.Placed](ctx, c, http.MethodPost, c.address("callcenter", "dial"), call)
}

// CallText is a call with everything that the server says of it, as JSON: a
// wire.CallDetail.
func (c *Client) CallText(ctx context.Context, id string) (json.RawMessage, error) {
	out, err := ask[json.RawMessage](ctx, c, http.MethodGet, c.address("v1", "calls", id), nil)
	if err != nil {
		return nil, err
	}
	return *out, nil
}

// CallQuality is what the network did to a telephone call.
func (c *Client) CallQuality(ctx context.Context, id string) (*wire.CallQuality, error) {
	return ask[wire.CallQuality](ctx, c, http.MethodGet, c.address("v1", "calls", id, "quality"), nil)
}

// CallCompletions are what the language model of a call was asked, and answered. The key must be an owner's.
func (c *Client) CallCompletions(ctx context.Context, id string) (*wire.CallCompletions, error) {
	return ask[wire.CallCompletions](ctx, c, http.MethodGet, c.address("v1", "calls", id, "completions"), nil)
}

// CallCompletion is one of them, by its number, with all that the model was given.
func (c *Client) CallCompletion(ctx context.Context, id, no string) (*wire.CallCompletionDetail, error) {
	return ask[wire.CallCompletionDetail](ctx, c, http.MethodGet, c.address("v1", "calls", id, "completions", no), nil)
}

// KeepWithCall changes what is kept with a call.
func (c *Client) KeepWithCall(ctx context.Context, id string, change wire.CallChange) (*wire.CallSummary, error) {
	return ask[wire.CallSummary](ctx, c, http.MethodPatch, c.address("v1", "calls", id), change)
}

// ForgetCall deletes what was said in a call; the record of the call remains.
func (c *Client) ForgetCall(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "calls", id), nil)
}

// CallEvent is one event of a call that is followed.
type CallEvent struct {
	Type       string          `json:"type"` // snapshot, status, speaking, transcript, transcript_sync, function or ended
	Status     string          `json:"status,omitempty"`
	Role       string          `json:"role,omitempty"` // of a transcript's line, and of speaking, which says what the agent has begun to say
	Text       string          `json:"text,omitempty"`
	At         float64         `json:"at,omitempty"` // seconds since the answer
	Transcript []wire.CallLine `json:"transcript,omitempty"`
	Duration   int64           `json:"duration,omitempty"`    // whole seconds since the answer
	AnsweredBy string          `json:"answered_by,omitempty"` // human, machine, screening or unknown
	EndReason  string          `json:"end_reason,omitempty"`
	EndDetail  string          `json:"end_detail,omitempty"`
}

// maxEvent bounds one event, in bytes: a transcript of two hours.
const maxEvent = 4 << 20

// Follow hands each event of a call of any direction to tell, until the call has ended; of
// one that has, all that happened in it.
func (c *Client) Follow(ctx context.Context, id string, tell func(CallEvent) error) error {
	resp, err := c.send(ctx, http.MethodGet, c.address("v1", "calls", id, "events"), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue // a heartbeat, or the space between events
		}
		var e CallEvent
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return err
		}
		if err := tell(e); err != nil || e.Type == "ended" {
			return err
		}
	}
	err = lines.Err()
	if err == nil {
		err = http.ErrServerClosed // it stopped before the end of the call
	}
	return c.lost(ctx, err)
}

// CallQuery picks calls. Empty fields pick all; Number is in international format, From and
// To are dates or RFC 3339 times, the second not included. Limit is from 1 to 100.
type CallQuery struct {
	Direction string // web, inbound or outbound
	State     string // live or ended
	EndReason string
	Number    string // that called or was called
	Agent     string
	From, To  string
	Metadata  map[string]string // names and values that calls have
	Header    string            // that calls have: its name, a colon and the value
	Tag       string
	Said      string // words of the transcript
	Sort      string // newest, oldest, longest, most_expensive or worst_sound; empty: newest
	Limit     int
}

// Calls lists the first of the calls that are picked, the newest unless Sort says otherwise. more says that there
// are more of them than the limit.
func (c *Client) Calls(ctx context.Context, q CallQuery) (list []wire.CallSummary, more bool, err error) {
	v := q.values()
	v.Set("limit", strconv.Itoa(q.Limit))
	out, err := ask[struct {
		Data    []wire.CallSummary `json:"data"`
		HasMore bool               `json:"has_more"`
	}](ctx, c, http.MethodGet, c.query(v, "v1", "calls"), nil)
	if err != nil {
		return nil, false, err
	}
	return out.Data, out.HasMore, nil
}

func (q *CallQuery) values() url.Values {
	v := picked(map[string]string{"direction": q.Direction, "state": q.State, "end_reason": q.EndReason, "number": q.Number, "agent_id": q.Agent,
		"from": q.From, "to": q.To, "header": q.Header, "tag": q.Tag, "q": q.Said, "sort": q.Sort})
	for name, value := range q.Metadata {
		v.Set("metadata["+name+"]", value)
	}
	return v
}

// FollowCalls reads the calls that are picked, whatever the limit, in their order, as far as they are wanted, for somebody who
// does so again and again: the log of requests has nothing of it. An error comes last.
func (c *Client) FollowCalls(ctx context.Context, q CallQuery) iter.Seq2[wire.CallSummary, error] {
	v := q.values()
	v.Set("limit", strconv.Itoa(pageSize))
	v.Set("follow", "true")
	return each[wire.CallSummary](ctx, c, v, "v1", "calls")
}

// StatisticsQuery picks the calls that statistics are of. Empty fields pick all; From and To are dates, the second not included,
// without which they are of the last 30 days.
type StatisticsQuery struct {
	From, To  string
	Agent     string
	Direction string // web, inbound or outbound
}

// Statistics are what the calls that are picked come to.
func (c *Client) Statistics(ctx context.Context, q StatisticsQuery) (*wire.Statistics, error) {
	v := picked(map[string]string{"from": q.From, "to": q.To, "agent_id": q.Agent, "direction": q.Direction})
	return ask[wire.Statistics](ctx, c, http.MethodGet, c.query(v, "v1", "statistics"), nil)
}

// maxRecording bounds the recording of a call: two hours as WAV are 460 MB.
const maxRecording = 512 << 20

// CallRecording is the recording of a call, the caller on the left: as the server keeps
// it with an empty format, else "ogg" or "wav". It must be closed.
func (c *Client) CallRecording(ctx context.Context, id, format string) (*Audio, error) {
	u := c.query(picked(map[string]string{"format": format}), "v1", "calls", id, "recording")
	return c.audio(ctx, maxRecording)(c.send(ctx, http.MethodGet, u, nil))
}

// BulkDial queues a batch. A bad row refuses it; the error's Detail begins with which,
// counted from 0: rows[3].
func (c *Client) BulkDial(ctx context.Context, b wire.NewBatch) (*wire.BatchDetail, error) {
	return c.batch(ctx, http.MethodPost, b)
}

// Batch looks at a batch and its rows.
func (c *Client) Batch(ctx context.Context, id string) (*wire.BatchDetail, error) {
	return c.batch(ctx, http.MethodGet, nil, id)
}

// TurnBatch pauses, resumes or cancels a batch, as verb says, and returns it.
func (c *Client) TurnBatch(ctx context.Context, id, verb string) (*wire.BatchDetail, error) {
	return c.batch(ctx, http.MethodPost, nil, id, verb)
}

func (c *Client) batch(ctx context.Context, method string, in any, path ...string) (*wire.BatchDetail, error) {
	return ask[wire.BatchDetail](ctx, c, method, c.address(append([]string{"callcenter", "bulk-dial"}, path...)...), in)
}

// Batches lists the account's batches, newest first, without their rows.
func (c *Client) Batches(ctx context.Context) ([]wire.Batch, error) {
	list, err := ask[struct{ Batches []wire.Batch }](ctx, c, http.MethodGet, c.address("callcenter", "bulk-dial"), nil)
	if err != nil {
		return nil, err
	}
	return list.Batches, nil
}
