package wire

import "time"

// CallSummary is a call without what was said in it.
type CallSummary struct {
	ID         string      `json:"id" doc:"Of the call and its session: the receipt has the same." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentID    *string     `json:"agent_id" doc:"The agent that spoke; null when the client brought its own prompt. It may have been deleted since." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Version    *int64      `json:"agent_version" doc:"The agent's version that it ran with; null when it had none." example:"7"`
	Direction  string      `json:"direction" doc:"Over a WebSocket, to one of the account's numbers, or placed by an agent." enum:"web,inbound,outbound" example:"inbound"`
	From       string      `json:"from" doc:"Who called; empty on a WebSocket." example:"+34612345678"`
	To         string      `json:"to" doc:"Who was called." example:"+34911234567"`
	Status     string      `json:"status" doc:"Status of the call." enum:"dialing,ringing,connected,ended" example:"ended"`
	CreatedAt  time.Time   `json:"created_at" doc:"When it began to ring, to be dialled or to be set up."`
	AnsweredAt *time.Time  `json:"answered_at" doc:"When it was answered and began to cost; null: never."`
	EndedAt    *time.Time  `json:"ended_at" doc:"Null while it lasts."`
	Duration   int64       `json:"duration" doc:"Whole seconds since the answer; 0 before." example:"193"`
	EndReason  *string     `json:"end_reason" doc:"Why it ended; null while it lasts." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown" example:"user_hangup"`
	EndDetail  *string     `json:"end_detail" doc:"The finer cause, if there is one." example:"media_timeout"`
	Cost       USD         `json:"cost" doc:"What it has cost so far."`
	AnsweredBy *string     `json:"answered_by" doc:"Who answered a call that an agent placed: a person, an answering machine, an assistant that screens calls, or unknown; null: nobody answered, or the call came in." enum:"human,machine,screening,unknown" example:"human"`
	Verstat    *string     `json:"verstat" doc:"What the carrier of a call that came in says of the caller's number (ATIS-1000074), such as TN-Validation-Passed or TN-Validation-Failed; null: nothing." example:"TN-Validation-Passed"`
	Attested   *string     `json:"attestation" doc:"How well the carrier where a call that came in began knows the caller (ATIS-1000074): A, it knows its customer and that the number is theirs; B, it knows its customer; C, it knows neither. null: nobody says, or nobody vouches for the trunk." enum:"A,B,C" example:"A"`
	DeletedAt  *time.Time  `json:"deleted_at" doc:"When its transcript and recording were deleted, on request or because the account had kept them long enough; null: they were not."`
	MOS        *float64    `json:"mos" doc:"How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known." example:"4.36"`
	Wait       *int64      `json:"wait_p50_ms,omitempty" doc:"What half of its turns took at most, from the caller's last word to the first audio, in milliseconds; absent: it has none, lasts, or has just ended, and in events." example:"780"`
	Headers    CallHeaders `json:"headers,omitempty"`
	// Origin is of calls that came in.
	Origin   *CallOrigin `json:"origin,omitempty" doc:"Where a call that came in was before, as the far end says; absent: it says nothing. It is deleted with the transcript."`
	Metadata Metadata    `json:"metadata,omitempty"`
	Tags     []string    `json:"tags,omitempty" doc:"What people call it." nullable:"false" example:"[\"complaint\"]"`
	Note     *string     `json:"note,omitempty" doc:"What somebody wrote about it; it is deleted with the transcript." example:"Wants a call back on Monday."`
	// Demonstration is absent of calls that took place.
	Demonstration bool `json:"demonstration,omitempty" doc:"It came with the demonstration: it was recorded on another server, and nobody called. Absent: somebody did."`
}

// CallChange is what is to be kept with a call; what is absent stays as it is.
type CallChange struct {
	Metadata MetadataChange `json:"metadata,omitempty"`
	Tags     *[]string      `json:"tags,omitempty" doc:"What people call it, in place of the tags that it has: 20 of 40 characters at most." maxItems:"20" nullable:"false" example:"[\"complaint\"]"`
	Note     *string        `json:"note,omitempty" doc:"What somebody writes about it; empty: none." maxLength:"2000" example:"Wants a call back on Monday."`
}

// CallDetail is a call with what was said in it.
type CallDetail struct {
	CallSummary
	Transcript []CallLine `json:"transcript" doc:"Who said what, in order." nullable:"false"`
	Omitted    int        `json:"transcript_omitted,omitempty" doc:"Lines that followed and were not kept: a transcript has 5,000 lines and about 512 kB at most." example:"12"`
	// Functions are, like Turns, of the whole call: the first 500.
	Functions []CallFunction `json:"functions" doc:"The functions that its model called, in the order in which they began: the first 500." nullable:"false"`
	Turns     []CallTurn     `json:"turns" doc:"The response latency of each turn." nullable:"false"`
	Engines   *CallEngines   `json:"engines,omitempty" doc:"The engines that served it, in the order in which they began to: after the first come those that took over. Absent when it is not known."`
	Asked     *CallAsked     `json:"asked,omitempty" doc:"How the webhook of the called number was asked who answers; absent: it was not."`
	// Usage, Recording and Analysis are not sent to webhooks.
	Usage     []EngineUsage  `json:"usage,omitempty" nullable:"false" doc:"What the engines of vendors and language models used in it, and after it for its summary and what was extracted, by engine and unit. Absent while it lasts, and when it is not known."`
	Recording *CallRecording `json:"recording,omitempty" doc:"Its recording; absent: it was not recorded."`
	Listeners []CallListener `json:"listeners,omitempty" nullable:"false" doc:"Who listened in on it, in the order in which they joined; absent: nobody."`
	Analysis  *CallAnalysis  `json:"analysis,omitempty" doc:"What the agent's language model made of it after its end; absent: the agent wants nothing of it."`
}

// CallListener is somebody who listens in on a call, or did.
type CallListener struct {
	ID       string     `json:"id" doc:"The identifier of this part in the call; of a stream its own." example:"lis_06er5bt0v9k1o7m2q3s4t5u6v0"`
	By       string     `json:"by" doc:"The user, the account's key, or the agent whose settings send its calls on." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Email    *string    `json:"email" doc:"The user's address; null: it was none, or they are gone." example:"ana@example.com"`
	Host     *string    `json:"host" doc:"The host to which a stream of the call went for them; null: they heard it themselves." example:"example.com"`
	JoinedAt time.Time  `json:"joined_at" doc:"When they began."`
	LeftAt   *time.Time `json:"left_at" doc:"When they stopped; null: they have not, or their server was lost."`
	SpokeAt  *time.Time `json:"spoke_at" doc:"When they first spoke in the agent's place; null: they have not."`
	Failure  *string    `json:"failure" doc:"Why a stream could not begin, or ended before the call; null: neither." example:"the receiver closed the WebSocket"`
}

// EngineUsage is what an engine used in a call or in other work, of one unit.
type EngineUsage struct {
	Stage    string  `json:"stage" doc:"What it does: hears, answers, speaks, or all three." enum:"asr,llm,tts,realtime" example:"llm"`
	Engine   string  `json:"engine" doc:"The engine, as settings of agents name it." example:"haiku"`
	Model    *string `json:"model" doc:"Its model; null: the vendor's usual one, or it has none." example:"claude-haiku-4-5"`
	KeyOwner string  `json:"key_owner" doc:"Whose key it worked with; the operator's also where it needs none." enum:"operator,account" example:"account"`
	Unit     string  `json:"unit" doc:"What is counted. tokens_in are those that were read for the first time, tokens_in_cached those from the vendor's cache." enum:"audio_seconds,open_seconds,characters,requests,tokens_in,tokens_in_cached,tokens_in_audio,tokens_in_audio_cached,tokens_out,tokens_out_audio" example:"tokens_in"`
	Quantity float64 `json:"quantity" doc:"How many; of seconds with three digits." example:"1840"`
	Source   string  `json:"source" doc:"Who counted: the vendor, or this server." enum:"provider,counted" example:"provider"`
	Price    *USD    `json:"price" nullable:"true" doc:"What you pay for it, 0 on your own key unless the rate card says otherwise; null: it is part of the price of the call or the work."`
	// Cost is for operators.
	Cost *USD `json:"cost,omitempty" doc:"What the vendor charges the operator, who alone sees it, where the server's settings say that."`
}

// EngineTotal is what an engine used in many sessions, of one unit.
type EngineTotal struct {
	EngineUsage
	Sessions int64 `json:"sessions" doc:"In how many calls and other sessions that was." example:"12"`
}

// CallLine is one thing that was said.
type CallLine struct {
	Role string  `json:"role" doc:"Who said it: supervisor is a person who spoke in the agent's place." enum:"user,agent,supervisor" example:"agent"`
	Text string  `json:"text" doc:"The words; of the agent's those that were heard." example:"We are open until eight."`
	At   float64 `json:"at" doc:"Seconds since the answer: when the agent's line was over, or the caller's was taken to be." example:"3.2"`

	Words       []CallWord `json:"words,omitempty" doc:"The words of the text, in order, and when they were said. Absent: they were typed, or the line is of a call before they were kept."`
	Estimated   bool       `json:"words_estimated,omitempty" doc:"The times of the words are an estimate, of some or of all: the speech recognition or the voice gave none. The words then share the caller's speech, pauses left out, or the audio of the sentence, by their length."`
	Interrupted *CallCut   `json:"interrupted,omitempty" doc:"The agent was cut off here; absent: it was not."`
}

// Began is when the line began, as far as that is known, in seconds since the answer.
func (l *CallLine) Began() float64 {
	if len(l.Words) > 0 {
		return float64(l.Words[0].StartMS) / 1000
	}
	return l.At
}

// CallFunction is a function that the model of a call called.
type CallFunction struct {
	ID        string  `json:"id" doc:"Unique in the call." example:"call_3_1"`
	Name      string  `json:"name" doc:"As the agent's tools have it." example:"book_table"`
	Arguments string  `json:"arguments" doc:"As the model wrote them, 4 kB at most; usually a JSON object." example:"{\"people\":4}"`
	RunBy     string  `json:"run_by" doc:"Who runs it: this server, or the client of the conversation." enum:"server,client" example:"server"`
	Turn      int     `json:"turn" doc:"The caller's turn in which it was called." example:"3"`
	StartMS   int64   `json:"start_ms" doc:"When it was called, in milliseconds since the answer." example:"9120"`
	EndMS     *int64  `json:"end_ms" doc:"When the model had its result; null: not yet, or the server was lost before." example:"9350"`
	Outcome   *string `json:"outcome" doc:"How it went; null likewise: whether it was done is not known." enum:"ok,error,timeout,cancelled,unknown_tool" example:"ok"`
	Result    *string `json:"result" doc:"As the model got it, secrets masked. Of a call with many long results the later ones are not kept." example:"{\"booked\":true}"`
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
	Unheard string `json:"unheard" doc:"What the agent would have said further, as far as it was made: nobody heard it, and the model does not see it." example:"Shall I book a table for you?"`
}

// CallTurn is where the time of one turn of the agent went. Its fields are those
// that pipeline stores.
type CallTurn struct {
	Turn       int   `json:"turn" doc:"1, 2, 3…" example:"1"`
	Generation int   `json:"generation" doc:"Of the reply." example:"2"`
	AtMS       int64 `json:"at_ms" doc:"When the reply was first heard, since the answer." example:"5120"`
	EndpointMS int64 `json:"endpoint_ms" doc:"From the caller's last word to the decision that they have finished." example:"420"`
	ModelMS    int64 `json:"model_ms" doc:"The wait for the model after that, until its first words; little when the reply was speculative." example:"310"`
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

// CallRecording is the recording of a call.
type CallRecording struct {
	State     string     `json:"state" doc:"Status of the recording; failed has no audio." enum:"recording,encoding,ready,failed,deleted" example:"ready"`
	Duration  float64    `json:"duration" doc:"Seconds; 0 before it has ended." example:"193.4"`
	Format    *string    `json:"format" doc:"What it is kept as; null until it is ready." enum:"ogg,wav" example:"ogg"`
	Bytes     int64      `json:"bytes" doc:"Size of the file." example:"1160400"`
	ExpiresAt *time.Time `json:"expires_at" doc:"Until when it is kept; null: it is not any more."`
	DeletedAt *time.Time `json:"deleted_at" doc:"When it was deleted; null: it was not."`
	DeletedBy *string    `json:"deleted_by" doc:"Somebody's request, or because the account had kept it long enough." enum:"request,expiry" example:"expiry"`
}

// CallAnalysis is what the agent's language model made of a call after its end.
type CallAnalysis struct {
	State   string         `json:"state" doc:"Status of the analysis. failed: given up, though the summary may be there; skipped: not tried." enum:"waiting,done,failed,skipped" example:"done"`
	Reason  *string        `json:"reason" doc:"Why it failed or was skipped: no language model answered; its answer did not fit the schema, twice; the balance was used up; nothing was said; the agent's settings cannot be read; or the call was deleted." enum:"engine,answer,balance,silence,schema,deleted" example:"answer"`
	Detail  *string        `json:"detail" doc:"The same in a sentence, if there is more to say." example:"data.day: is missing"`
	Summary *string        `json:"summary" doc:"The outcome of the call in a few sentences; null: not asked for, or not there." example:"Bob books a table for four on Friday."`
	Data    map[string]any `json:"data" doc:"What was taken out of the transcript, as the agent's schema wants it; null likewise." nullable:"true" example:"{\"day\":\"Friday\",\"people\":4}"`
	DoneAt  *time.Time     `json:"done_at" doc:"When it was finished; null: it waits."`
}

// CallAnalyzed is a call that has ended, with its analysis.
type CallAnalyzed struct {
	CallSummary
	Analysis CallAnalysis `json:"analysis" doc:"What the agent's language model made of it."`
}

// CallQuality is what the network did to a telephone call.
type CallQuality struct {
	Available bool `json:"available" doc:"Whether there is something to say: false before a call is answered and for one over a WebSocket; then all else is 0."`

	MOS    float64 `json:"mos" doc:"Mean score of the worse direction, what the agent heard or what this server sent in time, 1 to 4.4 (ITU-T G.107); 0 when nothing came." example:"4.36"`
	MOSMin float64 `json:"mos_min" doc:"The score of its worst 5 seconds." example:"4.1"`

	PacketsReceived uint64  `json:"packets_received" doc:"Without duplicates." example:"9650"`
	PacketsLost     uint64  `json:"packets_lost" doc:"Never heard: lost on the way, or too late." example:"12"`
	PacketsLate     uint64  `json:"packets_late" doc:"Those of them that came too late." example:"3"`
	Loss            float64 `json:"loss" doc:"packets_lost as a share of what was sent, 0 to 1." minimum:"0" maximum:"1" example:"0.0012"`
	JitterMS        float64 `json:"jitter_ms" doc:"Interarrival jitter at the end (RFC 3550 section 6.4.1)." example:"2.1"`
	ConcealedMS     int64   `json:"concealed_ms" doc:"Audio made up in place of lost packets." example:"240"`
	PacketsForeign  uint64  `json:"packets_foreign" doc:"From addresses that are not the far end's, dropped." example:"0"`

	PacketsSent     uint64 `json:"packets_sent" doc:"To the far end." example:"9655"`
	PacketsSentLate uint64 `json:"packets_sent_late" doc:"Those of them that this server sent more than 40 ms after they were due, which most telephones play no more." example:"0"`
	PacketsUnsent   uint64 `json:"packets_unsent" doc:"Those that it did not send because it was too busy." example:"0"`

	RemoteLoss     float64 `json:"remote_loss" doc:"The share of them that the far end lost, in its last report." minimum:"0" maximum:"1" example:"0"`
	RemoteJitterMS float64 `json:"remote_jitter_ms" doc:"The far end's jitter, likewise." example:"1.4"`
	RTTMS          float64 `json:"rtt_ms" doc:"Round trip of the last reports." example:"38.5"`

	Encrypted bool `json:"encrypted" doc:"Whether the audio was encrypted (SRTP)."`
}

// SIPMessage is a message of a call's signalling.
type SIPMessage struct {
	At        time.Time `json:"at" doc:"When it was sent or received."`
	Direction string    `json:"direction" doc:"Seen from the server." enum:"sent,received" example:"received"`
	Transport string    `json:"transport" doc:"What it came over." enum:"UDP,TCP,TLS,WS" example:"UDP"`
	From      string    `json:"from" doc:"Address and port that it came from." example:"192.0.2.7:5060"`
	To        string    `json:"to" doc:"Address and port that it went to." example:"198.51.100.1:5060"`
	Message   string    `json:"message" doc:"The whole of it, secrets masked." example:"BYE sip:parley@198.51.100.1:5060 SIP/2.0"`
}

// SIPTrace is the signalling of a call.
type SIPTrace struct {
	Data    []SIPMessage `json:"data" doc:"The messages, oldest first." nullable:"false"`
	Dropped int          `json:"dropped" doc:"Older messages that were not kept." example:"0"`
}

// Consent is a row of the evidence.
type Consent struct {
	No        int64     `json:"no" doc:"1, 2, 3… without gaps." example:"1"`
	AccountID string    `json:"account_id" doc:"Your account." example:"acc_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CallID    string    `json:"call_id" doc:"The call that was placed." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentID   string    `json:"agent_id" doc:"The agent that spoke." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	ToHash    string    `json:"to_hash" doc:"Stands for the number called; the same for each call to it." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	KeyID     string    `json:"key_id" doc:"The API key that confirmed it, or stands behind the ticket that did." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	IP        string    `json:"ip" doc:"Where the request came from." example:"192.0.2.7"`
	At        time.Time `json:"at" doc:"When it was confirmed."`
	Seal      string    `json:"seal" doc:"Vouches for this row and all before it." example:"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"`
}

// CallBegun is a call as webhooks receive it while it lasts.
type CallBegun struct {
	ID         string      `json:"id" doc:"Of the call." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	AgentID    *string     `json:"agent_id" doc:"The agent; null when the client brought its own prompt." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Direction  string      `json:"direction" doc:"Over a WebSocket, to one of the account's numbers, or placed by an agent." enum:"web,inbound,outbound" example:"inbound"`
	From       string      `json:"from" doc:"Who called; empty on a WebSocket." example:"+34612345678"`
	To         string      `json:"to" doc:"Who was called." example:"+34911234567"`
	CreatedAt  time.Time   `json:"created_at" doc:"When it began to ring, to be dialled or to be set up."`
	AnsweredAt *time.Time  `json:"answered_at,omitempty" doc:"When it was answered; not in call.started."`
	Verstat    *string     `json:"verstat,omitempty" doc:"What the carrier of a call that came in says of the caller's number (ATIS-1000074); absent: nothing." example:"TN-Validation-Passed"`
	Attested   *string     `json:"attestation,omitempty" doc:"How well the carrier where it began knows the caller (ATIS-1000074); absent: nobody says." enum:"A,B,C" example:"A"`
	Headers    CallHeaders `json:"headers,omitempty"`
	// Origin is of calls that came in.
	Origin   *CallOrigin `json:"origin,omitempty" doc:"Where a call that came in was before, as the far end says; absent: it says nothing."`
	Metadata Metadata    `json:"metadata,omitempty"`
}

// CallOver is a call that has ended.
type CallOver struct {
	CallSummary
	TurnCount int `json:"turn_count" doc:"How often the agent answered." example:"7"`
}

// CallSaid is a call that has ended, with its summary.
type CallSaid struct {
	CallSummary
	Summary string `json:"summary" doc:"What a language model made of the transcript." example:"Lola books a table for two on Monday at nine."`
}

// Percentiles are how long a stage took.
type Percentiles struct {
	P50 int64 `json:"p50" doc:"Half of the turns took no longer, in milliseconds." example:"780"`
	P90 int64 `json:"p90" doc:"Nine of ten." example:"1120"`
	P95 int64 `json:"p95" doc:"95 of a hundred." example:"1310"`
	P99 int64 `json:"p99" doc:"99 of a hundred." example:"1900"`
}

// LatencyGroup is how long the turns of some calls took.
type LatencyGroup struct {
	Key      *string     `json:"key" doc:"The day, the hour in which it begins, or the agent; null: conversations of no agent of the account." example:"2026-03-01"`
	Calls    int64       `json:"calls" doc:"How many had turns." example:"42"`
	Turns    int64       `json:"turns" doc:"How many they had." example:"310"`
	Endpoint Percentiles `json:"endpoint_ms" doc:"From the caller's last word to the decision that they have finished."`
	Model    Percentiles `json:"model_ms" doc:"The wait for the model after that, until its first words."`
	Voice    Percentiles `json:"voice_ms" doc:"The wait after them, for the rest of the first sentence and the first audio."`
	Total    Percentiles `json:"total_ms" doc:"From the last word to the first audio."`
}

// EngineLatency is how long turns waited for an engine.
type EngineLatency struct {
	Stage  string `json:"stage" doc:"llm: from the decision that the caller has finished to the model's first words, little where the reply was speculative. tts: from the first whole sentence to the voice's first audio." enum:"llm,tts" example:"llm"`
	Engine string `json:"engine" doc:"The engine, as settings of agents name it." example:"haiku"`
	Calls  int64  `json:"calls" doc:"How many calls had such turns." example:"42"`
	Turns  int64  `json:"turns" doc:"How many they had." example:"310"`
	P50    int64  `json:"p50_ms" doc:"Half of the turns waited no longer, in milliseconds." example:"310"`
	P95    int64  `json:"p95_ms" doc:"95 of a hundred." example:"740"`
}

// Waveform is how loud both sides of a recording were.
type Waveform struct {
	Duration float64 `json:"duration" doc:"Of the recording, in seconds." example:"193.4"`
	Caller   []int   `json:"caller" doc:"The left side: the loudest of each part, 0 to 255, which is full scale." nullable:"false"`
	Agent    []int   `json:"agent" doc:"The right side, what the caller heard, in as many parts." nullable:"false"`
}
