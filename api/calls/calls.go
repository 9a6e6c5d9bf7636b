// Package calls is the history of an account's calls: who called whom, what was
// said, how it ended, what it cost, how it went on the wire, what people keep with it, and what
// all of them come to.
// Every query names the account, so that a call of another account answers exactly
// like one that does not exist.
package calls

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode"

	"parley/api"
	"parley/api/export"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
	"parley/store"
	"parley/store/history"
)

// Mount adds the routes.
func Mount(a *api.API, db *store.DB, files *export.Sender) {
	m := &calls{db, history.New(db), files}
	const one = "/v1/calls/{id}"
	api.Register(a, routes.Get("/v1/calls", "list-calls", "List calls",
		"Conversations on the telephone and over WebSockets, the newest first unless `sort` says otherwise, without their transcripts: all, or those that everything "+
			"asked for is true of. `mos` and `end_detail` are for people who look for faults; new details may come."), m.list)
	api.Register(a, routes.Get(one, "get-call", "Read a call",
		"With its transcript and the latency of each turn. While the call lasts both grow.", http.StatusNotFound), m.get)
	api.Register(a, routes.Get(one+"/quality", "get-call-quality", "Read how a call sounded",
		"What the network did to the audio of a telephone call, stored each minute while it lasts and once more when it is over; the call has its `mos` then. What was not measured is 0: without reports of the far end "+
			"(RTCP), which many carriers do not send, nothing is known of what it heard, nor of the round trip. A call over a WebSocket, and one "+
			"that was not answered so far, has `available: false`.", http.StatusNotFound), m.quality)
	api.Register(a, routes.Get(one+"/sip", "get-call-sip", "Read the signalling of a call",
		"The SIP messages of a telephone call as they were sent and received, oldest first, stored every few seconds while it lasts and once more when it is over: at most 200 messages and 128 kB; "+
			"`dropped` earlier ones are not kept. Credentials, keys of encryption and digits are masked. A call over a WebSocket has none.", http.StatusNotFound), m.sip)
	m.mountCompletions(a)
	m.mountKeep(a)
	m.mountTable(a)
	api.Register(a, routes.Get("/v1/latency", "get-latency", "Read how quickly agents answered",
		"What half, nine tenths, 95 and 99 of a hundred turns took at most, stage by stage, by day, by hour or by agent, over the last 30 days or a range of up to 92, "+
			"31 by the hour, and of at most 100,000 calls, the newest. Calls in progress count with the turns that are stored."), m.latency)
	api.Register(a, routes.Get("/v1/latency/engines", "get-engine-latency", "Read how quickly engines answered",
		"What half and 95 of a hundred turns waited at most for a language model's first words, or a voice's first audio, engine by engine, over the last 7 days or a range "+
			"of up to 92, of at most 1,000 calls, the newest. A call that is over counts for a stage in which one engine alone served it."), m.engineLatency)
	m.mountStatistics(a)
	m.mountConsents(a)
}

var routes = api.Managed("Calls")

// calls serves the routes.
type calls struct {
	db      *store.DB
	history *history.Store
	files   *export.Sender
}

// Words of status.
const (
	dialing   = "dialing"
	ringing   = "ringing"
	connected = "connected"
	ended     = "ended"
)

func status(c *history.Call) string {
	switch {
	case c.EndedAt != nil:
		return ended
	case c.StartedAt != nil:
		return connected
	case c.RangAt != nil, c.Direction == billing.Inbound:
		return ringing
	}
	return dialing
}

func summary(c *history.Call, now time.Time) wire.CallSummary {
	s := wire.CallSummary{ID: c.ID, AgentID: c.Agent, Version: c.AgentVersion, Direction: string(c.Direction), From: c.From, To: c.To, Status: status(c),
		CreatedAt: c.OpenedAt, AnsweredAt: c.StartedAt, EndedAt: c.EndedAt, EndReason: c.EndReason, Cost: wire.USD(c.Cost), AnsweredBy: api.Some(c.AnsweredBy),
		MOS: c.MOS, Wait: c.Wait, Demonstration: c.Demonstration, Verstat: c.Verstat, Attested: c.Attestation, Headers: c.Headers, Origin: Origin(c.Origin), DeletedAt: c.DeletedAt, Metadata: c.Metadata, Tags: c.Tags, Note: c.Note}
	if c.EndDetail != nil && *c.EndDetail != "" {
		s.EndDetail = c.EndDetail
	}
	if c.StartedAt != nil {
		if c.EndedAt != nil {
			now = *c.EndedAt
		}
		s.Duration = max(0, int64(now.Sub(*c.StartedAt)/time.Second))
	}
	return s
}

type callInput struct {
	ID string `path:"id" doc:"The call's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

type listInput struct {
	Direction string `query:"direction" doc:"Only these." enum:"web,inbound,outbound" example:"outbound"`
	AgentID   string `query:"agent_id" doc:"Only calls of this agent, also one that was deleted." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Number    string `query:"number" doc:"Only calls from or to this number, in international format; a + is %2B in an address, and may be left out." maxLength:"40" example:"+34612345678"`
	EndReason string `query:"end_reason" doc:"Only calls that ended so." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown" example:"no_answer"`
	State     string `query:"state" doc:"Only calls in progress, or only those that are over." enum:"live,ended" example:"live"`
	// Metadata is a name and a value, or several, as metadata[order]=42.
	Metadata wire.Metadata `query:"metadata,deepObject,explode" doc:"Only calls with this metadata, such as metadata[order]=42; of several names all."`
	Header   string        `query:"header" doc:"Only calls with this header, X- or User-to-User: its name, a colon and the whole value. Capitals count in the value alone." maxLength:"600" example:"X-Customer-Id:42"`
	Tag      string        `query:"tag" doc:"Only calls with this tag." maxLength:"100" example:"complaint"`
	Said     string        `query:"q" doc:"Only calls in which these words were said, by either side: all of them; in quotation marks one after another; with or between them one of them; with a - in front not." maxLength:"200" example:"refund \"last week\""`
	Sort     string        `query:"sort" doc:"What comes first. Calls in progress have neither a length nor a cost to sort by, and of calls that were not measured nobody knows how they sounded: those lists are without them." enum:"newest,oldest,longest,most_expensive,worst_sound" default:"newest" example:"longest"`
	api.Period
	api.Paging
	api.Following
}

// sorts are the words of sort.
var sorts = map[string]history.CallSort{"": history.Newest, "newest": history.Newest, "oldest": history.Oldest, "longest": history.Longest,
	"most_expensive": history.MostExpensive, "worst_sound": history.WorstSound}

// page is what the query asks for.
func (in *listInput) page() (p history.CallPage, err error) {
	p = history.CallPage{Page: in.Page(), Sort: sorts[in.Sort],
		Direction: billing.Kind(in.Direction), Agent: in.AgentID, EndReason: in.EndReason, State: history.CallState(in.State), Metadata: in.Metadata,
		Tag: in.Tag, Said: in.Said}
	if in.Said != "" && !strings.ContainsFunc(in.Said, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return p, api.Bad("q: words to look for, with a letter or a digit")
	}
	if wrong := in.Metadata.Check(); wrong != "" {
		return p, api.Bad("%s", wrong)
	}
	if p.Headers, err = header(in.Header); err != nil {
		return p, err
	}
	if p.Range, err = in.Bounds(); err != nil || in.Number == "" {
		return p, err
	}
	p.Number, err = number(in.Number)
	return p, err
}

// header reads a header of a query, its name and its value; nil: there is none.
func header(text string) (wire.CallHeaders, error) {
	if text == "" {
		return nil, nil
	}
	name, value, found := strings.Cut(text, ":")
	read, wrong := wire.CallHeaders{strings.TrimSpace(name): value}.Read()
	switch {
	case !found:
		return nil, api.Bad("header: a name, a colon and a value, such as X-Customer-Id:42")
	case wrong != "":
		return nil, api.Bad("header: %s", strings.TrimPrefix(wrong, "headers: "))
	}
	return read, nil
}

// Origin is where a call was before, as clients see it; nil: nothing is known.
func Origin(o *store.CallOrigin) *wire.CallOrigin {
	if o == nil {
		return nil
	}
	w := &wire.CallOrigin{DivertedBy: o.DivertedBy, FirstCalled: o.FirstCalled, OrigID: o.OrigID}
	for _, d := range o.Diversions {
		w.Diversions = append(w.Diversions, wire.CallDiversion(d))
	}
	for _, s := range o.History {
		w.History = append(w.History, wire.CallStation(s))
	}
	return w
}

// number reads a number of a query, where a + that was not escaped has become a space.
func number(text string) (string, error) {
	for _, s := range []string{text, "+" + text} {
		if e164, err := destination.International(s); err == nil {
			return e164, nil
		}
	}
	return "", api.Bad("number: a telephone number in international format, such as +34612345678")
}

func (m *calls) list(ctx context.Context, in *listInput) (*api.Listed[wire.CallSummary], error) {
	p, err := in.page()
	if err != nil {
		return nil, err
	}
	now := m.db.Now()
	return api.Pages(in.Limit, func(c history.Call) string { return c.ID }, func(c *history.Call) wire.CallSummary { return summary(c, now) })(
		m.history.Calls(ctx, api.AccountOf(ctx), p))
}
