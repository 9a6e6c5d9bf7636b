// Package calls is the history of an account's calls: who called whom, what was
// said, how it ended, what it cost, and how it went on the wire. It only reads.
// Every query names the account, so that a call of somebody else answers exactly
// like one that does not exist.
package calls

import (
	"net/http"
	"time"

	"parley/api"
	"parley/api/export"
	"parley/api/wallet"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/history"
)

// Mount adds the routes.
func Mount(a *api.API, db *store.DB, files *export.Sender) {
	m := &calls{db, history.New(db), files}
	const one = "/v1/calls/{id}"
	api.Register(a, routes.Get("/v1/calls", "list-calls", "List calls",
		"Conversations on the telephone and over WebSockets, the newest first, without what was said in them: all, or those that everything "+
			"asked for is true of. `mos` and `end_detail` are for people who look for faults; new details may come."), m.list)
	api.Register(a, routes.Get(one, "get-call", "Read a call",
		"With what was said and where the time of each turn went. While the call lasts both grow.", http.StatusNotFound), m.get)
	api.Register(a, routes.Get(one+"/quality", "get-call-quality", "Read how a call sounded",
		"What the network did to the audio of a telephone call, stored when it ends. What was not measured is 0: without reports of the far end "+
			"(RTCP), which many carriers do not send, nothing is known of what it heard, nor of the round trip. A call over a WebSocket, and one "+
			"that was never answered or has not ended, has `available: false`.", http.StatusNotFound), m.quality)
	api.Register(a, routes.Get(one+"/sip", "get-call-sip", "Read the signalling of a call",
		"The SIP messages of a telephone call as they were sent and received, oldest first, stored when it ends: at most 200 messages and 128 kB; "+
			"`dropped` older ones are not kept. Credentials, keys of encryption and digits are masked. A call over a WebSocket has none.", http.StatusNotFound), m.sip)
	m.mountTable(a)
	api.Register(a, routes.Get("/v1/latency", "get-latency", "Read how quickly agents answered",
		"What half, nine tenths and 99 of a hundred turns took at most, stage by stage, by day, by hour or by agent, over the last 30 days or a range of up to 92, "+
			"31 by the hour. Calls in progress count with the turns that are stored."), m.latency)
	m.mountConsents(a)
}

var routes = api.Managed("Calls")

// calls serves the routes.
type calls struct {
	db      *store.DB
	history *history.Store
	files   *export.Sender
}

// CallSummary is a call without what was said in it.
type CallSummary struct {
	ID         string     `json:"id" doc:"Of the call and its session: the receipt has the same." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentID    *string    `json:"agent_id" doc:"The agent that spoke; null when the client brought its own prompt. It may have been deleted since." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Version    *int64     `json:"agent_version" doc:"The agent's version that it ran with; null when it had none." example:"7"`
	Direction  string     `json:"direction" doc:"Over a WebSocket, to one of the account's numbers, or placed by an agent." enum:"web,inbound,outbound" example:"inbound"`
	From       string     `json:"from" doc:"Who called; empty on a WebSocket." example:"+34612345678"`
	To         string     `json:"to" doc:"Who was called." example:"+34911234567"`
	Status     string     `json:"status" doc:"Status of the call." enum:"dialing,ringing,connected,ended" example:"ended"`
	CreatedAt  time.Time  `json:"created_at" doc:"When it began to ring, to be dialled or to be set up."`
	AnsweredAt *time.Time `json:"answered_at" doc:"When it was answered and began to cost; null: never."`
	EndedAt    *time.Time `json:"ended_at" doc:"Null while it lasts."`
	Duration   int64      `json:"duration" doc:"Whole seconds since the answer; 0 before." example:"193"`
	EndReason  *string    `json:"end_reason" doc:"Why it ended; null while it lasts." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown" example:"user_hangup"`
	EndDetail  *string    `json:"end_detail" doc:"The finer cause, if there is one." example:"media_timeout"`
	Cost       wire.USD   `json:"cost" doc:"What it has cost so far."`
	AnsweredBy *string    `json:"answered_by" doc:"Who answered a call that an agent placed: a person, an answering machine, an assistant that screens calls, or it could not be told; null: nobody answered, or the call came in." enum:"human,machine,screening,unknown" example:"human"`
	Verstat    *string    `json:"verstat" doc:"What the carrier of a call that came in says of the caller's number (ATIS-1000074), such as TN-Validation-Passed or TN-Validation-Failed; null: nothing." example:"TN-Validation-Passed"`
	DeletedAt  *time.Time `json:"deleted_at" doc:"When what was said in it was deleted, on request or because the account had kept it long enough; null: it was not."`
	MOS        *float64   `json:"mos" doc:"How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known." example:"4.36"`
	// Demonstration is absent of calls that took place.
	Demonstration bool `json:"demonstration,omitempty" doc:"It came with the demonstration: it was recorded on another server, and nobody called. Absent: somebody did."`
}

// CallLine is one thing that was said.
type CallLine struct {
	Role string  `json:"role" doc:"Who said it." enum:"user,agent" example:"agent"`
	Text string  `json:"text" doc:"The words; of the agent's those that were heard." example:"We are open until eight."`
	At   float64 `json:"at" doc:"Seconds since the answer: when the agent's line was over, or the caller's was taken to be." example:"3.2"`

	Words       []CallWord `json:"words,omitempty" doc:"The words of the text, in order, and when they were said. Absent: they were typed, or the line is of a call before they were kept."`
	Estimated   bool       `json:"words_estimated,omitempty" doc:"The times of the words are an estimate, of some or of all: the speech recognition or the voice gave none. The words then share the caller's speech, pauses left out, or the audio of the sentence, by their length."`
	Interrupted *CallCut   `json:"interrupted,omitempty" doc:"The agent was cut off here; absent: it was not."`
}

// CallWord is a word of a line.
type CallWord struct {
	Text    string `json:"text" doc:"As it stands in the line." example:"open"`
	StartMS int64  `json:"start_ms" doc:"When it began, in milliseconds since the answer." example:"2410"`
	EndMS   int64  `json:"end_ms" doc:"When it was over." example:"2680"`
}

// CallCut is where a line of the agent's was cut off.
type CallCut struct {
	AtMS    int64  `json:"at_ms" doc:"When, in milliseconds since the answer: the caller spoke over it, hung up, or was connected to somebody." example:"4300"`
	Unheard string `json:"unheard" doc:"What the agent would have said further, as far as it was made: nobody heard it, and the model is not told of it." example:"Shall I book a table for you?"`
}

// CallTurn is where the time of one turn of the agent went. Its fields are those
// that pipeline stores.
type CallTurn struct {
	Turn       int   `json:"turn" doc:"1, 2, 3…" example:"1"`
	Generation int   `json:"generation" doc:"Of the reply." example:"2"`
	AtMS       int64 `json:"at_ms" doc:"When the reply was first heard, since the answer." example:"5120"`
	EndpointMS int64 `json:"endpoint_ms" doc:"From the caller's last word to the decision that they have finished." example:"420"`
	ModelMS    int64 `json:"model_ms" doc:"The wait for the model after that, until its first words; little when the reply was begun in advance." example:"310"`
	VoiceMS    int64 `json:"voice_ms" doc:"The wait after them, for the rest of the first sentence and the first audio." example:"95"`
	TotalMS    int64 `json:"total_ms" doc:"From the last word to the first audio. What the other three do not add up to is the server's own time." example:"825"`

	Points *CallPoints `json:"points,omitempty" doc:"The six points of the turn; absent in calls of before they were kept."`
}

// CallPoints are the six points of a turn. All but the first are counted from the first,
// so their sum with it is a time of the call.
type CallPoints struct {
	SpeechEndMS     int64  `json:"speech_end_ms" doc:"When the caller's speech ended, in milliseconds since the answer; of a typed turn, when it was typed. The other points are milliseconds after it." example:"4295"`
	FinalTextMS     *int64 `json:"final_text_ms" doc:"The last of the caller's words was recognised for good; null: the turn was typed, or answered before. Below 0 when the recognition was ahead of the caller's last sound." example:"120"`
	FirstTokenMS    *int64 `json:"first_token_ms" doc:"The language model wrote its first words. It may have been asked before the turn was over. Of a reply that follows a function, the words after it." example:"640"`
	FirstSentenceMS *int64 `json:"first_sentence_ms" doc:"Its first sentence was complete, and went to the voice." example:"730"`
	FirstAudioMS    *int64 `json:"first_audio_ms" doc:"The voice gave its first audio." example:"815"`
	FirstPacketMS   *int64 `json:"first_packet_ms" doc:"The first of it was sent to the caller." example:"825"`
}

// CallDetail is a call with what was said in it.
type CallDetail struct {
	CallSummary
	Transcript []CallLine          `json:"transcript" doc:"What was said." nullable:"false"`
	Omitted    int                 `json:"transcript_omitted,omitempty" doc:"Lines that followed and were not kept: a transcript has 5,000 lines and about 512 kB at most." example:"12"`
	Turns      []CallTurn          `json:"turns" doc:"How long each answer took." nullable:"false"`
	Engines    *wallet.CallEngines `json:"engines,omitempty" doc:"The engines that served it, in the order in which they began to: after the first come those that took over. Absent while it lasts, and when it is not known."`
	// Recording and Analysis are not in what webhooks are told.
	Recording *CallRecording `json:"recording,omitempty" doc:"Its recording; absent: it was not recorded."`
	Analysis  *CallAnalysis  `json:"analysis,omitempty" doc:"What the agent's language model made of it after its end; absent: the agent wants nothing of it."`
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

func summary(c *history.Call, now time.Time) CallSummary {
	s := CallSummary{ID: c.ID, AgentID: c.Agent, Version: c.AgentVersion, Direction: string(c.Direction), From: c.From, To: c.To, Status: status(c),
		CreatedAt: c.OpenedAt, AnsweredAt: c.StartedAt, EndedAt: c.EndedAt, EndReason: c.EndReason, Cost: wire.USD(c.Cost), MOS: c.MOS, Demonstration: c.Demonstration, Verstat: c.Verstat, DeletedAt: c.DeletedAt}
	if c.EndDetail != nil && *c.EndDetail != "" {
		s.EndDetail = c.EndDetail
	}
	if c.AnsweredBy != "" {
		s.AnsweredBy = &c.AnsweredBy
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
