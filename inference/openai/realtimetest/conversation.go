package realtimetest

import (
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/replytest"
)

// What is answered is that of all fakes. The End of a Reply is content_filter, or the code of the error that the
// response fails with, as insufficient_quota.
type (
	Reply = replytest.Reply
	Call  = replytest.Call
	Pace  = replytest.Pace
)

// ConversationScript is what a server of conversations does. Its zero value hears no words and gives one short answer.
type ConversationScript struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	Replies    []Reply // in turn in each session, the last of them again and again
	// Continue counts utterances and replies over all connections. It is for one client that reconnects.
	Continue bool
	Delays   Delays
	Pace     Pace
	Faults   []Fault
	Traps    Traps         // of transcripts
	Expects  []string      // parts of the violations that the test means to cause
	Sockets  int           // at a time, more are refused with 429; 0: any number
	Lifetime time.Duration // of a session, by the clock; 0: 60 min
}

// Conversation is the fake of conversations. Its books count the tokens of responses whose end was sent, not those of
// transcripts, and their Body is the last session.update. Safe for concurrent use.
type Conversation struct {
	*server
	replies []Reply
	pace    Pace

	mu        sync.Mutex
	next      int // reply, where they are counted over all connections
	responses []*Response
	last      *talk
}

// Response is what became known of one response.
type Response struct {
	ID           string
	Item         string        // of its message; "": it says nothing
	Text         string        // what it said
	Audio        time.Duration // that it sent
	Status       string        // "": in progress; completed, cancelled, incomplete, failed, or cut by the end of the connection
	Reason       string        // of its status
	Instructions string
	Tools        []string
	Voice        string
	Usage        Usage
}

// Usage is what a response was paid for, in tokens. In contains Cached.
type Usage struct {
	TextIn, AudioIn         int
	TextCached, AudioCached int
	TextOut, AudioOut       int
}

// NewConversation starts a server that runs until the test ends, and then reports violations.
func NewConversation(t testing.TB, script ConversationScript) *Conversation {
	t.Helper()
	return loopbacktest.Started(t, StartConversation, script, script.Expects)
}

// StartConversation starts a server that runs until Close.
func StartConversation(script ConversationScript) (*Conversation, error) {
	c := &Conversation{replies: script.Replies, pace: script.Pace}
	var err error
	c.server, err = start(TranscriptionScript{Key: script.Key, Utterances: script.Utterances, Continue: script.Continue, Delays: script.Delays,
		Faults: script.Faults, Traps: script.Traps, Sockets: script.Sockets, Lifetime: script.Lifetime}, kind{"response.output_audio.delta", converses, c.serve})
	return c, err
}

// talkers are the models of conversations.
var talkers = []string{"gpt-realtime", "gpt-realtime-mini", "gpt-realtime-1.5", "gpt-realtime-2", "gpt-realtime-2.1", "gpt-realtime-2.1-mini"}

// converses refuses the query of a session that is no conversation.
func converses(q url.Values) error {
	switch model := q.Get("model"); {
	case model == "":
		return trouble{Code: "missing_model", Message: "You must provide a model parameter."}
	case q.Has("intent"), !slices.Contains(talkers, model):
		return trouble{Code: "invalid_model", Message: "Model \"" + model + "\" is not supported in realtime mode."}
	}
	return nil
}

// Responses are all responses in the order in which they began. The caller owns the list.
func (c *Conversation) Responses() (list []Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.responses {
		list = append(list, *r)
	}
	return list
}

// Items are those of the newest session, in their order. The caller owns the list.
func (c *Conversation) Items() (list []Item) {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if last == nil {
		return nil
	}
	last.mu.Lock()
	defer last.mu.Unlock()
	for _, i := range last.items {
		list = append(list, *i)
	}
	return list
}

// record begins to keep what becomes known of a response.
func (c *Conversation) record(r Response) *Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.responses = append(c.responses, &r)
	return &r
}

// note changes a record.
func (c *Conversation) note(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// reply is the next reply. own counts those of the session.
func (c *Conversation) reply(own *int) Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.script.Continue {
		own = &c.next
	}
	*own++
	return replytest.Nth(c.replies, *own-1)
}

// serve serves one session until it ends.
func (c *Conversation) serve(s *server, k *loopbacktest.Socket, query url.Values) {
	t := newTalk(c, s, k, query.Get("model"))
	c.note(func() { c.last = t })
	t.send(map[string]any{"type": "session.created", "session": t.object()})
	s.listen(k, t.events, t.obey)
}

// object is a usage as the server describes it.
func (u Usage) object() map[string]any {
	in, out := u.TextIn+u.AudioIn, u.TextOut+u.AudioOut
	return map[string]any{"total_tokens": in + out, "input_tokens": in, "output_tokens": out,
		"input_token_details": map[string]any{"text_tokens": u.TextIn, "audio_tokens": u.AudioIn, "image_tokens": 0, "cached_tokens": u.TextCached + u.AudioCached,
			"cached_tokens_details": map[string]any{"text_tokens": u.TextCached, "audio_tokens": u.AudioCached}},
		"output_token_details": map[string]any{"text_tokens": u.TextOut, "audio_tokens": u.AudioOut}}
}

// note adds what was paid for to the books.
func (u Usage) note(b *Books) {
	b.Requests++
	b.TokensIn += u.TextIn + u.AudioIn - u.TextCached - u.AudioCached
	b.CacheRead += u.TextCached + u.AudioCached
	b.TokensOut += u.TextOut + u.AudioOut
	b.AudioTokensIn += u.AudioIn - u.AudioCached
	b.AudioCacheRead += u.AudioCached
	b.AudioTokensOut += u.AudioOut
}
