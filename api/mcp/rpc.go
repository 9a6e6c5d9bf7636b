package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"parley/api"
)

// Codes of JSON-RPC 2.0, section 5.1.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInternal       = -32603
)

// methods are what the endpoint answers. The library knows many more, among them
// one that keeps the connection open for ever.
var methods = []string{"initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"}

// strictVersion is the first protocol version in which an unknown method is
// HTTP's 404, too.
const strictVersion = "2026-07-28"

// message is as much of a JSON-RPC message as decides what to do with it.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// fault is a message that is not answered with a result.
type fault struct {
	status int // of HTTP
	id     json.RawMessage
	code   int
	text   string
}

// write answers with the fault; its text is for the author of the client.
func (f *fault) write(w http.ResponseWriter) {
	if f.id == nil {
		f.id = json.RawMessage("null")
	}
	type rpcError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	api.WriteJSON(w, f.status, struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", f.id, rpcError{f.code, f.text}})
}

// parse looks at a message. call is false when there is nothing to answer: a
// notification, or an answer to a question that nobody asked.
func parse(body []byte, version string) (m message, call bool, f *fault) {
	refuse := func(code int, text string) (message, bool, *fault) {
		return m, false, &fault{http.StatusBadRequest, m.ID, code, text}
	}
	body = bytes.TrimSpace(body)
	switch {
	case !json.Valid(body):
		return refuse(codeParse, "the body is not JSON")
	case body[0] == '[':
		return refuse(codeInvalidRequest, "batches are not taken: send one message a request")
	}
	err := json.Unmarshal(body, &m)
	if !isID(m.ID) {
		m.ID = nil
		return refuse(codeInvalidRequest, "the id must be a string or an integer")
	}
	answers := m.Method == "" && (m.Result != nil || m.Error != nil)
	switch {
	case err != nil, m.Version != "2.0", m.Method == "" && !answers:
		return refuse(codeInvalidRequest, "this is not a JSON-RPC 2.0 message")
	case answers, m.ID == nil:
		return m, false, nil
	case !slices.Contains(methods, m.Method):
		f := &fault{http.StatusOK, m.ID, codeNoMethod, "there is no such method"}
		if version >= strictVersion {
			f.status = http.StatusNotFound
		}
		return m, false, f
	}
	return m, true, nil
}

// maxID is the largest integer that every JSON reader keeps exactly (RFC 8259
// section 6). The library would answer larger ones, and fractions, under another id.
const maxID = 1<<53 - 1

// isID says whether an id is one that can be answered; none is one, too.
func isID(id json.RawMessage) bool {
	if id == nil || id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && -maxID <= n && n <= maxID
}

// front stands before the library: it makes every refusal one that a program can
// read, and lets in only what is served.
type front struct{ next http.Handler }

func (h front) serve(w http.ResponseWriter, r *http.Request) error {
	if t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); t != "application/json" {
		return api.Detail(api.ErrMediaType, "send application/json")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return api.ReadError(err)
	}
	m, call, f := parse(body, r.Header.Get("Mcp-Protocol-Version"))
	switch {
	case f != nil:
		f.write(w)
		return nil
	case !call:
		w.WriteHeader(http.StatusAccepted) // there is no session that it could change
		return nil
	}
	v := &toolCall{ctx: r.Context()}
	r = r.Clone(context.WithValue(v.ctx, callKey{}, v))
	r.Body = io.NopCloser(bytes.NewReader(body))
	// Answers are always JSON, so who takes only that is served as well.
	r.Header.Set("Accept", "application/json, text/event-stream")
	reply := &reply{ResponseWriter: w, id: m.ID}
	defer func() {
		if v.leave != nil {
			v.leave() // nothing of the call is left: the library has waited for it
		}
	}()
	h.next.ServeHTTP(reply, r)
	reply.finish()
	return nil
}

// reply passes the library's answer on, but turns its refusals, which are plain
// text, into JSON-RPC.
type reply struct {
	http.ResponseWriter
	id     json.RawMessage
	status int          // of a refusal; 0 while there is none
	text   bytes.Buffer // of the refusal
}

func (r *reply) WriteHeader(status int) {
	if t, _, _ := mime.ParseMediaType(r.Header().Get("Content-Type")); status >= 400 && t != "application/json" {
		r.status = status
		return
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *reply) Write(p []byte) (int, error) {
	if r.status != 0 {
		return r.text.Write(p)
	}
	patience := sendTime + time.Duration(len(p)/sendRate)*time.Second
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(patience)) // not every writer can
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what the server's writer can do.
func (r *reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *reply) finish() {
	if r.status == 0 {
		return
	}
	f := &fault{r.status, r.id, codeInvalidRequest, string(bytes.TrimSpace(r.text.Bytes()))}
	if r.status >= 500 {
		f.code, f.text = codeInternal, "something went wrong on our side"
	}
	f.write(r.ResponseWriter)
}
